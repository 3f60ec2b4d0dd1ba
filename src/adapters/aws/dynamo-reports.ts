/** What attempts report of themselves: one small item each, which no pass writes. */
import * as z from 'zod';
import type { AttemptReport } from '#domain/report.ts';
import type { Clock, Reports } from '#ports/index.ts';
import { partExpiry } from './retention.ts';
import { readRunPart } from './run-parts.ts';
import type { Table } from './table.ts';
import { reportSortKey, runPartition } from './table-keys.ts';

const reportItem = z.object({
  p: z.number().min(0).max(1),
  m: z.string().optional(),
  // When it was taken (ms since the epoch).
  a: z.number(),
});

/** Makes the reports on a table. */
export function createDynamoReports(table: Table, clock: Clock): Reports {
  return {
    async putReport(run, { node, item, attempt }, { progress, message, at }) {
      const isPut = await table.putIf(
        {
          pk: runPartition(run),
          sk: reportSortKey(node, attempt, item),
          p: progress,
          m: message,
          a: at,
          ttl: partExpiry(clock.now()),
        },
        {
          expression: 'attribute_not_exists(#pk) OR (#p <= :progress AND #a <= :at)',
          values: { ':progress': progress, ':at': at },
        },
      );
      return isPut ? 'put' : 'late';
    },
    async readReport(run, { node, item, attempt }) {
      const stored = await table.get({ pk: runPartition(run), sk: reportSortKey(node, attempt, item) });
      return stored === undefined ? undefined : readRunPart(run.id, 'a report', async () => toReport(stored));
    },
  };
}

function toReport(stored: unknown): AttemptReport {
  const { p, m, a } = reportItem.parse(stored);
  return { progress: p, ...(m !== undefined && { message: m }), at: a };
}
