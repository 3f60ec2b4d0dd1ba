/** What all logs promise. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logKey, logMark } from '#domain/log-mark.ts';
import type { LogPlace, Logs } from '#ports/index.ts';

/** Logs without a line. */
export interface LogsHarness {
  readonly logs: Logs;
  /** Writes lines of the function `fn` at a time (ms since the epoch); later calls never write of an earlier one. */
  write(stream: string, at: number, ...texts: string[]): Promise<void>;
  close(): Promise<void>;
}

/** Where a backend cannot be what AWS is; what AWS does holds for all others. */
export interface LogsDifferences {
  /** A time that its logs are about (ms since the epoch), where it takes no other. */
  readonly now?: number;
  /** It cuts what it finds at the limit of a page, and says of no page that another follows. */
  readonly hasNoPages?: true;
}

const OF = { run: 'r'.repeat(26), node: 'a "b"/ü', attempt: 1 };

async function readAll(logs: Logs, since: number, limit: number) {
  const found = await logs.find('fn', logKey(OF), since);
  if (found.kind !== 'read') throw new Error(found.kind);
  let place: LogPlace = found.place;
  const texts: string[] = [];
  for (;;) {
    const read = await logs.read('fn', place, limit);
    if (read.kind !== 'read') throw new Error(read.kind);
    texts.push(...read.lines.map(({ text }) => text));
    place = read.place;
    if (read.isOver || read.lines.length === 0) return { texts, isOver: read.isOver, place };
  }
}

export function describeLogs(
  backend: string,
  open: () => Promise<LogsHarness>,
  differences: LogsDifferences = {},
): void {
  describe(`Logs on ${backend}`, () => {
    const now = differences.now ?? 1_800_000_000_000;
    let harness: LogsHarness;
    let logs: Logs;
    beforeEach(async () => {
      harness = await open();
      logs = harness.logs;
    });
    afterEach(() => harness.close());
    const limits = (all: readonly number[]) => (differences.hasNoPages ? [100] : all);
    const read = (limit: number) => readAll(logs, now - 1_000, limit);

    it('finds the attempt by its mark, and reads what its invocation wrote, each line once', async () => {
      const { write } = harness;
      await write('s1', now, 'END RequestId: q0', 'START RequestId: q1', 'said before');
      await write('s2', now, logMark({ ...OF, attempt: 2 }, 'q2'), 'of another attempt');
      await write('s1', now, `2026\tq1\tINFO\t${logMark(OF, 'q1')}`, 'a', 'b');
      await write('s1', now + 5, 'c', 'd', 'e');
      for (const limit of limits([1, 2, 3, 100])) {
        expect((await read(limit)).texts, `${limit} lines a page`).toEqual(['a', 'b', 'c', 'd', 'e']);
      }
      const { place } = await read(differences.hasNoPages ? 100 : 2);
      await write('s1', now + 5, 'f');
      expect(await logs.read('fn', place, 10)).toMatchObject({ lines: [{ at: now + 5, text: 'f' }], isOver: false });
      await write('s1', now + 6, 'END RequestId: q1', 'REPORT RequestId: q1', 'START RequestId: q3', 'of the next one');
      for (const limit of limits([1, 4, 100])) {
        expect(await read(limit)).toMatchObject({ texts: ['a', 'b', 'c', 'd', 'e', 'f'], isOver: true });
      }
    });

    it('finds nothing where nobody wrote a mark, or only before the time that is asked for', async () => {
      expect(await logs.find('fn', logKey(OF), 0)).toEqual({ kind: 'missing' });
      await harness.write('s1', now, 'a line', logMark(OF, 'q1'));
      expect(await logs.find('fn', logKey({ ...OF, node: 'other' }), 0)).toEqual({ kind: 'missing' });
      expect(await logs.find('fn', logKey(OF), now + 1)).toEqual({ kind: 'missing' });
      expect(await logs.find('other', logKey(OF), 0)).toEqual({ kind: 'missing' });
    });

    it('reads the mark out of logs in JSON', async () => {
      await harness.write('s1', now, JSON.stringify({ level: 'INFO', message: logMark(OF, 'q1') }), 'a');
      expect(await read(10)).toMatchObject({ texts: ['a'], place: { requestId: 'q1' } });
    });
  });
}
