/** What every memo promises. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Memo } from '#ports/index.ts';
import { CREATED, ODD_TEXTS } from './sample-run.ts';

/** An empty memo, and what ends it. */
export interface MemoHarness {
  readonly memo: Memo;
  close(): Promise<void>;
}

export function describeMemo(backend: string, open: () => Promise<MemoHarness>): void {
  describe(`Memo on ${backend}`, () => {
    let harness: MemoHarness;
    let memo: Memo;
    beforeAll(async () => {
      harness = await open();
      memo = harness.memo;
    });
    afterAll(() => harness.close());

    it('gives an output until its time is over', async () => {
      await memo.write('k', '{"a":1}', CREATED + 1_000);
      expect(await memo.read('k', CREATED)).toBe('{"a":1}');
      expect(await memo.read('k', CREATED + 999)).toBe('{"a":1}');
      expect(await memo.read('k', CREATED + 1_000)).toBeUndefined();
      expect(await memo.read('other', CREATED)).toBeUndefined();
    });

    it('keeps the newest of two outputs, large ones too, and takes the same again', async () => {
      const large = JSON.stringify('😊'.repeat(100_000));
      await memo.write('twice', '1', CREATED + 1_000);
      for (let times = 0; times < 2; times++) await memo.write('twice', large, CREATED + 5_000);
      expect(await memo.read('twice', CREATED + 2_000)).toBe(large);
      await memo.write('twice', '2', CREATED + 3_000);
      expect(await memo.read('twice', CREATED + 2_000)).toBe('2');
      expect(await memo.read('twice', CREATED + 4_000)).toBeUndefined();
    });

    it('keeps keys apart, however odd', async () => {
      for (const [at, key] of ODD_TEXTS.entries()) await memo.write(key, `${at}`, CREATED + 1_000);
      for (const [at, key] of ODD_TEXTS.entries()) expect(await memo.read(key, CREATED)).toBe(`${at}`);
    });
  });
}
