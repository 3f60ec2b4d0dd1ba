import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BatchOperation, ClassicLevel } from 'classic-level';
import { z } from 'zod';
import { DiskError, damaged, folderError, openError } from '#local/disk-error.ts';
import { GroupedWrites } from '#local/grouped-writes.ts';
import type { WriteGuard } from '#local/write-guard.ts';

/** One write of a {@link Disk.batch}, made by {@link Section.putting} or {@link Section.deleting}. */
type DiskChange =
  | { readonly type: 'put'; readonly section: string; readonly key: string; readonly value: unknown }
  | { readonly type: 'del'; readonly section: string; readonly key: string };

/** Which keys {@link Section.entries} walks over; all of them by default. */
export type KeyRange = {
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  /** Last key first. @default false */
  readonly reverse?: boolean;
  /** At most this many entries. @default no limit */
  readonly limit?: number;
};

/**
 * A named part of the host's database: JSON values under string keys, in key order (UTF-8 bytes).
 * A write has survived a `kill -9` of the process when its promise resolves. Writes take effect in order.
 */
export type Section<Value> = {
  get(key: string): Promise<Value | undefined>;
  put(key: string, value: Value): Promise<void>;
  del(key: string): Promise<void>;
  /** Entries as they were when the walk began. */
  entries(range?: KeyRange): AsyncIterable<[string, Value]>;
  /** A put for {@link Disk.batch}. */
  putting(key: string, value: Value): DiskChange;
  /** A delete for {@link Disk.batch}. */
  deleting(key: string): DiskChange;
};

/** The host's own database: what its queues, buses and state machines must not forget. */
export type Disk = {
  /** The section of that name (`a-z` and `-`). Its values are trusted to be of the type that the same code wrote. */
  section<Value>(name: string): Section<Value>;
  /** All of these writes or none, over any sections. */
  batch(changes: readonly DiskChange[]): Promise<void>;
  /** Waits for writes under way and lets go of the folder. */
  close(): Promise<void>;
};

const FORMAT = 1;
const versionSchema = z.object({ format: z.number().int() });

/** How writes are made where nothing stands before them. */
const unguarded: Pick<WriteGuard, 'write'> = { write: (make) => make() };

/**
 * Opens the database in `<dataDir>/host`, making the folder if need be.
 * @param guard stands before every write; none by default
 * @throws {DiskError} `DATA_IN_USE` while another process has it open, `DATA_VERSION` if `<dataDir>/version.json` names
 * another format, `DATA_DAMAGED`, `DATA_NOT_WRITABLE`, `DISK_FULL`
 */
export async function openDisk(dataDir: string, guard: Pick<WriteGuard, 'write'> = unguarded): Promise<Disk> {
  try {
    await mkdir(dataDir, { recursive: true });
    await checkFormat(dataDir);
  } catch (error) {
    throw folderError(dataDir, error);
  }
  const folder = join(dataDir, 'host');
  const make = () => new ClassicLevel<string, unknown>(folder, { valueEncoding: 'json' });
  return diskOver(await openLevel(dataDir, folder, make, (level) => level), guard);
}

/**
 * Opens a LevelDB in a folder of the data folder.
 * @param make makes what has the database, which begins to open as soon as it is made
 * @throws {DiskError} `DATA_IN_USE`, `DATA_DAMAGED`, `DATA_NOT_WRITABLE`, `DISK_FULL`
 */
export async function openLevel<Made>(
  dataDir: string,
  folder: string,
  make: () => Made,
  databaseOf: (made: Made) => { open(): Promise<void> },
): Promise<Made> {
  const files: string[] = await readdir(folder).catch(() => []);
  // LevelDB would begin anew, over all that is there.
  if (!files.includes('CURRENT') && files.some((file) => file.endsWith('.ldb'))) {
    throw damaged(dataDir, `${join(folder, 'CURRENT')} is missing`);
  }
  const made = make();
  try {
    await databaseOf(made).open();
  } catch (error) {
    throw openError(dataDir, error);
  }
  return made;
}

/** Reads or, in a new folder, writes the number of the format. */
async function checkFormat(dataDir: string): Promise<void> {
  const path = join(dataDir, 'version.json');
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) {
    const draft = `${path}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify({ format: FORMAT })}\n`);
    await rename(draft, path);
    return;
  }
  const found = versionSchema.safeParse(jsonOf(text)).data?.format;
  if (found === FORMAT) return;
  throw new DiskError(
    'DATA_VERSION',
    `The data folder ${dataDir} has format ${found ?? 'unknown'} (version.json); this version reads format ${FORMAT}. Give it another folder, or delete this one.`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Database = ClassicLevel<string, unknown>;

function diskOver(level: Database, guard: Pick<WriteGuard, 'write'>): Disk {
  const parts = new Map<string, ReturnType<typeof part>>();
  const writes = new GroupedWrites<BatchOperation<Database, string, unknown>>((operations) =>
    guard.write(() => level.batch(operations)),
  );
  const partOf = (name: string) => {
    const known = parts.get(name) ?? part(level, name);
    parts.set(name, known);
    return known;
  };
  const batch = (changes: readonly DiskChange[]) =>
    writes.write(
      changes.map((change): BatchOperation<Database, string, unknown> => {
        const sublevel = partOf(change.section);
        return change.type === 'put'
          ? { type: 'put', sublevel, key: change.key, value: change.value }
          : { type: 'del', sublevel, key: change.key };
      }),
    );
  return {
    section: <Value>(name: string) => sectionOver<Value>(partOf(name), name, batch),
    batch,
    async close() {
      await writes.settled();
      await level.close();
    },
  };
}

function part(level: Database, name: string) {
  return level.sublevel<string, unknown>(name, { valueEncoding: 'json' });
}

function sectionOver<Value>(sublevel: ReturnType<typeof part>, section: string, batch: Disk['batch']): Section<Value> {
  const putting = (key: string, value: Value): DiskChange => ({ type: 'put', section, key, value });
  const deleting = (key: string): DiskChange => ({ type: 'del', section, key });
  return {
    // What was written last lies in memory, so that a visit to another thread would take longer than the reading.
    get: async (key) =>
      (sublevel.status === 'open' ? sublevel.getSync(key) : await sublevel.get(key)) as Value | undefined,
    put: (key, value) => batch([putting(key, value)]),
    del: (key) => batch([deleting(key)]),
    entries: (range = {}) => sublevel.iterator(range) as AsyncIterable<[string, Value]>,
    putting,
    deleting,
  };
}
