import type { Disk, KeyRange, Section } from '#local/disk.ts';

/** Statuses of an execution. All but the first are final. */
export const executionStatuses = ['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'] as const;
type ExecutionStatus = (typeof executionStatuses)[number];

/** An execution as it is kept. Dates are milliseconds since 1970, input and output JSON texts. */
export type ExecutionRecord = {
  readonly arn: string;
  readonly machineArn: string;
  readonly name: string;
  readonly status: ExecutionStatus;
  readonly input: string;
  readonly startDate: number;
  readonly stopDate?: number;
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
};

/** Which executions to list. */
type ExecutionQuery = {
  readonly machineArn: string;
  /** @default any */
  readonly status?: ExecutionStatus;
  readonly limit: number;
  /** Where the page before this one ended. */
  readonly after?: string;
};

/** A page of executions, newest first; `next` is missing on the last one. */
type ExecutionPage = { readonly items: readonly ExecutionRecord[]; readonly next?: string };

/** Executions on disk. Nothing of them is kept in memory. */
export type ExecutionStore = {
  get(machineArn: string, name: string): Promise<ExecutionRecord | undefined>;
  /** Resolves when the running execution cannot be lost any more. */
  putStarted(record: ExecutionRecord): Promise<void>;
  /** Resolves when its end cannot be lost any more; it then counts as unannounced. */
  putEnded(record: ExecutionRecord): Promise<void>;
  /** The event of the execution's end has been handed on. */
  announced(record: ExecutionRecord): Promise<void>;
  /** Ended executions whose event was not handed on. */
  unannounced(): Promise<ExecutionRecord[]>;
  list(query: ExecutionQuery): Promise<ExecutionPage>;
  /** All executions of a machine that have not ended. */
  running(machineArn: string): Promise<ExecutionRecord[]>;
};

/** The store of a host's executions. */
export function openExecutionStore(disk: Disk): ExecutionStore {
  const records = disk.section<ExecutionRecord>('executions');
  const index = disk.section<string>('executions-by-date');
  const unannounced = disk.section<string>('executions-unannounced');
  const get = (machineArn: string, name: string) => records.get(recordKey(machineArn, name));
  return {
    get,
    async putStarted(record) {
      const key = recordKey(record.machineArn, record.name);
      await disk.batch([
        records.putting(key, record),
        index.putting(indexKey(record, anyStatus, record.startDate), record.name),
        index.putting(indexKey(record, 'RUNNING', record.startDate), record.name),
      ]);
    },
    async putEnded(record) {
      const key = recordKey(record.machineArn, record.name);
      await disk.batch([
        records.putting(key, record),
        index.deleting(indexKey(record, 'RUNNING', record.startDate)),
        index.putting(indexKey(record, record.status, record.stopDate ?? record.startDate), record.name),
        unannounced.putting(key, record.name),
      ]);
    },
    announced: (record) => unannounced.del(recordKey(record.machineArn, record.name)),
    async unannounced() {
      const keys = await keysAndValues(unannounced);
      const found = await Promise.all(keys.map(([key]) => records.get(key)));
      return found.filter((record) => record !== undefined);
    },
    async running(machineArn) {
      const prefix = `${machineArn}/RUNNING/`;
      const names = await keysAndValues(index, { gt: prefix, lt: `${prefix}~` });
      const found = await Promise.all(names.map(([, name]) => get(machineArn, name)));
      return found.filter((record) => record !== undefined);
    },
    list: (query) => readPage(query, index, (name) => get(query.machineArn, name)),
  };
}

async function readPage(
  query: ExecutionQuery,
  index: Section<string>,
  get: (name: string) => Promise<ExecutionRecord | undefined>,
): Promise<ExecutionPage> {
  const prefix = `${query.machineArn}/${query.status ?? anyStatus}/`;
  const range = { gt: prefix + (query.after ?? ''), lt: `${prefix}~`, limit: query.limit + 1 };
  const entries = await keysAndValues(index, range);
  const page = entries.slice(0, query.limit);
  const items = (await Promise.all(page.map(([, name]) => get(name)))).filter((record) => record !== undefined);
  const last = page.at(-1);
  return entries.length > page.length && last !== undefined ? { items, next: last[0].slice(prefix.length) } : { items };
}

async function keysAndValues<Value>(section: Section<Value>, range: KeyRange = {}): Promise<[string, Value][]> {
  const entries: [string, Value][] = [];
  for await (const entry of section.entries(range)) entries.push(entry);
  return entries;
}

const anyStatus = 'ANY';

function recordKey(machineArn: string, name: string): string {
  return `${machineArn}/${name}`;
}

/** Dates are turned round, so that key order is newest first. */
function indexKey({ machineArn, name }: ExecutionRecord, status: string, date: number): string {
  const age = String(9_999_999_999_999 - date).padStart(13, '0');
  return `${machineArn}/${status}/${age}/${name}`;
}
