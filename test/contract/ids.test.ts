import { describe, expect, it } from 'vitest';
import { createNodeIds } from '#adapters/aws/node-ids.ts';
import { createCountingIds } from '#adapters/memory/memory-ids.ts';
import { isRunId, parseExecutionName, toExecutionName } from '#domain/execution-name.ts';
import type { Ids } from '#ports/index.ts';

describe.each<[string, () => Ids]>([
  ['memory', createCountingIds],
  ['Node', createNodeIds],
])('Ids on %s', (_, create) => {
  it('makes run ids and nonces that execution names are built of', () => {
    const ids = create();
    for (let at = 0; at < 200; at++) {
      const key = { run: ids.runId(), nonce: ids.nonce(), node: at, attempt: 1 };
      expect(isRunId(key.run)).toBe(true);
      expect(parseExecutionName('millrace', toExecutionName('millrace', key))).toEqual(key);
    }
  });

  it('never gives one twice', () => {
    const ids = create();
    const made = Array.from({ length: 2_000 }, () => [ids.runId(), ids.nonce(), ids.secret()]).flat();
    expect(new Set(made).size).toBe(made.length);
  });
});

describe('Ids on Node', () => {
  it('makes secrets of 128 bits', () => {
    const secret = createNodeIds().secret();
    expect(Buffer.from(secret, 'base64url')).toHaveLength(16);
    expect(secret).toMatch(/^[A-Za-z0-9_-]{22}$/);
  });
});
