import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type Bench, type Figure, repeat } from './bench.ts';
import { assemblies, functionsDir } from './bench-host.ts';
import { openDevProcess } from './dev-process.ts';

const child = fileURLToPath(new URL('start-process.ts', import.meta.url));
const steps = z.array(z.object({ what: z.string(), ms: z.number() }));
const CHANGES = 3;

/** How long it takes from nothing to a run that is over. */
export const startTime: Bench = {
  name: 'start',
  title: '`millrace dev` until it is ready, again and after a change of a function; each step of it, and one node',
  async run(say) {
    const again = await repeat(say, async () => [
      { what: '`millrace dev` until it is ready, ms', value: await readyMs(functionsDir), decimals: 0, aim: '< 3000' },
    ]);
    const changed = await afterChanges(say);
    return [...again, changed, ...(await repeat(say, stepsOfStart))];
  },
};

/** The template has to be made anew: the bundle of the function is another one. */
async function afterChanges(say: (progress: string) => void): Promise<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const values: number[] = [];
  await cp(functionsDir, folder, { recursive: true });
  for (let change = 1; change <= CHANGES; change++) {
    say(`after change ${change} of ${CHANGES}`);
    await writeFile(join(folder, 'noop.ts'), `export const handler = async () => ({ at: ${Date.now()} });\n`);
    values.push(await readyMs(folder));
  }
  await rm(folder, { recursive: true });
  return { what: 'the same for the first time after a change of a function, ms', values, decimals: 0, aim: '< 3000' };
}

async function readyMs(functions: string): Promise<number> {
  const host = await openDevProcess(functions);
  await host.close();
  return host.readyMs;
}

/** What happens in a process with the host in it, each step with its time. */
async function stepsOfStart() {
  const { stdout } = await promisify(execFile)(process.execPath, [child, assemblies]);
  return steps.parse(JSON.parse(stdout)).map(({ what, ms }) => ({ what: `${what}, ms`, value: ms, decimals: 0 }));
}
