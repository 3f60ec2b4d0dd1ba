/** What other processes take up, read from Linux's /proc. */
import { readdir, readFile } from 'node:fs/promises';

/**
 * Memory of the Lambda environments that are processes of their own and children of `parent`, in bytes. Pages that
 * several of them share count once (PSS). NaN where there is no /proc.
 */
export async function childrenBytes(parent: number): Promise<number> {
  const children = await functionProcesses(parent);
  const sizes = await Promise.all(children.map((pid) => textOf(`/proc/${pid}/smaps_rollup`)));
  if (sizes.length === 0) return process.platform === 'linux' ? 0 : Number.NaN;
  return sizes.reduce((sum, text) => sum + Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024, 0);
}

/** Resident memory of a process, in bytes; NaN where there is no /proc. */
export async function residentBytes(pid: number): Promise<number> {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(await textOf(`/proc/${pid}/status`))?.[1]) * 1024;
}

/** Time that a process has had on processors so far, user and system, in milliseconds; NaN where there is no /proc. */
export async function processorMs(pid: number): Promise<number> {
  // Its name may have blanks in it, so fields are counted from behind that. They are in hundredths of a second.
  const fields = (await textOf(`/proc/${pid}/stat`)).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function functionProcesses(parent: number): Promise<string[]> {
  const all = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    all.map(async (pid) => {
      const parentOf = /^PPid:\s+(\d+)/m.exec(await textOf(`/proc/${pid}/status`))?.[1];
      if (Number(parentOf) !== parent) return [];
      return (await textOf(`/proc/${pid}/cmdline`)).includes('lambda-process') ? [pid] : [];
    }),
  );
  return found.flat();
}

/** Empty where the process has ended in the meantime. */
async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
