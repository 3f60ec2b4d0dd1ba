import type { Decision, Flight, RunRecord } from '#domain/run.ts';
import type { RunHeader } from '#ports/index.ts';

/** A moment that every sample begins at (ms since the epoch). */
export const CREATED = Date.UTC(2026, 10, 30, 8, 0, 0, 123);

/** Texts that break stores which build keys, names or pages out of them. */
export const ODD_TEXTS = [
  'rocket 🚀 and family 👩‍👩‍👧',
  '__proto__',
  'constructor',
  'line\u2028and\u2029paragraph',
  '"quoted" \\ and\ttabbed\n',
  'a#b#00001',
  '#',
  '%s {{y}} {% $z %}',
  'Ω≈ç√ ﬀ ạ̈ 中文 עברית',
  ' blank around ',
];

let made = 0;

/** An id that no other sample has: letters of base32 alone, like a real one. */
export function nextId(): string {
  made += 1;
  const digits = made.toString(26).padStart(25, '0');
  return `r${[...digits].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 26))).join('')}`;
}

/** A run under way, with what the test wants to be different. */
export function sampleRun(fields: Partial<RunRecord> = {}): RunRecord {
  return {
    schemaVersion: 1,
    id: nextId(),
    pipeline: 'etl',
    revision: 'rev-1',
    nonce: 'abcdefgh',
    secret: 'c2VjcmV0c2VjcmV0c2VjcmV0',
    rev: 1,
    state: 'RUNNING',
    reason: 'Executing',
    since: CREATED + 5,
    createdAt: CREATED,
    startedAt: CREATED + 5,
    trigger: { type: 'api' },
    tags: [],
    inputHash: 'hash',
    nodes: 'rpp',
    machines: ['arn:aws:states:us-east-1:123456789012:stateMachine:millrace-lambda'],
    flights: [sampleFlight(0)],
    decisions: [sampleDecision(1, [0])],
    announced: { rev: 1, state: 'RUNNING' },
    dueAt: CREATED + 60_000,
    ...fields,
  };
}

/** A confirmed first attempt of a node. */
export function sampleFlight(node: number, fields: Partial<Flight> = {}): Flight {
  return {
    node,
    attempt: 1,
    phase: 'running',
    startedAt: CREATED + 10,
    since: CREATED + 40,
    pollAt: CREATED + 60_000,
    polls: 0,
    machine: 0,
    confirmed: true,
    ...fields,
  };
}

/** The decision that nodes run. */
export function sampleDecision(rev: number, nodes: readonly number[], fields: Partial<Decision> = {}): Decision {
  return { at: CREATED + rev, rev, to: 'r', nodes, attempt: 1, ...fields };
}

/** The line of a run in the list. */
export function sampleHeader(fields: Partial<RunHeader> = {}): RunHeader {
  return {
    id: nextId(),
    pipeline: 'etl',
    revision: 'rev-1',
    rev: 1,
    state: 'RUNNING',
    createdAt: CREATED,
    startedAt: CREATED + 5,
    trigger: { type: 'api' },
    tags: [],
    ...fields,
  };
}
