/** Works through a batch of the inbox: one pass a run, limit or pipeline, however many messages speak of it. */
import pMap from 'p-map';
import * as z from 'zod';
import type { AttemptKey } from '#domain/execution-name.ts';
import type { DueThing } from '#ports/index.ts';
import type { Completion } from './completion.ts';
import type { PassDeps } from './deps.ts';
import { isGivenUp } from './given-up.ts';
import { type InboxMessage, parseInboxMessage } from './inbox-message.ts';
import { createLimitTellings } from './limit-tellings.ts';
import { lookAtRun } from './look-at-run.ts';
import { runPass } from './pass.ts';
import { workThing } from './work-thing.ts';

/** Passes of one invocation at the same time. */
const PARALLEL_PASSES = 10;

/** Errors that no service answers with. */
const OWN_FAULTS = [TypeError, RangeError, ReferenceError, SyntaxError, z.ZodError];
const MAX_FAULT_LENGTH = 300;

/** A message as the queue hands it over. */
export interface QueuedMessage {
  readonly messageId: string;
  readonly body: string;
}

/** What a batch came to. */
export interface BatchOutcome {
  /** Messages that have to come again. */
  readonly failures: readonly string[];
  /** Events of our own that a rule let through, and were dropped. */
  readonly echoes: number;
}

/** Told about what went wrong with a message or a run; the batch goes on. */
export type BatchTrouble = (what: string, error: unknown) => void;

interface Work {
  readonly messageIds: string[];
  readonly completions: Completion[];
  readonly looks: AttemptKey[];
  /** A ring that is about no attempt is about all. */
  isRung: boolean;
  isWatched: boolean;
}

interface ThingWork {
  readonly thing: DueThing;
  readonly messageIds: string[];
}

/** A batch by what its messages speak of. */
interface SortedBatch {
  readonly byRun: ReadonlyMap<string, Work>;
  readonly byThing: ReadonlyMap<string, ThingWork>;
  readonly unreadable: readonly string[];
  readonly echoes: number;
}

/** Handles a batch. One bad message or run never fails the others. */
export async function workBatch(
  outside: PassDeps,
  messages: readonly QueuedMessage[],
  trouble: BatchTrouble,
): Promise<BatchOutcome> {
  const deps = { ...outside, limitTellings: createLimitTellings() };
  const { byRun, byThing, unreadable, echoes } = sortBatch(deps, messages, trouble);
  const works = [
    ...[...byRun].map(
      ([run, work]) =>
        () =>
          workRun(deps, run, work, trouble),
    ),
    ...[...byThing.values()].map((work) => () => passOver(deps, work, trouble)),
  ];
  const again = await pMap(works, (work) => work(), { concurrency: PARALLEL_PASSES });
  return { failures: [...unreadable, ...again.flat()], echoes };
}

function sortBatch(deps: PassDeps, messages: readonly QueuedMessage[], trouble: BatchTrouble): SortedBatch {
  const unreadable: string[] = [];
  const byRun = new Map<string, Work>();
  const byThing = new Map<string, ThingWork>();
  let echoes = 0;
  for (const { messageId, body } of messages) {
    const message = read(deps, body, trouble);
    if (!message) unreadable.push(messageId);
    else if (message.kind === 'echo') echoes += 1;
    else if (message.kind === 'thing') {
      const { thing } = message;
      const key = `${thing.kind} ${thing.id}`;
      const work = byThing.get(key) ?? { thing, messageIds: [] };
      byThing.set(key, work);
      work.messageIds.push(messageId);
    } else if (message.kind !== 'change' && message.kind !== 'foreign') {
      const work = byRun.get(message.run) ?? newWork();
      byRun.set(message.run, work);
      work.messageIds.push(messageId);
      if (message.kind === 'completion') work.completions.push(message.completion);
      else if (message.kind === 'watch') work.isWatched = true;
      else if (message.about) work.looks.push(message.about);
      else work.isRung = true;
    }
  }
  return { byRun, byThing, unreadable, echoes };
}

function newWork(): Work {
  return { messageIds: [], completions: [], looks: [], isRung: false, isWatched: false };
}

function read(deps: PassDeps, body: string, trouble: BatchTrouble): InboxMessage | undefined {
  try {
    return parseInboxMessage(body, deps.installation);
  } catch (error) {
    trouble('a message of the inbox cannot be read', error);
    return undefined;
  }
}

/** One pass for all messages of a run; gives the messages that have to come again. */
async function workRun(deps: PassDeps, run: string, work: Work, trouble: BatchTrouble): Promise<readonly string[]> {
  try {
    const outcome = await runPass(deps, run, work);
    switch (outcome.kind) {
      case 'done':
        return outcome.unanswered > 0 ? work.messageIds : [];
      case 'missing':
        return [];
      case 'busy':
        return work.messageIds;
      case 'newer':
      case 'damaged':
        trouble(`run ${run} cannot be read`, outcome.error);
        return work.messageIds;
    }
  } catch (error) {
    trouble(`the pass over run ${run} failed`, error);
    await endIfGivenUp(deps, run, error, trouble);
    return work.messageIds;
  }
}

/** A run over which every pass throws by a fault of our own is ended in the end; an outage of a service is none. */
async function endIfGivenUp(deps: PassDeps, id: string, error: unknown, trouble: BatchTrouble): Promise<void> {
  if (!OWN_FAULTS.some((kind) => error instanceof kind)) return;
  try {
    const run = await lookAtRun(deps, id);
    if (!run || run instanceof Error || !isGivenUp(deps, run)) return;
    const message = `no pass could carry it on: ${String(error).slice(0, MAX_FAULT_LENGTH)}`;
    await runPass(deps, id, { fault: { name: 'Millrace.InternalError', message } });
  } catch (again) {
    trouble(`run ${id} could not be ended`, again);
  }
}

/** One pass for all messages of a limit or a pipeline; gives the messages that have to come again. */
async function passOver(
  deps: PassDeps,
  { thing, messageIds }: ThingWork,
  trouble: BatchTrouble,
): Promise<readonly string[]> {
  try {
    await workThing(deps, thing);
    return [];
  } catch (error) {
    trouble(`the pass over ${thing.kind} ${thing.id} failed`, error);
    return messageIds;
  }
}
