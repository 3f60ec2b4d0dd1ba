import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type Bench, type Figure, repeat } from './bench.ts';
import { assemblies } from './bench-host.ts';

const child = fileURLToPath(new URL('start-process.ts', import.meta.url));
const steps = z.array(z.object({ what: z.string(), ms: z.number() }));
const COLD_REPETITIONS = 2;

/** How long it takes from nothing to a run that is over. */
export const startTime: Bench = {
  name: 'start',
  title: 'a new process: synthesize the app, host its template, answer, run one node',
  async run(say) {
    const cached = await repeat(say, () => start(assemblies));
    const cold: Figure = { what: 'synthesis without a cache, ms', values: [], decimals: 0 };
    const values: number[] = [];
    for (let repetition = 1; repetition <= COLD_REPETITIONS; repetition++) {
      say(`without a cache, ${repetition} of ${COLD_REPETITIONS}`);
      const empty = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
      const synthesis = (await start(empty)).find(({ what }) => what.startsWith('synthesis'));
      values.push(synthesis?.value ?? Number.NaN);
      await rm(empty, { recursive: true });
    }
    return [{ ...cold, values }, ...cached];
  },
};

/** What happens in the process, each step with its time. */
async function start(outDir: string) {
  const { stdout } = await promisify(execFile)(process.execPath, [child, outDir]);
  return steps.parse(JSON.parse(stdout)).map(({ what, ms }) => ({ what: `${what}, ms`, value: ms, decimals: 0 }));
}
