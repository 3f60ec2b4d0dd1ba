/**
 * The list of runs: one small item a run, in one partition for the whole list and in an index for a pipeline's. Their
 * order is that of creation and never changes, so a walk along it meets each run once whatever is written meanwhile.
 */
import * as z from 'zod';
import { isRunOver, RUN_STATES } from '#domain/run.ts';
import type { Clock, RunHeader, RunPage, RunQuery, RunStore } from '#ports/index.ts';
import { isExpired, removalExpiry, runExpiry } from './retention.ts';
import type { Item, PartitionQuery, Table } from './table.ts';
import {
  HEADERS_PARTITION,
  headerSortKey,
  headerTimeKey,
  parseHeaderSortKey,
  pipelineHeadersPartition,
  RUNS_INDEX,
} from './table-keys.ts';

/** Most headers that one call looks at, so that a filter that matches nothing still answers soon. */
const MAX_LOOKED_AT = 5_000;

/** Most headers in one page of the table, where a filter may drop many. */
const FILTERED_PAGE = 1_000;

const LATEST = 8.64e15;

const headerItem = z.object({
  sk: z.string().regex(/^\d{16}#/),
  v: z.int(),
  b: z.string(),
  ttl: z.number().optional(),
});

const headerBody = z.object({
  pipeline: z.string(),
  revision: z.string(),
  state: z.enum(RUN_STATES),
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
  trigger: z.object({
    type: z.enum(['api', 'schedule', 'event', 'rerun', 'backfill', 'pipeline']),
    by: z.string().optional(),
    runId: z.string().optional(),
    instant: z.string().optional(),
    previousInstant: z.string().optional(),
    entry: z.string().optional(),
    backfill: z.string().optional(),
  }),
  tags: z.array(z.tuple([z.string(), z.string()])),
});

/** The calls of a run store that concern headers. */
export function createDynamoRunHeaders(
  table: Table,
  clock: Clock,
): Pick<RunStore, 'putHeader' | 'removeHeader' | 'listRuns'> {
  return {
    async putHeader(header) {
      await table.putIf(toHeaderItem(header), {
        expression: 'attribute_not_exists(#pk) OR #v < :rev',
        values: { ':rev': header.rev },
      });
    },
    // A sign in its place: a pass that slept may still put the line, and nobody would take it away again.
    removeHeader: ({ id, createdAt }) =>
      table.put({
        pk: HEADERS_PARTITION,
        sk: headerSortKey(createdAt, id),
        v: Number.MAX_SAFE_INTEGER,
        ttl: removalExpiry(clock.now()),
      }),
    async listRuns(query) {
      const bounds = boundsOf(query);
      if (bounds.low > bounds.high) return { items: [] };
      const items: RunHeader[] = [];
      let lookedAt = 0;
      let last: RunPage['last'];
      for await (const page of table.query(headersQuery(query, bounds))) {
        for (const item of page) {
          const place = placeOf(item);
          if (place === bounds.after) continue;
          if (items.length === query.limit || lookedAt === MAX_LOOKED_AT) return last ? { items, last } : { items };
          lookedAt += 1;
          last = parseHeaderSortKey(place);
          const header = fromHeaderItem(item, clock.now());
          if (header && matches(header, query)) items.push(header);
        }
      }
      return { items };
    },
  };
}

interface Bounds {
  readonly low: string;
  readonly high: string;
  readonly after: string | undefined;
}

/** Places are time, `#`, id, so a bare time lies before all runs of that time. */
function boundsOf(query: RunQuery): Bounds {
  const low = headerTimeKey(clampTime(query.from ?? 0));
  const to = query.to === undefined ? `${headerTimeKey(LATEST)}~` : headerTimeKey(clampTime(query.to));
  const after = query.after && headerSortKey(query.after.createdAt, query.after.id);
  return { low, high: after !== undefined && after < to ? after : to, after };
}

function clampTime(time: number): number {
  return Math.ceil(Math.min(Math.max(time, 0), LATEST));
}

function headersQuery(query: RunQuery, { low, high }: Bounds): PartitionQuery {
  const isFiltered = query.states !== undefined || query.tags !== undefined;
  const ofPipeline = query.pipeline !== undefined;
  return {
    ...(ofPipeline && { index: RUNS_INDEX }),
    expression: ofPipeline
      ? '#rp = :list AND #rs BETWEEN :low AND :high'
      : '#pk = :list AND #sk BETWEEN :low AND :high',
    values: {
      ':list': query.pipeline === undefined ? HEADERS_PARTITION : pipelineHeadersPartition(query.pipeline),
      ':low': low,
      ':high': high,
    },
    isConsistent: query.isStrict === true && !ofPipeline,
    isDescending: true,
    // One more shows whether there is a next page, and one may be the place to go on from.
    pageSize: isFiltered ? FILTERED_PAGE : query.limit + 2,
  };
}

function matches(header: RunHeader, query: RunQuery): boolean {
  if (query.states && !query.states.includes(header.state)) return false;
  const tags = new Map(header.tags);
  return !query.tags?.some(([key, value]) => tags.get(key) !== value);
}

function toHeaderItem(header: RunHeader): Item {
  const { id, rev, createdAt, retainDays, ...body } = header;
  const sk = headerSortKey(createdAt, id);
  return {
    pk: HEADERS_PARTITION,
    sk,
    rp: pipelineHeadersPartition(header.pipeline),
    rs: sk,
    v: rev,
    b: JSON.stringify(body),
    ...(isRunOver(header.state) && { ttl: runExpiry(header.endedAt ?? createdAt, retainDays) }),
  };
}

function placeOf(item: unknown): string {
  return headerItem.pick({ sk: true }).parse(item).sk;
}

/** Nothing for an expired header, or for a damaged one: it must not take the list with it. */
function fromHeaderItem(item: unknown, now: number): RunHeader | undefined {
  const stored = headerItem.safeParse(item);
  if (!stored.success || isExpired(stored.data.ttl, now)) return undefined;
  const body = parseBody(stored.data.b);
  if (!body) return undefined;
  const { startedAt, endedAt, trigger, ...rest } = body;
  return {
    ...parseHeaderSortKey(stored.data.sk),
    rev: stored.data.v,
    ...rest,
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    // A field that is not there is missing, never undefined: the body was JSON.
    trigger: trigger as RunHeader['trigger'],
  };
}

function parseBody(text: string): z.output<typeof headerBody> | undefined {
  try {
    return headerBody.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
