/**
 * The DAGs on Restate. A node is either a durable step of the handler that runs the DAG (`ctx.run`), or a call of a
 * service of its own, which the server dispatches; the guide on parallel work shows both.
 */
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as restate from '@restatedev/restate-sdk';

async function work(number, probe) {
  if (!probe) return { done: true };
  await appendFile(probe.log, `start ${number} ${Date.now()}\n`);
  if (number === probe.slowNode) await sleep(probe.slowMs);
  await appendFile(probe.log, `end ${number} ${Date.now()}\n`);
  return { done: true };
}

const node = restate.service({
  name: 'node',
  handlers: { work: async (_ctx, { number, probe }) => work(number, probe) },
});

const asStep = (ctx) => (number, probe) => ctx.run(`node-${number}`, () => work(number, probe));
const asCall = (ctx) => (number, probe) => ctx.serviceClient(node).work({ number, probe });

function dagService(name, nodesIn) {
  return restate.service({
    name,
    handlers: {
      chain: async (ctx, { length, probe }) => {
        const nodeAs = nodesIn(ctx);
        for (let number = 1; number <= length; number++) await nodeAs(number, probe);
      },
      fan: async (ctx, { width }) => {
        const nodeAs = nodesIn(ctx);
        await nodeAs(1);
        await restate.RestatePromise.all(Array.from({ length: width }, (_, at) => nodeAs(at + 2)));
        await nodeAs(width + 2);
      },
    },
  });
}

await restate.serve({
  services: [node, dagService('steps', asStep), dagService('calls', asCall)],
  port: Number(process.env.PORT),
});
process.stdout.write('ready\n');
