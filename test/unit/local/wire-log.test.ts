import { describe, expect, it } from 'vitest';
import { costOf } from '#local/aws-prices.ts';
import { createWireLog } from '#local/wire-log.ts';

describe('createWireLog', () => {
  it('counts calls and quantities, and tells what came after a snapshot', () => {
    const log = createWireLog();
    log.call('dynamodb', 'PutItem');
    log.call('states', 'StartExecution', 2);
    log.count('writeUnits', 3);
    const before = log.snapshot();
    log.call('dynamodb', 'PutItem');
    log.call('sqs', 'SendMessage');
    log.count('transitions');
    log.invocation('api', { billedMs: 10.2, memoryMb: 512 });
    expect(before).toMatchObject({ writeUnits: 3, calls: { dynamodb: { PutItem: 1 }, states: { StartExecution: 2 } } });
    expect(log.since(before)).toEqual({
      writeUnits: 0,
      readUnits: 0,
      transitions: 1,
      events: 0,
      queueRequests: 0,
      messages: 0,
      invocations: 1,
      billedMs: 11,
      gigabyteMs: 5.5,
      httpRequests: 0,
      objectWrites: 0,
      objectReads: 0,
      calls: { dynamodb: { PutItem: 1 }, sqs: { SendMessage: 1 }, lambda: { api: 1 } },
    });
  });
});

describe('costOf', () => {
  it('prices counted calls from the list', () => {
    const log = createWireLog();
    log.count('writeUnits', 1_000_000);
    log.count('readUnits', 2_000_000);
    log.count('transitions', 1000);
    log.count('invocations', 1_000_000);
    log.count('gigabyteMs', 1_000_000);
    log.count('events', 500_000);
    log.count('queueRequests', 1_000_000);
    log.count('httpRequests', 100_000);
    log.count('objectWrites', 10_000);
    log.count('objectReads', 1_000);
    const { dollars, lines } = costOf(log.snapshot(), { logBytes: 2e9, storedByteMonths: 1e9 });
    const expected = [0.625, 0.25, 0.025, 0.2, 0.0133334, 0.5, 0.4, 0.1, 0.05, 0.0004, 1, 0.45];
    expect(lines.map((line) => line.dollars)).toEqual(expected.map((price) => expect.closeTo(price, 9)));
    expect(dollars).toBeCloseTo(
      expected.reduce((sum, price) => sum + price, 0),
      9,
    );
  });
});
