/** Steps over the HTTP API that several tests take, each of which checks that the API took it. */
import type { SFNClientConfig } from '@aws-sdk/client-sfn';
import { expect } from 'vitest';
import { type Execution, executionsOf } from './executions.ts';
import type { CallApi } from './signed-api.ts';

/** A run as the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they expect
export type RunShown = any;

/** Puts a pipeline. */
export async function putPipeline(call: CallApi, definition: { readonly name: string }): Promise<void> {
  const answer = await call('PUT', `/v1/pipelines/${definition.name}`, definition);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: expect.toBeOneOf([200, 201]) });
}

/** Starts a run, and gives its id. */
export async function startRun(call: CallApi, pipeline: string, input: unknown = {}): Promise<string> {
  const answer = await call('POST', `/v1/pipelines/${pipeline}/runs`, { input });
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
  return answer.body.id;
}

/** Waits until a run is as it should be, by calls that the API keeps open while nothing changes. */
export async function untilRun(
  call: CallApi,
  run: string,
  isSo: (shown: RunShown) => boolean,
  seconds: number,
): Promise<RunShown> {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const { status, body } = await call('GET', `/v1/runs/${run}?wait=1`);
    if (status === 200 && isSo(body)) return body;
    if (Date.now() < until) continue;
    const { body: explained } = await call('GET', `/v1/runs/${run}/explain`);
    throw new Error(`after ${seconds} s: ${JSON.stringify(body)}\n${JSON.stringify(explained)}`);
  }
}

/** Waits until a run is over. */
export function untilOver(call: CallApi, run: string, seconds: number): Promise<RunShown> {
  return untilRun(call, run, ({ endedAt }) => endedAt !== undefined, seconds);
}

/** Waits until a node has a state. */
export async function untilNode(call: CallApi, run: string, node: string, state: string, seconds = 30): Promise<void> {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const { body } = await call('GET', `/v1/runs/${run}/nodes/${node}`);
    if (body?.state === state) return;
    if (Date.now() >= until) throw new Error(`after ${seconds} s ${node} is ${JSON.stringify(body)}`);
  }
}

/** Waits until a pipeline has as many runs, and gives their ids. */
export async function untilRunsOf(call: CallApi, pipeline: string, count: number, seconds: number): Promise<string[]> {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const { body } = await call('GET', `/v1/runs?pipeline=${pipeline}&limit=100`);
    if (body.items.length >= count) return body.items.map(({ id }: RunShown) => id);
    if (Date.now() >= until) throw new Error(`after ${seconds} s ${pipeline} has ${body.items.length} runs`);
  }
}

/** Approves the node `gate`. */
export async function answerGate(call: CallApi, run: string): Promise<void> {
  const answer = await call('POST', `/v1/runs/${run}/nodes/gate/answer`, { approve: true });
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
}

/**
 * Checks that the executions of a run are those of its attempts, each one.
 *
 * @param count how many there should be
 */
export async function expectOneExecutionPerAttempt(
  call: CallApi,
  clients: SFNClientConfig,
  run: string,
  count: number,
): Promise<Execution[]> {
  const [executions, known] = await Promise.all([executionsOf(clients, run), attemptsOf(call, run)]);
  expect(executions.map(({ arn }) => arn).sort()).toEqual(known.sort());
  expect(executions).toHaveLength(count);
  return executions;
}

/** The executions of all attempts of a run, as the API tells them. */
async function attemptsOf(call: CallApi, run: string): Promise<string[]> {
  const { body: nodes } = await call('GET', `/v1/runs/${run}/nodes`);
  const lists = await Promise.all(
    nodes.items.map(async ({ id, map }: RunShown) => {
      const places = map ? Array.from({ length: map.total }, (_, item) => `?item=${item}`) : [''];
      return Promise.all(places.map((place) => call('GET', `/v1/runs/${run}/nodes/${id}/attempts${place}`)));
    }),
  );
  return lists
    .flat()
    .flatMap(({ body }) => body.items)
    .flatMap(({ executionArn }) => (executionArn === undefined ? [] : [executionArn]));
}
