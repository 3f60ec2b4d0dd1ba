/** Runs of deterministic data in the states that a run goes through, as a pass would have left them. */
import { createHash } from 'node:crypto';
import type { Decision, Flight, RunRecord } from '#domain/run.ts';

/** Decisions that stay in the aggregate. */
const KEPT_DECISIONS = 20;
const CREATED = Date.UTC(2026, 10, 30, 8, 0, 0, 123);

/** A state of a run that the size of its aggregate depends on. */
export interface Stage {
  readonly name: string;
  /** Part of the nodes that are over. */
  readonly done: number;
  /** Attempts in flight, as far as the run has that many open nodes. */
  readonly flights: number;
  /** Part of the nodes that are over and failed; each with a message of its own. */
  readonly failed: number;
  /** Nodes end in no order at all, the worst case for the vector. @default false: in topological order */
  readonly isScattered?: boolean;
}

/** The stages that the table shows. */
export const STAGES: readonly Stage[] = [
  { name: 'fresh', done: 0, flights: 0, failed: 0 },
  { name: 'first starts', done: 0, flights: 5, failed: 0 },
  { name: '50 at once', done: 0, flights: 50, failed: 0 },
  { name: 'middle, few flights', done: 0.5, flights: 5, failed: 0 },
  { name: 'middle, 50 flights', done: 0.4, flights: 50, failed: 0 },
  { name: 'middle, 500 flights', done: 0.4, flights: 500, failed: 0 },
  { name: 'all done', done: 1, flights: 0, failed: 0 },
  { name: 'middle, many failed', done: 0.6, flights: 5, failed: 0.3 },
  { name: 'middle, scattered', done: 0.5, flights: 0, failed: 0, isScattered: true },
  { name: 'middle, scattered, many failed', done: 0.5, flights: 0, failed: 0.3, isScattered: true },
  { name: 'all done, many failed', done: 1, flights: 0, failed: 0.3 },
];

/** A number from 0 to below `below` that depends on its arguments alone. */
function pick(seed: string, below: number): number {
  return createHash('sha256').update(seed).digest().readUInt32BE(0) % below;
}

function letters(seed: string, length: number): string {
  const bytes = createHash('sha256').update(seed).digest();
  return Array.from({ length }, (_, at) => 'abcdefghijklmnopqrstuvwxyz234567'[(bytes[at] as number) % 32]).join('');
}

/** A run of so many nodes in a stage. */
export function runAt(nodes: number, stage: Stage): RunRecord {
  const over = Math.floor(nodes * stage.done);
  const failed = new Set<number>();
  for (let node = 0; node < over; node++) if (pick(`failed ${node}`, 1_000) < stage.failed * 1_000) failed.add(node);
  const inFlight = Math.min(stage.flights, nodes - over);
  const vector = Array.from({ length: nodes }, (_, node) => {
    const isOver = stage.isScattered ? pick(`over ${node}`, 1_000) < stage.done * 1_000 : node < over;
    if (isOver) return failed.has(node) ? 'F' : 'S';
    if (stage.isScattered) return 'p';
    return node < over + inFlight ? 'r' : 'p';
  });
  const decisions = decisionsOf(over, inFlight, failed);
  const firstBad = [...failed][0];
  const isOver = over === nodes;
  return {
    schemaVersion: 1,
    id: letters(`run ${nodes}`, 26),
    pipeline: 'nightly-load',
    revision: letters('revision', 16),
    nonce: letters('nonce', 8),
    secret: createHash('sha256').update('secret').digest().subarray(0, 16).toString('base64url'),
    rev: decisions.at(-1)?.rev ?? 0,
    state: isOver ? (failed.size > 0 ? 'FAILED' : 'SUCCEEDED') : stage.name === 'fresh' ? 'QUEUED' : 'RUNNING',
    reason: isOver ? 'Completed' : 'Executing',
    since: CREATED + 84,
    createdAt: CREATED,
    startedAt: CREATED + 84,
    ...(isOver && { endedAt: CREATED + nodes * 311 }),
    trigger: { type: 'schedule' },
    tags: [['team', 'data']],
    inputHash: createHash('sha256').update('input').digest('base64url'),
    nodes: vector.join(''),
    machines: ['arn:aws:states:eu-central-1:123456789012:stateMachine:millrace-lambda'],
    flights: Array.from({ length: inFlight }, (_, at) => flightOf(over + at)),
    ...(firstBad !== undefined && { firstBad: { node: firstBad, error: errorOf(firstBad) } }),
    decisions,
    announced: { rev: 1, state: 'RUNNING' },
    ...(!isOver && { dueAt: CREATED + 60_000 }),
  };
}

function flightOf(node: number): Flight {
  const startedAt = CREATED + node * 311 + pick(`start ${node}`, 300);
  return {
    node,
    attempt: 1,
    phase: 'running',
    startedAt,
    since: startedAt + 20 + pick(`confirmed ${node}`, 60),
    pollAt: Math.floor((startedAt + 60_000) / 60_000) * 60_000,
    polls: 0,
    machine: 0,
    confirmed: true,
  };
}

function errorOf(node: number) {
  return {
    name: 'States.TaskFailed',
    message: `cannot load part ${node}: row ${pick(`row ${node}`, 1e6)} of s3://bucket/${letters(`${node}`, 12)} has no date`,
  };
}

/** One decision for each of the last nodes that ended, and for the start of the next. */
function decisionsOf(over: number, inFlight: number, failed: ReadonlySet<number>): Decision[] {
  const decisions: Decision[] = [];
  for (let node = Math.max(0, over - KEPT_DECISIONS / 2); node < over; node++) {
    const at = CREATED + node * 311 + 290 + pick(`end ${node}`, 200);
    const error = failed.has(node) ? errorOf(node) : undefined;
    decisions.push(
      { at, rev: node + 2, to: error ? 'F' : 'S', nodes: [node], attempt: 1, ...(error && { error }) },
      { at, rev: node + 2, to: 'r', nodes: [node + 1], attempt: 1 },
    );
  }
  if (over > 0 || inFlight === 0) return decisions;
  const nodes = Array.from({ length: inFlight }, (_, at) => at);
  return [{ at: CREATED + 84, rev: 1, to: 'r', nodes, attempt: 1 }];
}
