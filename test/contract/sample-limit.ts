import type { LimitHolder, LimitRecord, WaitingRun } from '#domain/limit.ts';
import { CREATED, nextId } from './sample-run.ts';

/** Names that a definition may give, and that a store could trip over; in the order of lists. */
export const ODD_NAMES = ['-', '.', '0', 'A', 'B', '__proto__', 'a', 'a-', 'a-b', 'a.b', 'a0', 'ab', 'constructor'];

/** A pool of four slots, with what the test wants to be different. */
export function sampleLimit(fields: Partial<LimitRecord> = {}): LimitRecord {
  return { name: 'pool/db', rev: 1, slots: 4, holders: [], ...fields };
}

/** A run that holds a slot. */
export function sampleHolder(fields: Partial<LimitHolder> = {}): LimitHolder {
  return { run: nextId(), nonce: 'abcdefgh', pipeline: 'etl', granted: 3, returned: 2, ...fields };
}

/** An engine in which everything is filled in. */
export function fullEngine(fields: Partial<LimitRecord> = {}): LimitRecord {
  return {
    name: 'engine/spark',
    rev: 7,
    slots: 10,
    pausedAt: CREATED + 3,
    engine: {
      generation: 2,
      stateMachineArn: 'arn:aws:states:eu-central-1:123456789012:stateMachine:millrace-spark',
      labels: [
        ['team', 'data 🚀'],
        ['__proto__', ''],
      ],
      paramsSchema: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"n":{"minimum":1e-7}}}'),
      heartbeatSeconds: 30,
      lastHeartbeatAt: CREATED + 1,
      isDraining: true,
      trouble: 'the state machine is gone: "x"\u2028',
      updatedAt: CREATED,
    },
    generations: 2,
    holders: [sampleHolder(), sampleHolder({ unheard: true, granted: 1, returned: 0, pipeline: 'other' })],
    lastServed: 'etl',
    ringsWaiting: true,
    tellsPipelines: true,
    dueAt: CREATED + 60_000,
    ...fields,
  };
}

/** A run that waits for a slot. */
export function sampleRow(fields: Partial<WaitingRun> = {}): WaitingRun {
  return {
    limit: 'pool/db',
    pipeline: 'etl',
    priority: 0,
    since: CREATED,
    run: nextId(),
    nonce: 'abcdefgh',
    rev: 4,
    taken: 1,
    wants: 3,
    ...fields,
  };
}
