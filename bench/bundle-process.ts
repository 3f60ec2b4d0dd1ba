/**
 * A process of its own that loads the bundle of a function as Lambda does, hands it an event twice and prints, in its last line,
 * how long each took.
 * Node's own modules that Lambda's runtime has loaded before are loaded before, too.
 */
import 'node:http';
import 'node:https';
import { z } from 'zod';

const [file = '', event = 'null'] = process.argv.slice(2);
const loaded = z.object({ handler: z.custom<(event: unknown, context: unknown) => Promise<unknown>>() });

async function timed<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const begun = performance.now();
  const result = await work();
  return { ms: performance.now() - begun, result };
}

const init = await timed(async () => loaded.parse(await import(file)));
const asked: unknown = JSON.parse(event);
const invoke = () => init.result.handler(asked, { awsRequestId: 'bench', functionName: 'bench' });
const invocations = asked === null ? [] : [await timed(invoke), await timed(invoke)];
process.stdout.write(`\n${JSON.stringify([init, ...invocations].map(({ ms }) => ms))}`, () => process.exit());
