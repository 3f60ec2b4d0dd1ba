/** The sweep: decides nodes whose upstreams allow it, in topological order, and starts what is ready. */
import { type Draft, decideNode, putFlight } from './draft.ts';
import { nextPollAt } from './due.ts';
import { type Evaluation, evaluationKey } from './facts.ts';
import type { CompiledNode } from './graph.ts';
import type { Json } from './json.ts';
import { byteOf, type NodeCode, statusOf } from './node-status.ts';
import type { ErrorInfo, Flight } from './run.ts';
import { decideTrigger, type UpstreamCounts } from './trigger.ts';

const PENDING = byteOf('p');
const READY = byteOf('q');
const CONDITION_PASSED = byteOf('y');
const NO_ENGINE = byteOf('n');
const RETRY_WAIT = byteOf('w');

/** Marks every node that nothing stands above, or that runs whatever stands above it: the beginning of a run. */
export function markBeginnings(draft: Draft): void {
  for (const node of draft.pipeline.nodes) {
    if (node.upstreams.length === 0 || node.trigger === 'always') draft.dirty[node.index] = 1;
  }
}

/**
 * One pass over the nodes. Since they stand in topological order, a node that is decided here marks only nodes that
 * are still to come, so one pass settles every consequence.
 */
export function sweep(draft: Draft): void {
  let handled = 0;
  for (const node of draft.pipeline.nodes) {
    if (draft.dirty[node.index] === 1 && draft.nodes[node.index] === PENDING) applyTrigger(draft, node);
    if (!isStartable(draft, node.index)) continue;
    if (handled >= draft.options.maxDecisions) {
      draft.again = true;
      continue;
    }
    if (advance(draft, node)) handled += 1;
  }
}

function isStartable(draft: Draft, index: number): boolean {
  const byte = draft.nodes[index];
  if (byte === READY || byte === CONDITION_PASSED || byte === NO_ENGINE) return true;
  return byte === RETRY_WAIT && (draft.flights.get(index) as Flight).pollAt <= draft.now;
}

function applyTrigger(draft: Draft, node: CompiledNode): void {
  switch (decideTrigger(node.trigger, countUpstreams(draft, node))) {
    case 'wait':
      return;
    case 'run':
      decideNode(draft, node.index, 'q');
      return;
    case 'skip':
      decideNode(draft, node.index, 'k');
      return;
    case 'upstreamFailed':
      decideNode(draft, node.index, upstreamFailedCode(draft, node));
  }
}

function countUpstreams(draft: Draft, node: CompiledNode): UpstreamCounts {
  const counts = { total: node.upstreams.length, success: 0, skipped: 0, bad: 0, stopped: 0 };
  for (const upstream of node.upstreams) {
    const standing = statusOf(draft.nodes[upstream] as number).standing;
    if (standing !== 'open') counts[standing] += 1;
  }
  return counts;
}

/** Whether the failures above a node were all allowed, in which case it does not fail the run either. */
function upstreamFailedCode(draft: Draft, node: CompiledNode): NodeCode {
  for (const upstream of node.upstreams) {
    const byte = draft.nodes[upstream] as number;
    if (statusOf(byte).standing !== 'bad' || byte === byteOf('u')) continue;
    if (!(draft.pipeline.nodes[upstream] as CompiledNode).allowFailure) return 'U';
  }
  return 'u';
}

/** Takes a ready node as far as it goes: condition, engine, parameters, start. Tells whether that cost a decision. */
function advance(draft: Draft, node: CompiledNode): boolean {
  const byte = draft.nodes[node.index];
  if (byte === READY && node.when !== undefined) {
    const condition = evaluated(draft, node, 'when', 1);
    if (!condition) return true;
    if (!applyCondition(draft, node, node.when, condition)) return true;
  }
  const engine = draft.facts.engines.get(node.engine);
  if (!engine) {
    if (byte === READY || byte === CONDITION_PASSED) decideNode(draft, node.index, 'n');
    return false;
  }
  const failed = draft.flights.get(node.index);
  if (!failed && draft.flights.size >= draft.options.maxFlights) {
    if (draft.nodes[node.index] !== CONDITION_PASSED) decideNode(draft, node.index, 'y');
    return false;
  }
  const attempt = failed ? failed.attempt + 1 : 1;
  const params = evaluated(draft, node, 'params', attempt);
  if (!params) return true;
  if (params.ok) start(draft, node, attempt, engine.stateMachineArn);
  else failBeforeStart(draft, node, attempt, params.error);
  return true;
}

/** A condition must give true or false; nothing else is taken for either. */
function applyCondition(draft: Draft, node: CompiledNode, expression: string, condition: Evaluation): boolean {
  if (!condition.ok) {
    decideNode(draft, node.index, 'X', 0, condition.error);
    return false;
  }
  if (condition.value === true) return true;
  if (condition.value === false) decideNode(draft, node.index, 'K');
  else decideNode(draft, node.index, 'X', 0, notBoolean(expression, condition.value));
  return false;
}

function notBoolean(expression: string, value: Json): ErrorInfo {
  const shown = JSON.stringify(value).slice(0, 100);
  return { name: 'Millrace.ExpressionError', message: `when ${expression} must give true or false, it gave ${shown}` };
}

/** The evaluation asked for, if this step has it; else it is put on the list of what is wanted. */
function evaluated(draft: Draft, node: CompiledNode, what: 'when' | 'params', attempt: number): Evaluation | undefined {
  const key = evaluationKey(what, node.index, attempt);
  const known = draft.facts.evaluations?.get(key);
  if (known) return known;
  if (draft.facts.evaluationsClosed) draft.again = true;
  else draft.wanted.push({ key, what, node: node.index, attempt, at: draft.now });
  return undefined;
}

function failBeforeStart(draft: Draft, node: CompiledNode, attempt: number, error: ErrorInfo): void {
  draft.flights.delete(node.index);
  decideNode(draft, node.index, error.name === 'Millrace.PayloadTooLarge' ? 'G' : 'X', attempt, error);
}

function start(draft: Draft, node: CompiledNode, attempt: number, stateMachineArn: string): void {
  let machine = draft.machines.indexOf(stateMachineArn);
  if (machine < 0) machine = draft.machines.push(stateMachineArn) - 1;
  decideNode(draft, node.index, 'r', attempt);
  putFlight(draft, {
    node: node.index,
    attempt,
    phase: 'starting',
    startedAt: draft.now,
    since: draft.now,
    pollAt: nextPollAt(draft.now, 0, draft.options),
    polls: 0,
    machine,
    confirmed: false,
  });
  draft.commands.push({ kind: 'start', node: node.index, attempt });
}
