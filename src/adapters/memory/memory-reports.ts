import type { AttemptReport } from '#domain/report.ts';
import type { AttemptPlace, Reports, RunKey } from '#ports/index.ts';

/** Reports in memory, the exact twin of those in DynamoDB. */
export function createMemoryReports(): Reports {
  const reports = new Map<string, AttemptReport>();
  return {
    async putReport(run, of, report) {
      const known = reports.get(keyOf(run, of));
      if (known && (known.progress > report.progress || known.at > report.at)) return 'late';
      reports.set(keyOf(run, of), { ...report });
      return 'put';
    },
    async readReport(run, of) {
      const known = reports.get(keyOf(run, of));
      return known && { ...known };
    },
  };
}

function keyOf({ id, nonce }: RunKey, { node, item, attempt }: AttemptPlace): string {
  return `${id}#${nonce}#${node}#${item ?? ''}#${attempt}`;
}
