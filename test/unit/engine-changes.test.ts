/** Engines as rules: whatever happens to one, in whatever order, nobody is left with an old word of it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  drainEngine,
  type EngineRegistration,
  isMachineDue,
  noteMachine,
  noteMissingMachine,
  registerEngine,
  reportEngine,
  unregisterEngine,
} from '#domain/engine-changes.ts';
import { type EngineState, engineStatus, type LimitRecord, limitDueAt, noteStatus } from '#domain/limit.ts';
import { isSamePlace, parseStateMachineArn, runStatements } from '#domain/state-machine-arn.ts';

const ARN = 'arn:aws:states:eu-central-1:111122223333:stateMachine:millrace-spark';
const TICK = 60_000;

type Event =
  | { readonly kind: 'put'; readonly wanted: EngineRegistration }
  | { readonly kind: 'drain' | 'remove' | 'report' | 'gone' | 'look' }
  | { readonly kind: 'time'; readonly ms: number };

const registration: fc.Arbitrary<EngineRegistration> = fc.record({
  stateMachineArn: fc.constantFrom(ARN, `${ARN}-2`),
  maxConcurrent: fc.constantFrom(undefined, 1, 9),
  labels: fc.constantFrom([], [['team', 'data']] as [string, string][]),
  heartbeatSeconds: fc.constantFrom(undefined, 10, 600),
});
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), wanted: registration }),
  fc.record({
    kind: fc.constantFrom('drain' as const, 'remove' as const, 'report' as const, 'gone' as const, 'look' as const),
  }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 0, max: 1_000_000 }) }),
);

/** What an event makes of a record, as the commands and the limit pass commit it. */
function play(limit: LimitRecord | undefined, happens: Event, now: number): LimitRecord | undefined {
  if (happens.kind === 'put') return registerEngine(limit, 'spark', happens.wanted, now).limit;
  if (!limit) return undefined;
  if (happens.kind === 'look') return look(limit, now);
  const { engine } = limit;
  if (!engine) return limit;
  switch (happens.kind) {
    case 'drain':
      return drainEngine(limit, engine, now).limit;
    case 'remove':
      return unregisterEngine(limit, now);
    case 'report':
      return reportEngine(limit, engine, now).limit;
    case 'gone':
      return noteMissingMachine(limit, engine.stateMachineArn, now) ?? limit;
    case 'time':
      return limit;
  }
}

/** A pass over the limit: all are told, and the due time is what is left. */
function look(before: LimitRecord, now: number): LimitRecord {
  const { engine } = before;
  const found = engine && isMachineDue(engine, now) ? noteMachine(before, engine, true, now) : before;
  const { ringsWaiting: _rung, tellsPipelines: _told, dueAt: _due, ...told } = noteStatus(found, now);
  const dueAt = limitDueAt(told, now, TICK);
  return dueAt === undefined ? told : { ...told, dueAt };
}

const isTold = ({ ringsWaiting, tellsPipelines }: LimitRecord) => ringsWaiting === true && tellsPipelines === true;

describe('engine changes', () => {
  it('leave the limit due and everybody to be told, whenever its status is another than was told', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let now = 1_800_000_000_000;
        let limit: LimitRecord | undefined;
        for (const happens of events) {
          if (happens.kind === 'time') now += happens.ms;
          limit = play(limit, happens, now);
          if (!limit) continue;
          const status = limit.engine && engineStatus(limit.engine, now).status;
          // What time alone changes is found by whoever comes when the limit is due.
          const isFound = limit.dueAt !== undefined && limit.dueAt <= now;
          if (status !== limit.toldStatus) expect(isFound).toBe(true);
          if (isTold(limit)) expect(isFound).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('count generations by registrations after a removal, and keep holders and the word of the last change', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let now = 1_800_000_000_000;
        let limit: LimitRecord | undefined;
        let generation = 0;
        for (const happens of events) {
          if (happens.kind === 'time') now += happens.ms;
          if (happens.kind === 'put' && !limit?.engine) generation += 1;
          const next = play(limit && { ...limit, holders: HELD }, happens, now);
          if (limit) expect(next?.holders).toEqual(HELD);
          limit = next;
          if (limit?.engine) expect(limit.engine.generation).toBe(generation);
          if (happens.kind === 'put') expect(engineStatus(limit?.engine as EngineState, now).status).toBe('Available');
          if (happens.kind === 'put') expect(limit?.slots).toBe(happens.wanted.maxConcurrent);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('write at most three reports a period, however many come', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 300 }), (gaps) => {
        const wanted = { stateMachineArn: ARN, labels: [], heartbeatSeconds: 60 };
        const beganAt = 1_800_000_000_000;
        let now = beganAt;
        let { limit } = registerEngine(undefined, 'spark', wanted, now);
        let writes = 0;
        for (const gap of gaps) {
          now += gap;
          const change = reportEngine(limit, limit.engine as EngineState, now);
          expect(['reported', 'unchanged']).toContain(change.kind);
          if (change.kind === 'reported') writes += 1;
          ({ limit } = change);
          expect(engineStatus(limit.engine as EngineState, now).status).toBe('Available');
        }
        expect(writes).toBeLessThanOrEqual(Math.floor((now - beganAt) / 20_000));
      }),
    );
  });
});

const HELD = [{ run: 'r', nonce: 'n', pipeline: 'p', granted: 2, returned: 1 }];

describe('state machine ARNs', () => {
  it.each([
    [ARN, { partition: 'aws', region: 'eu-central-1', account: '111122223333', name: 'millrace-spark' }],
    [`${ARN}:PROD`, expect.objectContaining({ name: 'millrace-spark', qualifier: 'PROD' })],
    [ARN.replace('arn:aws:', 'arn:aws-cn:'), expect.objectContaining({ partition: 'aws-cn' })],
  ])('reads %s', (arn, parts) => {
    expect(parseStateMachineArn(arn)).toEqual(parts);
  });

  it.each([
    '',
    'x',
    ARN.replace('states', 'lambda'),
    ARN.replace('stateMachine', 'execution'),
    ARN.replace('111122223333', '1'),
    `${ARN}:a:b`,
    `${ARN} `,
    `${ARN}\n`,
    `arn:aws:states:eu-central-1:111122223333:stateMachine:*`,
    `arn:aws:states:eu-central-1:111122223333:stateMachine:${'x'.repeat(81)}`,
  ])('reads nothing from %j', (arn) => {
    expect(parseStateMachineArn(arn)).toBeUndefined();
  });

  it('knows another place, and grants just the one machine and our executions on it', () => {
    const machine = parseStateMachineArn(`${ARN}:PROD`);
    const other = parseStateMachineArn(ARN.replace('eu-central-1', 'us-east-1'));
    if (!machine || !other) throw new Error('not read');
    expect([isSamePlace(machine, machine), isSamePlace(machine, other)]).toEqual([true, false]);
    expect(runStatements(machine, 'etl').flatMap(({ Resource }) => Resource)).toEqual([
      ARN,
      `${ARN}:*`,
      'arn:aws:states:eu-central-1:111122223333:execution:millrace-spark:etl-*',
    ]);
  });
});
