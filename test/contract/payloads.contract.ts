/** What every store of payloads does. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAYLOAD_LIMITS } from '#domain/payload-ref.ts';
import type { Payloads } from '#ports/index.ts';

/** A store to be tested, and what the test needs of it. */
export interface PayloadsHarness {
  readonly payloads: Payloads;
  /** Puts other bytes under a key, as nobody should. */
  tamper(key: string, text: string): Promise<void>;
  /** Whether its addresses lead somewhere. */
  readonly isServed: boolean;
  close(): Promise<void>;
}

export function describePayloads(name: string, open: () => Promise<PayloadsHarness>): void {
  describe(`payloads ${name}`, () => {
    let harness: PayloadsHarness;
    let payloads: Payloads;
    beforeAll(async () => {
      harness = await open();
      payloads = harness.payloads;
    });
    afterAll(() => harness.close());

    it('gives back what was put, and puts it under its hash', async () => {
      const text = '{"text":"é ü 漢字 😊 \\u0000"}';
      const ref = await payloads.put(text);
      expect(ref.key).toBe(`inputs/${ref.sha256}`);
      expect(ref.bytes).toBe(Buffer.byteLength(text));
      expect(await payloads.put(text)).toEqual(ref);
      expect(await payloads.read(ref)).toEqual({ kind: 'read', text });
    });

    it.each([1, 300_000, 5_000_000])('C64 gives back %i bytes', async (bytes) => {
      const text = JSON.stringify('漢'.repeat(bytes / 3)).slice(0, -1);
      const ref = await payloads.put(text);
      expect(await payloads.read(ref)).toEqual({ kind: 'read', text });
    });

    it('refuses what is not there', async () => {
      const sha256 = '0'.repeat(64);
      const ref = { ...(await payloads.put('1')), key: `outputs/${sha256}`, sha256 };
      expect(await payloads.read(ref)).toMatchObject({ kind: 'refused', message: expect.stringContaining(ref.key) });
    });

    it.each([
      ['another length', '[1, 2]'],
      ['the same length', '[2]'],
    ])('refuses what is not what was put, of %s', async (_, other) => {
      const ref = await payloads.put('[1]');
      await harness.tamper(ref.key, other);
      expect(await payloads.read(ref)).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('is not what was stored'),
      });
    });

    it('has nothing to do with other buckets', async () => {
      const ref = { ...(await payloads.put('3')), bucket: 'somebody-elses' };
      expect(await payloads.read(ref)).toMatchObject({ kind: 'refused' });
      expect(await payloads.presign(ref)).toBeUndefined();
    });

    it('gives an address that anybody can read, as JSON', async () => {
      const address = await payloads.presign(await payloads.put('{"rows":[1,2]}'));
      expect(address).toMatch(/^https?:/);
      if (!harness.isServed) return;
      const answer = await fetch(String(address));
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(await answer.text()).toBe('{"rows":[1,2]}');
    });

    it('takes nothing above 50 MB', async () => {
      await expect(payloads.put('x'.repeat(PAYLOAD_LIMITS.stored + 1))).rejects.toThrow(RangeError);
    });
  });
}
