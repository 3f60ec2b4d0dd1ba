/** One write of a {@link Disk.batch}, made by {@link Section.putting} or {@link Section.deleting}. */
export type DiskChange =
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
 * A write has survived a `kill -9` of the process when its promise resolves.
 * Two writes of one key that overlap may take effect in either order: await the first.
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

/** Opens `<dataDir>/host`, making the folder if need be. Fails with {@link DiskError} `DATA_IN_USE` or `DATA_VERSION`. */
export declare function openDisk(dataDir: string): Promise<Disk>;
