/** What our own functions wrote to their logs on the development host. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** What the logs hold. */
export interface Logged {
  readonly bytes: number;
  readonly lines: number;
  /** Commits of runs that were made, and that were lost to another pass. */
  readonly commits: number;
  readonly lostCommits: number;
}

const OWN_LOG = /^millrace-.*\.log$/;
const line = z.object({ message: z.string(), commits: z.number().default(0), conflicts: z.number().default(0) });

/** Reads the logs of a host whose data are in a folder; they are kept whole up to some 16 MB each. */
export async function readOwnLogs(dataDir: string): Promise<Logged> {
  const folder = join(dataDir, 'logs');
  const files = (await readdir(folder)).filter((file) => OWN_LOG.test(file));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n').filter((one) => one !== ''));
  const passes = lines.flatMap((one) => passOf(one) ?? []);
  return {
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    lines: lines.length,
    commits: passes.reduce((sum, { commits }) => sum + commits, 0),
    lostCommits: passes.reduce((sum, { conflicts }) => sum + conflicts, 0),
  };
}

/** Nothing for a line of another kind, or one that is no JSON. */
function passOf(text: string): z.output<typeof line> | undefined {
  try {
    const parsed = line.safeParse(JSON.parse(text));
    return parsed.success && parsed.data.message === 'pass' ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
