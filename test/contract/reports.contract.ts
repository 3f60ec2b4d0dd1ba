/** What every keeper of reports promises. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reports } from '#ports/index.ts';
import { CREATED, nextId, ODD_TEXTS } from './sample-run.ts';

/** Reports of nobody yet, and what ends them. */
export interface ReportsHarness {
  readonly reports: Reports;
  close(): Promise<void>;
}

const OF = { node: 3, attempt: 1 };

export function describeReports(backend: string, open: () => Promise<ReportsHarness>): void {
  describe(`Reports on ${backend}`, () => {
    let harness: ReportsHarness;
    let reports: Reports;
    beforeAll(async () => {
      harness = await open();
      reports = harness.reports;
    });
    afterAll(() => harness.close());
    const newRun = () => ({ id: nextId(), nonce: 'nnnnnnnn' });

    it('keeps the last report of each attempt, of each item, of each run', async () => {
      const run = newRun();
      expect(await reports.readReport(run, OF)).toBeUndefined();
      const places = [OF, { ...OF, attempt: 2 }, { ...OF, item: 0 }, { ...OF, item: 1 }, { ...OF, node: 4 }];
      for (const [at, place] of places.entries()) {
        expect(await reports.putReport(run, place, { progress: at / 10, message: `m${at}`, at: CREATED })).toBe('put');
      }
      for (const [at, place] of places.entries()) {
        expect(await reports.readReport(run, place)).toEqual({ progress: at / 10, message: `m${at}`, at: CREATED });
      }
      expect(await reports.readReport({ ...run, nonce: 'mmmmmmmm' }, OF)).toBeUndefined();
      expect(await reports.readReport(newRun(), OF)).toBeUndefined();
      await reports.putReport(run, OF, { progress: 1, at: CREATED + 1 });
      expect(await reports.readReport(run, OF)).toEqual({ progress: 1, at: CREATED + 1 });
    });

    it('never lowers the progress and never goes back in time; a repeated put does no harm', async () => {
      const run = newRun();
      const report = { progress: 0.5, message: ODD_TEXTS.join('\n'), at: CREATED };
      expect(await reports.putReport(run, OF, report)).toBe('put');
      expect(await reports.putReport(run, OF, report)).toBe('put');
      expect(await reports.putReport(run, OF, { progress: 0.4, at: CREATED + 1_000 })).toBe('late');
      expect(await reports.putReport(run, OF, { progress: 0.6, at: CREATED - 1 })).toBe('late');
      expect(await reports.readReport(run, OF)).toEqual(report);
    });

    it('ends with the most of many that come at once', async () => {
      const run = newRun();
      const sent = [5, 2, 9, 1, 7, 3].map((tenths) => ({ progress: tenths / 10, at: CREATED + tenths }));
      await Promise.all(sent.map((report) => reports.putReport(run, OF, report)));
      expect(await reports.readReport(run, OF)).toEqual({ progress: 0.9, at: CREATED + 9 });
    });
  });
}
