/** C92, from the bytes of the refusals on: the adapter of AWS before a Step Functions that takes one start a second. */
import { SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSfnExecutions } from '#adapters/aws/sfn-executions.ts';
import { failure, type ServiceAnswer, startScriptedService } from '../contract/scripted-service.ts';
import { createApi } from './api-client.ts';

/** Throttles, in the clothes that C92 names. */
const CLOTHES: readonly ServiceAnswer[] = [
  failure('ThrottlingException', 'Rate exceeded'),
  failure('ValidationException', 'Invalid parameter: Rate exceeded (Service: AWSLambda; Status Code: 400)'),
  failure('SomethingElse', 'no', 429),
  failure('ServiceUnavailable', 'no', 503),
];

let service: Awaited<ReturnType<typeof startScriptedService>>;
let client: SFNClient;

beforeAll(async () => {
  service = await startScriptedService('AWSStepFunctions');
  client = new SFNClient({ ...service.clientConfig, maxAttempts: 1 });
});

afterAll(async () => {
  client.destroy();
  await service.close();
});

/** An installation whose starts go over the wire; those that are taken run in memory. */
function createThrottled() {
  const api = createApi();
  const { start, describe, listRunning } = api.executions;
  const adapter = createSfnExecutions(client);
  let lastStart = 0;
  let refusals = 0;
  const looks = { count: 0 };
  api.executions.describe = (...asked) => {
    looks.count += 1;
    return describe(...asked);
  };
  api.executions.listRunning = (...asked) => {
    looks.count += 1;
    return listRunning(...asked);
  };
  service.script(({ body }) => {
    const { name, input } = body as Record<string, string>;
    if (input?.includes('"node":"bad"')) return failure('InvalidExecutionInput', 'Invalid JSON path $.rows');
    if (api.time.now - lastStart < 1_000) return CLOTHES[refusals++ % CLOTHES.length] as ServiceAnswer;
    lastStart = api.time.now;
    return { body: { executionArn: `arn:${name}`, startDate: api.time.now / 1000 } };
  });
  api.executions.start = async (machine, name, input) => {
    const said = await adapter.start(machine, name, input);
    return said.kind === 'started' ? start(machine, name, input) : said;
  };
  return { ...api, looks };
}

it('C92 starts a hundred nodes at one a second, each once, and fails the invalid one at once', async () => {
  const api = createThrottled();
  const ids = Array.from({ length: 100 }, (_, place) => `n${place}`);
  const nodes = [...ids, 'bad'].map((id) => ({ id, params: { function: 'fn' } }));
  await api.put({ name: 'p', nodes });
  const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
  await api.settle(3);
  const bad = (await api.get(`/v1/runs/${id}/nodes/bad`)).body;
  expect(bad).toMatchObject({ state: 'FAILED', attempt: 1, error: { message: 'Invalid JSON path $.rows' } });
  const waiting = (await api.get(`/v1/runs/${id}/nodes?state=RUNNING&limit=1000`)).body.items;
  expect(new Set(waiting.map(({ reason }: { reason: string }) => reason))).toContain('Throttled');
  for (let second = 0; second < 400 && (await api.deps.runs.readRun(id))?.state === 'RUNNING'; second++) {
    await api.tick(id, 1_000);
  }
  const { items } = (await api.get(`/v1/runs/${id}/nodes?limit=1000`)).body;
  const ends = new Map(items.map((node: { id: string; state: string; attempt: number }) => [node.id, node]));
  expect(ids.filter((one) => (ends.get(one) as { state: string }).state !== 'SUCCEEDED')).toEqual([]);
  expect(items.every(({ attempt }: { attempt: number }) => attempt === 1)).toBe(true);
  expect([...api.executions.starts.values()].every((starts) => starts === 1)).toBe(true);
  // Asked for some ten times each: the waits get longer, and are spread.
  expect(service.calls.length).toBeLessThan(1_500);
  // Twenty times as many starts as looks are allowed in a second: one that is asked for again costs no look.
  expect(api.looks.count).toBe(0);
});
