/**
 * The port `Executions` over the lane: StartExecution of an Express machine, and the claim and the result of an attempt
 * in the table in place of DescribeExecution and StopExecution, which Express has not.
 *
 * It keeps the port's promise: whoever has the claim runs the attempt, and nobody else ever does. A stop that takes the
 * claim first is a fence for good; one that comes later writes the result first, and what the function still does is
 * not heard.
 */
import { type SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import * as z from 'zod';
import { toServiceFailure } from '#adapters/aws/service-error.ts';
import type { Table } from '#adapters/aws/table.ts';
import type { Clock, ExecutionSeen, Executions, Inbox } from '#ports/index.ts';
import { EXPRESS_SECONDS } from './lane-definition.ts';
import { type LaneKeys, laneKeys } from './lane-keys.ts';

/** What the lane works with. */
export interface LaneDeps {
  readonly express: SFNClient;
  readonly table: Table;
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly installation: string;
}

/** How long after the time limit of an Express execution a result that it put may be on its way (ms). */
const GRACE_MS = 30_000;
const TTL_SECONDS = 90 * 24 * 3600;
const STOPPER = 'stop';

const claimItem = z.object({ o: z.string(), a: z.number(), u: z.number().optional() });
const resultItem = z.object({
  s: z.enum(['S', 'F', 'T', 'A']),
  a: z.number(),
  d: z.number(),
  t: z.string().optional(),
  en: z.string().optional(),
  em: z.string().optional(),
});
const attemptInput = z.object({ millrace: z.looseObject({ timeoutSeconds: z.number() }), params: z.unknown() });
const STATUSES = { S: 'SUCCEEDED', F: 'FAILED', T: 'TIMED_OUT', A: 'ABORTED' } as const;
const NEW = { expression: 'attribute_not_exists(#pk)' };

/** Makes the port. Lists are never answered: a look at an attempt is one cheap read here, with no quota. */
export function createLaneExecutions(deps: LaneDeps): Executions {
  return {
    start: (stateMachineArn, name, input) => start(deps, stateMachineArn, name, input),
    async describe(_stateMachineArn, name) {
      const keys = laneKeys(deps.installation, name);
      return keys === undefined ? { kind: 'missing' } : see(deps, keys);
    },
    listRunning: async () => ({ kind: 'unanswered', message: 'the lane has no list' }),
    stop: (_stateMachineArn, name) => stop(deps, name),
    findMachine: async () => ({ kind: 'there', isStandard: true }),
  };
}

async function start(
  { express, clock, installation }: LaneDeps,
  stateMachineArn: string,
  name: string,
  input: string,
): ReturnType<Executions['start']> {
  const keys = laneKeys(installation, name);
  if (keys === undefined) return { kind: 'refused', message: `${name} is no attempt of ${installation}` };
  const { millrace, params } = attemptInput.parse(JSON.parse(input));
  if (millrace.timeoutSeconds > EXPRESS_SECONDS - GRACE_MS / 1000) {
    return { kind: 'refused', message: `a node of this lane takes ${EXPRESS_SECONDS - GRACE_MS / 1000} s at most` };
  }
  const ttl = Math.floor(clock.now() / 1000) + TTL_SECONDS;
  const lane = { pk: keys.result.pk, claim: keys.claim.sk, result: keys.result.sk, name, ttl };
  try {
    await express.send(
      new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify({ millrace, params, lane }) }),
    );
    return { kind: 'started' };
  } catch (error) {
    const { kind, message } = toServiceFailure(error);
    return { kind: kind === 'refused' ? 'refused' : 'later', message };
  }
}

/** Takes the claim, if it is still there to be taken, and puts the result, if there is none. */
async function stop({ table, inbox, clock, installation }: LaneDeps, name: string): ReturnType<Executions['stop']> {
  const keys = laneKeys(installation, name);
  if (keys === undefined) return 'missing';
  const now = clock.now();
  const ttl = Math.floor(now / 1000) + TTL_SECONDS;
  const { existing } = await table.putOrGet({ ...keys.claim, o: STOPPER, a: now, ttl }, NEW);
  const { a } = existing === undefined ? { a: now } : claimItem.parse(existing);
  const isFirst = await table.putIf({ ...keys.result, s: 'A', a, d: Math.max(0, now - a), ttl }, NEW);
  if (isFirst) await inbox.ringAbout(keys.run, name);
  return 'accepted';
}

/** What the two items say. An attempt that was claimed and put nothing while its execution can live has died with it. */
async function see({ table, clock }: LaneDeps, keys: LaneKeys): Promise<ExecutionSeen> {
  const [claimed, result] = await Promise.all([table.get(keys.claim), table.get(keys.result)]);
  if (result !== undefined) {
    const { s, a, d, t, en, em = '' } = resultItem.parse(result);
    const told = {
      ...(t !== undefined && { output: t }),
      ...(en !== undefined && { error: { name: en, message: em } }),
    };
    return { kind: 'ended', status: STATUSES[s], ...told, startedAt: a, endedAt: a + d };
  }
  if (claimed === undefined) return { kind: 'missing' };
  const { a, u = a } = claimItem.parse(claimed);
  if (clock.now() <= u + GRACE_MS) return { kind: 'running', startedAt: a };
  const message = 'its execution began and put no result; whether the function ran to its end is not known';
  return { kind: 'ended', status: 'FAILED', error: { name: 'Millrace.WorkerLost', message }, startedAt: a, endedAt: u };
}
