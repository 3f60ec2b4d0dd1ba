import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Decision, type Flight, RUN_SCHEMA_VERSION, type RunRecord } from '#domain/run.ts';
import {
  DamagedRunError,
  NewerRunError,
  packDecisions,
  packRun,
  unpackDecisions,
  unpackRun,
} from '#domain/run-codec.ts';

const CREATED = 1_800_000_000_000;
const time = fc.integer({ min: CREATED, max: CREATED + 10 ** 10 });
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const error = fc.record({ name: text, message: text });

const flight: fc.Arbitrary<Flight> = fc.record(
  {
    node: fc.nat(9_999),
    attempt: fc.integer({ min: 1, max: 10_000 }),
    phase: fc.constantFrom('starting', 'running', 'stopping', 'retry'),
    startedAt: time,
    since: time,
    pollAt: time,
    polls: fc.nat(40),
    machine: fc.nat(3),
    confirmed: fc.boolean(),
    ending: fc.constantFrom('Stopped', 'FailFast', 'RunTimedOut', 'TimedOut', 'EngineError', 'Marked'),
    error,
    missingSince: time,
    throttled: fc.constant(true),
    prompt: text,
    answer: fc.record(
      { at: time, approve: fc.boolean(), output: text, by: text, comment: text },
      { requiredKeys: ['at', 'approve'] },
    ),
  },
  { requiredKeys: ['node', 'attempt', 'phase', 'startedAt', 'since', 'pollAt', 'polls', 'machine', 'confirmed'] },
);

const decision: fc.Arbitrary<Decision> = fc.record(
  {
    at: time,
    rev: fc.nat(),
    to: fc.constantFrom('S', 'F', 'r', 'w', 'run'),
    nodes: fc.uniqueArray(fc.nat(9_999), { maxLength: 20 }).map((nodes) => nodes.sort((a, b) => a - b)),
    attempt: fc.nat(100),
    state: fc.constantFrom('RUNNING', 'ABORTED'),
    reason: fc.constantFrom('Executing', 'Stopped'),
    error,
    by: text,
    note: text,
  },
  { requiredKeys: ['at', 'rev', 'to', 'nodes', 'attempt'] },
);

const run: fc.Arbitrary<RunRecord> = fc.record(
  {
    schemaVersion: fc.constant(1),
    id: fc.constant('a'.repeat(26)),
    pipeline: text,
    revision: text,
    nonce: text,
    secret: text,
    rev: fc.nat(),
    state: fc.constantFrom('QUEUED', 'RUNNING', 'STOPPING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'),
    reason: fc.constantFrom('Executing', 'Completed', 'NodeFailed'),
    since: time,
    createdAt: fc.constant(CREATED),
    startedAt: time,
    endedAt: time,
    trigger: fc.record({ type: fc.constantFrom('api', 'event'), by: text }, { requiredKeys: ['type'] }),
    tags: fc.array(fc.tuple(text, text), { maxLength: 3 }),
    inputHash: text,
    nodes: fc
      .array(fc.constantFrom('p', 'q', 'r', 'S', 'F', 'U'), { maxLength: 50 })
      .map((letters) => letters.join('')),
    machines: fc.array(text, { maxLength: 2 }),
    flights: fc.array(flight, { maxLength: 5 }),
    marks: fc.array(
      fc.record(
        {
          node: fc.nat(9_999),
          state: fc.constantFrom('SUCCEEDED', 'FAILED', 'SKIPPED'),
          at: time,
          output: text,
          by: text,
          note: text,
        },
        { requiredKeys: ['node', 'state', 'at'] },
      ),
      { maxLength: 3 },
    ),
    deleted: fc.record({ at: time, by: text }, { requiredKeys: ['at'] }),
    stop: fc.record(
      { kind: fc.constantFrom('user', 'timeout', 'failFast'), at: time, by: text },
      { requiredKeys: ['kind', 'at'] },
    ),
    firstBad: fc.record({ node: fc.nat(9_999), error }),
    error,
    outputKey: text,
    watchedUntil: time,
    decisions: fc.array(decision, { maxLength: 5 }),
    announced: fc.record({ rev: fc.nat(), state: fc.constantFrom('QUEUED', 'RUNNING', 'FAILED') }),
    dueAt: time,
  },
  {
    requiredKeys: [
      'schemaVersion',
      'id',
      'pipeline',
      'revision',
      'nonce',
      'secret',
      'rev',
      'state',
      'reason',
      'since',
      'createdAt',
      'trigger',
      'tags',
      'inputHash',
      'nodes',
      'machines',
      'flights',
      'decisions',
      'announced',
    ],
  },
);

describe('packRun and unpackRun', () => {
  it('give back every field of every run', () => {
    fc.assert(
      fc.property(run, (record) => {
        expect(unpackRun(packRun(record))).toEqual(record);
      }),
    );
  });

  it('keep decisions of the history as they were', () => {
    fc.assert(
      fc.property(fc.array(decision), (all) => {
        expect(unpackDecisions(packDecisions(all, CREATED), CREATED)).toEqual(all);
      }),
    );
  });

  it('tell a damaged record by its own error, whatever is wrong with it', () => {
    const good = packRun(fc.sample(run, 1)[0] as RunRecord);
    const bodies = [
      '',
      'null',
      '{}',
      '[]',
      good.body.slice(0, -1),
      good.body.replace('"x":"', '"x":"!'),
      `${good.body}x`,
    ];
    for (const body of bodies) expect(() => unpackRun({ ...good, body }), body).toThrow(DamagedRunError);
  });

  it('leave a record of newer code to newer code', () => {
    const good = packRun(fc.sample(run, 1)[0] as RunRecord);
    expect(() => unpackRun({ ...good, schemaVersion: 2 })).toThrow(NewerRunError);
  });

  it('are written with the number of the layout that they have, whichever they were read from', () => {
    const old = { ...(fc.sample(run, 1)[0] as RunRecord), schemaVersion: 0 };
    expect(packRun(old).schemaVersion).toBe(RUN_SCHEMA_VERSION);
  });
});
