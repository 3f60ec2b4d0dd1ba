import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Disk, openDisk } from '#local/disk.ts';

/** A disk in a folder of its own, which can be closed and opened again as a restart of the host would. */
export async function temporaryDisk() {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-disk-'));
  let disk = await openDisk(folder);
  return {
    folder,
    get disk(): Disk {
      return disk;
    },
    async reopen(): Promise<Disk> {
      await disk.close();
      disk = await openDisk(folder);
      return disk;
    },
    async remove(): Promise<void> {
      await disk.close();
      await rm(folder, { recursive: true });
    },
  };
}
