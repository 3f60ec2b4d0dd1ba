/** One tick, alone: only what is due may cost anything. */
import type { SQSClient } from '@aws-sdk/client-sqs';
import { toAggregateItem } from '#adapters/aws/dynamo-aggregates.ts';
import { createDynamoDueIndex } from '#adapters/aws/dynamo-due.ts';
import { createSqsInbox } from '#adapters/aws/sqs-inbox.ts';
import { createTable, type Item, type Table } from '#adapters/aws/table.ts';
import { createMemoryDueIndex } from '#adapters/memory/memory-due-index.ts';
import type { DueIndex } from '#ports/index.ts';
import { runTick } from '#scheduler/tick.ts';
import { startHostTables } from '../test/contract/tables.ts';
import { type Bench, type Figure, median } from './bench.ts';
import { growth } from './growth.ts';
import { runsOf, storesOf, type Things, TICK_AT } from './tick-things.ts';

const TICKS = 20;
const PUT_AT_ONCE = 1_000;

/** What a tick finds nothing of, over the memory stores. */
const IDLE: readonly (readonly [string, Things])[] = [
  ['nothing', {}],
  ['100,000 finished', { finished: 100_000 }],
  ['1,000,000 finished', { finished: 1_000_000 }],
  ['1,000 active', { active: 1_000 }],
  ['100,000 active', { active: 100_000 }],
  ['100,000 active, 1,000,000 finished', { active: 100_000, finished: 1_000_000 }],
];
const DUE_SIZES = [1_000, 10_000, 100_000] as const;
const OTHERS: readonly (readonly [string, Things])[] = [
  ['1,000 due limits', { dueLimits: 1_000 }],
  ['1,000 due pipelines', { duePipelines: 1_000 }],
];
/** On a table. */
const TABLES: readonly (readonly [string, Things])[] = [
  ['nothing', {}],
  ['100,000 finished', { finished: 100_000 }],
  ['1,000 active', { active: 1_000 }],
  ['100,000 active', { active: 100_000 }],
  ['1,000 due', { due: 1_000 }],
  ['10,000 due, 10,000 active, 100,000 finished', { due: 10_000, active: 10_000, finished: 100_000 }],
];

/** What is due is rung; nothing else is looked at. */
export const tick: Bench = {
  name: 'tick',
  title: 'one tick over runs that are finished, active, or due, in memory',
  async run(say) {
    const idle = await inMemory(IDLE, say);
    const due = await inMemory(
      DUE_SIZES.map((size) => [`${size.toLocaleString('en')} due`, { due: size }] as const),
      say,
    );
    const times = DUE_SIZES.map((size, at) => [size, median(due[at]?.micros ?? [])] as const);
    return [
      ...[...idle, ...due, ...(await inMemory(OTHERS, say))].flatMap(toFigures),
      growth('a tick with what is due', times),
    ];
  },
};

/** The same on a table, which takes long to fill. */
export const tickOnTable: Bench = {
  name: 'tick-on-table',
  title: 'one tick over runs that are finished, active, or due, on the table of the development host',
  run: onTable,
};

interface Ticked {
  readonly what: string;
  readonly micros: readonly number[];
  readonly rung: number;
  readonly sends: number;
}

function toFigures({ what, micros, rung, sends }: Ticked): Figure[] {
  const time = { what: `${what}: a tick, µs`, values: micros, decimals: 0 };
  if (rung === 0) return [time];
  return [
    time,
    { what: `${what}: rung`, values: [rung], decimals: 0 },
    { what: `${what}: calls of SQS`, values: [sends], decimals: 0 },
  ];
}

async function inMemory(
  cases: readonly (readonly [string, Things])[],
  say: (progress: string) => void,
): Promise<Ticked[]> {
  const ticked: Ticked[] = [];
  for (const [what, things] of cases) {
    say(`in memory: ${what}`);
    ticked.push({ what, ...(await measure(createMemoryDueIndex(storesOf(things)))) });
  }
  return ticked;
}

/** Ticks over an index, the first as often as it counts without counting. The queue answers at once. */
async function measure(due: DueIndex): Promise<Omit<Ticked, 'what'>> {
  let sends = 0;
  const queue: Pick<SQSClient, 'send'> = {
    send: async () => {
      sends += 1;
      return {};
    },
  };
  const inbox = createSqsInbox(queue as SQSClient, 'inbox');
  const once = async () => {
    sends = 0;
    const begun = performance.now();
    const rung = await runTick({ due, inbox, clock: { now: () => TICK_AT } });
    return { micros: (performance.now() - begun) * 1000, rung };
  };
  for (let warm = 0; warm < TICKS; warm++) await once();
  const micros: number[] = [];
  let rung = 0;
  for (let at = 0; at < TICKS; at++) {
    const ticked = await once();
    micros.push(ticked.micros);
    rung = ticked.rung;
  }
  return { micros, rung, sends };
}

async function onTable(say: (progress: string) => void): Promise<Figure[]> {
  const server = await startHostTables();
  await measure(createDynamoDueIndex(createTable(server.client, await server.createTable())));
  const figures: Figure[] = [];
  for (const [what, things] of TABLES) {
    say(`on a table: ${what}`);
    const table = createTable(server.client, await server.createTable());
    await fill(table, things);
    const before = server.wireLog.snapshot();
    const { micros, rung } = await measure(createDynamoDueIndex(table));
    const { calls, readUnits } = server.wireLog.since(before);
    const perTick = (total: number) => [total / (2 * TICKS)];
    figures.push(
      { what: `table, ${what}: a tick, ms`, values: micros.map((one) => one / 1000), decimals: 1 },
      { what: `table, ${what}: queries`, values: perTick(calls.dynamodb?.['Query'] ?? 0), decimals: 0 },
      { what: `table, ${what}: read units`, values: perTick(readUnits), decimals: 1 },
      { what: `table, ${what}: rung`, values: [rung], decimals: 0 },
    );
  }
  await server.close();
  return figures;
}

async function fill(table: Table, things: Things): Promise<void> {
  let page: Item[] = [];
  for (const run of runsOf(things)) {
    page.push(toAggregateItem(run));
    if (page.length < PUT_AT_ONCE) continue;
    await table.putAll(page);
    page = [];
  }
  await table.putAll(page);
}
