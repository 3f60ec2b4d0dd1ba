/** What can be wrong with the data folder. */
export type DiskErrorCode =
  /** Another host lives on the folder. */
  | 'DATA_IN_USE'
  /** Its format is not the one that this host writes. */
  | 'DATA_VERSION'
  /** Its files are not what a host wrote. */
  | 'DATA_DAMAGED'
  /** It cannot be written, or not any more. */
  | 'DATA_NOT_WRITABLE'
  /** The disk that it is on has no room left. */
  | 'DISK_FULL';

/** The data folder cannot be used; `message` says what to do. */
export class DiskError extends Error {
  override readonly name = 'DiskError';
  readonly code: DiskErrorCode;

  constructor(code: DiskErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A system error of the data folder, as a {@link DiskError}; any other error as it is. */
export function folderError(dataDir: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC') return full(dataDir, error);
  if (typeof code !== 'string' || !('syscall' in (error as Error))) return error;
  return notWritable(dataDir, (error as Error).message, error);
}

/** An error of opening a LevelDB in the data folder, as a {@link DiskError}; any other error as it is. */
export function openError(dataDir: string, error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error) || !('code' in cause)) return error;
  if ('syscall' in cause) return folderError(dataDir, cause);
  if (cause.code === 'LEVEL_LOCKED') {
    const what = `The data folder ${dataDir} is in use by a running host. Stop that host, or give this one another folder.`;
    return new DiskError('DATA_IN_USE', what, { cause: error });
  }
  if (/No space left/.test(cause.message)) return full(dataDir, error);
  if (cause.code === 'LEVEL_IO_ERROR' && !/No such file/.test(cause.message))
    return notWritable(dataDir, cause.message, error);
  return damaged(dataDir, cause.message, error);
}

/** The folder holds something else than a host left there. */
export function damaged(dataDir: string, what: string, cause?: unknown): DiskError {
  const message =
    `The data folder ${dataDir} is damaged: ${what}. A host that is killed leaves no such folder. ` +
    'Put back a copy of it, or give the host another folder; nothing was changed in this one.';
  return new DiskError('DATA_DAMAGED', message, { cause });
}

function full(dataDir: string, cause: unknown): DiskError {
  const message = `The disk of the data folder ${dataDir} is full: free some room, or give the host another folder.`;
  return new DiskError('DISK_FULL', message, { cause });
}

function notWritable(dataDir: string, what: string, cause: unknown): DiskError {
  const message = `The data folder ${dataDir} cannot be written: ${what}. Change its permissions, or give the host another folder.`;
  return new DiskError('DATA_NOT_WRITABLE', message, { cause });
}
