import { statfsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DiskError } from '#local/disk-error.ts';

/**
 * Stands before every write of the host's data. While the disk has hardly any room, writes wait: a LevelDB that met the
 * end of the disk would lose later writes that it had confirmed, since half a record in its log hides what follows. For
 * the same reason a write that fails is the last one of this host.
 */
export type WriteGuard = {
  /** Makes a write, once there is room. Rejects if it fails, or one before it did; `failed` has been told then. */
  write(make: () => Promise<void>): Promise<void>;
  /** Resolves once there is room. */
  room(): Promise<void>;
  /** Whether there is room now. */
  hasRoom(): boolean;
  /** What is to be said of a disk without room. */
  readonly fullError: DiskError;
  /** From now on what would have to wait is refused, so that a host can end; none of it was confirmed. */
  stopWaiting(): void;
};

/** What a guard needs. */
export type WriteGuardOptions = {
  /** The data folder. */
  readonly folder: string;
  /** Told when writes begin to wait, and when they go on. */
  readonly log: (line: string) => void;
  /** Told of the write that failed: nothing that is answered from now on would be sure to be kept. */
  readonly failed: (error: DiskError) => void;
  /** Bytes that may still be written to the disk. @default asks the file system */
  readonly freeBytes?: () => number;
};

const MEBIBYTE = 1024 * 1024;
/** What is left free: more than two LevelDBs write by themselves while they tidy up. */
const reserveBytes = 64 * MEBIBYTE;
/** How long an answer of the file system is believed; a host writes far less than the reserve meanwhile. */
const believedMs = 100;
/** Time between two looks while writes wait. */
const lookAgainMs = 250;

/**
 * Makes a guard.
 * @throws {DiskError} `DISK_FULL` if there is no room to begin with
 */
export function createWriteGuard({ folder, log, failed, freeBytes }: WriteGuardOptions): WriteGuard {
  const free = freeBytes ?? (() => freeBytesOf(path.resolve(folder)));
  const short = `The disk of the data folder ${folder} has less than ${reserveBytes / MEBIBYTE} MB left`;
  if (free() < reserveBytes) {
    throw new DiskError('DISK_FULL', `${short}: free some room, or give the host another folder.`);
  }
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isFull = false;
  let mayWait = true;
  let broken: DiskError | undefined;
  const waits = `${short}: what is to be written waits until there is room. Nothing is lost.`;
  const fullError = new DiskError('DISK_FULL', waits);

  function hasRoom(): boolean {
    if (performance.now() - lookedAt < believedMs) return !isFull;
    const wasFull = isFull;
    isFull = free() < reserveBytes;
    lookedAt = performance.now();
    if (isFull && !wasFull) log(`${fullError.code}: ${fullError.message}`);
    if (!isFull && wasFull) log(`The disk of ${folder} has room again: everything goes on.`);
    return !isFull;
  }

  async function room(): Promise<void> {
    while (!hasRoom()) {
      if (!mayWait) throw fullError;
      await sleep(lookAgainMs, undefined, { ref: false });
    }
  }

  return {
    fullError,
    hasRoom,
    room,
    stopWaiting() {
      mayWait = false;
    },
    async write(make) {
      if (!hasRoom()) await room();
      if (broken !== undefined) throw broken;
      try {
        await make();
      } catch (cause) {
        broken = failedWrite(folder, cause);
        failed(broken);
        throw broken;
      }
    },
  };
}

function failedWrite(folder: string, cause: unknown): DiskError {
  const what = cause instanceof Error ? cause.message : String(cause);
  const message =
    `A write to the data folder ${folder} failed: ${what}. The host ends, so that it confirms nothing that is not kept; ` +
    'start it again when the folder can be written.';
  return new DiskError('DATA_NOT_WRITABLE', message, { cause });
}

/** Of the folder, or where it will be; unlimited where the file system does not say. */
function freeBytesOf(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    const above = path.dirname(folder);
    return above === folder ? Number.POSITIVE_INFINITY : freeBytesOf(above);
  }
}
