/**
 * The DAGs on DBOS: a workflow whose nodes are steps, the way that its guide shows. Parallel steps are started together
 * and awaited together. The process that starts a workflow runs it, and its steps.
 */
import { appendFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';

async function node(number, probe) {
  if (!probe) return { done: true };
  await appendFile(probe.log, `start ${number} ${Date.now()}\n`);
  if (number === probe.slowNode) await sleep(probe.slowMs);
  await appendFile(probe.log, `end ${number} ${Date.now()}\n`);
  return { done: true };
}

const step = (number, probe) => DBOS.runStep(() => node(number, probe), { name: `node-${number}` });

const chain = DBOS.registerWorkflow(
  async (length, probe) => {
    for (let number = 1; number <= length; number++) await step(number, probe);
  },
  { name: 'chain' },
);

const fan = DBOS.registerWorkflow(
  async (width) => {
    await step(1);
    const middle = await Promise.allSettled(Array.from({ length: width }, (_, at) => step(at + 2)));
    if (middle.some(({ status }) => status === 'rejected')) throw new Error('a step failed');
    await step(width + 2);
  },
  { name: 'fan' },
);

async function answer({ dag, runs, probe }) {
  if (probe) {
    await DBOS.startWorkflow(chain)(probe.length, probe);
    return 0;
  }
  const begun = performance.now();
  const start = () =>
    dag.kind === 'chain' ? DBOS.startWorkflow(chain)(dag.length) : DBOS.startWorkflow(fan)(dag.width);
  const handles = await Promise.all(Array.from({ length: runs }, start));
  await Promise.all(handles.map((handle) => handle.getResult()));
  return performance.now() - begun;
}

DBOS.setConfig({
  name: 'peer',
  applicationVersion: '1',
  systemDatabaseUrl: process.env.DBOS_SYSTEM_DATABASE_URL,
  logLevel: 'error',
});
await DBOS.launch();
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify({ ms: await answer(JSON.parse(line)) })}\n`);
}
await DBOS.shutdown();
