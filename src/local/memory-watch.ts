import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';

/** A process that took more memory than it may. */
export type MemoryExcess = { readonly usedMb: number; readonly limitMb: number };

type Watched = { readonly limitMb: number; exceeded(excess: MemoryExcess): void };

const MEBIBYTE = 1024 * 1024;
const PAGE_BYTES = 4096;
/** Time between two looks at all processes. */
const lookMs = 250;
/** Whom Linux takes first when the machine itself has no memory left: -1000 to 1000, and 0 for the host. */
const takenBeforeHost = '500';

const watched = new Map<number, Watched>();
let timer: NodeJS.Timeout | undefined;

/**
 * Watches how much memory a process has, native buffers included, which no limit of V8 holds; Lambda holds it for the
 * whole environment. Only where there is a `/proc`: elsewhere nothing is watched.
 * @param exceeded called once, when the process has more than it may
 * @returns what ends it
 */
export function watchMemory(pid: number, limitMb: number, exceeded: Watched['exceeded']): () => void {
  if (process.platform !== 'linux') return () => {};
  watched.set(pid, { limitMb, exceeded });
  timer ??= setInterval(look, lookMs).unref();
  // A machine that does not allow it is as well off as without it.
  void writeFile(`/proc/${pid}/oom_score_adj`, takenBeforeHost).catch(() => {});
  return () => {
    watched.delete(pid);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function look(): void {
  for (const [pid, { limitMb, exceeded }] of watched) {
    const usedMb = residentMb(pid);
    if (usedMb <= limitMb) continue;
    watched.delete(pid);
    exceeded({ usedMb: Math.round(usedMb), limitMb });
  }
}

/** 0 for a process that is gone. */
function residentMb(pid: number): number {
  try {
    const [, residentPages] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
    return (Number(residentPages) * PAGE_BYTES) / MEBIBYTE;
  } catch {
    return 0;
  }
}
