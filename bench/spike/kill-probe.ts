/**
 * What survives a `kill -9` of the lane's worker in the middle of a run: `node bench/spike/kill-probe.ts`.
 * The worker is Express and the users' functions at once. Its executions are lost with it and run again from their
 * first state when it comes back; what was claimed before must not run a second time.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { openLaneHost, putDefinition } from './lane-host.ts';

const WIDTH = 40;
const NODE_MS = 500;
const NODE_TIMEOUT_SECONDS = 15;
const TICK_SECONDS = 2;
/** The worker is killed once so many attempts have begun. */
const KILL_AT = 20;
const LONGEST_MS = 120_000;

const runView = z.object({ state: z.string(), endedAt: z.string().optional() });
const nodesView = z.object({
  items: z.array(z.object({ id: z.string(), state: z.string(), attempt: z.number(), reason: z.string() })),
});
const storyView = z.looseObject({ id: z.string() });

const folder = await mkdtemp(join(tmpdir(), 'millrace-marks-'));
const file = join(folder, 'marks');
const host = await openLaneHost({ tickSeconds: TICK_SECONDS });
const get = async (path: string) => (await fetch(`${host.url}${path}`)).json() as Promise<unknown>;
/** `node attempt`, once for each time that an attempt's function began. */
const marks = () => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []);
const countOf = (values: readonly string[]) => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Object.fromEntries(counts);
};

try {
  await putDefinition(host, {
    name: 'kill-probe',
    ...{
      defaults: { timeoutSeconds: NODE_TIMEOUT_SECONDS, retry: { maxAttempts: 3, intervalSeconds: 0 } },
      nodes: Array.from({ length: WIDTH }, (_, at) => ({
        id: `n${at}`,
        params: { function: 'leave-mark', payload: { file, ms: NODE_MS } },
      })),
    },
  });
  const begun = performance.now();
  const response = await fetch(`${host.url}/v1/pipelines/kill-probe/runs`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  });
  const { id } = storyView.parse(await response.json());
  while (marks().length < KILL_AT) await sleep(5);
  await host.killWorker();
  const begunBefore = marks().length;
  const successesBefore = nodesView
    .parse(await get(`/v1/runs/${id}/nodes?limit=1000`))
    .items.filter(({ state }) => state === 'SUCCEEDED');
  await host.startWorker();
  let run = runView.parse(await get(`/v1/runs/${id}`));
  while (run.endedAt === undefined && performance.now() - begun < LONGEST_MS) {
    await sleep(100);
    run = runView.parse(await get(`/v1/runs/${id}`));
  }
  const { items } = nodesView.parse(await get(`/v1/runs/${id}/nodes?limit=1000`));
  const { express } = await host.counts();
  const byAttempt = Object.values(countOf(marks()));
  console.log(
    `attempts begun when the worker was killed: ${begunBefore}, of which ${successesBefore.length} nodes had succeeded`,
  );
  console.log(`passages through the machine that found their attempt claimed, or its result put: ${express.notMine}`);
  console.log(`run: ${run.state} after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  console.log(`nodes by attempts: ${JSON.stringify(countOf(items.map(({ attempt }) => `${attempt}`)))}`);
  console.log(
    `functions begun for one attempt, at most: ${Math.max(...byAttempt)}; attempts that began: ${byAttempt.length}`,
  );
  const retried = items.find(({ attempt }) => attempt > 1);
  if (retried) console.log(JSON.stringify(await get(`/v1/runs/${id}/nodes/${retried.id}/attempts`), undefined, 1));
} finally {
  await host.close();
  await rm(folder, { recursive: true });
}
