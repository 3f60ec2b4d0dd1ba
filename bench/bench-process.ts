/** The process of one bench: measures it and sends what `run.ts` waits for. */
import type { BenchMessage } from './bench.ts';
import { benches } from './benches.ts';

const bench = benches.find(({ name }) => name === process.argv[2]);
const send = (message: BenchMessage) =>
  new Promise<void>((sent) => process.send?.(message, undefined, {}, () => sent()));
if (bench === undefined) throw new Error(`there is no bench ${process.argv[2]}`);
await send({ figures: await bench.run((progress) => void send({ progress })) });
process.disconnect();
