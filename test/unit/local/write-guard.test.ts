import { describe, expect, it, vi } from 'vitest';
import { DiskError } from '#local/disk-error.ts';
import { createWriteGuard } from '#local/write-guard.ts';

const MEBIBYTE = 1024 * 1024;
const enough = 65 * MEBIBYTE;
const tooLittle = 63 * MEBIBYTE;

function guarded() {
  let free = enough;
  const lines: string[] = [];
  const failed = vi.fn();
  const guard = createWriteGuard({ folder: 'data', log: (line) => lines.push(line), failed, freeBytes: () => free });
  return {
    guard,
    lines,
    failed,
    setFree(bytes: number) {
      free = bytes;
    },
  };
}

describe('the guard of writes', () => {
  it('refuses to begin without room', () => {
    const none = { folder: 'data', log: () => {}, failed: () => {}, freeBytes: () => tooLittle };
    expect(() => createWriteGuard(none)).toThrow(DiskError);
    expect(() => createWriteGuard(none)).toThrow(
      'The disk of the data folder data has less than 64 MB left: free some room, or give the host another folder.',
    );
  });

  it('asks the file system of the folder, or of where it will be', () => {
    const missing = { folder: 'no/such/folder', log: () => {}, failed: () => {} };
    expect(createWriteGuard(missing).hasRoom()).toBe(true);
  });

  it('lets writes wait while there is hardly any room, and says so once', async () => {
    const { guard, lines, failed, setFree } = guarded();
    setFree(tooLittle);
    const made: string[] = [];
    const writes = ['a', 'b'].map((name) => guard.write(async () => void made.push(name)));
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect([made, guard.hasRoom()]).toEqual([[], false]);
    expect(lines[0]).toBe(`DISK_FULL: ${guard.fullError.message}`);
    setFree(enough);
    await Promise.all(writes);
    expect(made).toEqual(['a', 'b']);
    expect(lines.slice(1)).toEqual(['The disk of data has room again: everything goes on.']);
    expect(failed).not.toHaveBeenCalled();
  });

  it('makes no write after one that failed', async () => {
    const { guard, failed } = guarded();
    const later = vi.fn(async () => {});
    const failing = guard.write(() => Promise.reject(new Error('EIO: the disk is on fire')));
    await expect(failing).rejects.toMatchObject({
      code: 'DATA_NOT_WRITABLE',
      message: expect.stringContaining('EIO: the disk is on fire'),
    });
    await expect(guard.write(later)).rejects.toMatchObject({ code: 'DATA_NOT_WRITABLE' });
    expect(later).not.toHaveBeenCalled();
    expect(failed).toHaveBeenCalledOnce();
  });

  it('refuses what waits when the host ends', async () => {
    const { guard, failed, setFree } = guarded();
    setFree(tooLittle);
    const make = vi.fn(async () => {});
    const waiting = guard.write(make);
    guard.stopWaiting();
    await expect(waiting).rejects.toBe(guard.fullError);
    expect([make, failed].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });
});
