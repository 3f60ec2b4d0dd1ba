/** The start of an attempt: with an execution, with none where its engine needs none, or not at all. */
import { promptOf } from './approvals.ts';
import { applyChoice } from './branches.ts';
import { APPROVALS_ARN, PASS_ARN } from './built-in-engines.ts';
import { type Draft, decideItem, decideNode, flightKey, putFlight } from './draft.ts';
import { nextPollAt } from './due.ts';
import { evaluated } from './evaluated.ts';
import type { CompiledNode } from './graph.ts';
import type { Json } from './json.ts';
import { takeNext } from './map-places.ts';
import { settleItem } from './maps.ts';
import type { NodeCode } from './node-status.ts';
import type { Place } from './places.ts';
import type { ErrorInfo, Flight } from './run.ts';
import { keepSlots, useSlot } from './run-limits.ts';

interface Attempt {
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
}

/** What became of an attempt: it is under way, it needs an evaluation first, or it is over without having been. */
export type Started = 'started' | 'wanted' | 'over';

/** Starts an attempt once its parameters are known; parameters that fail, fail it without an execution. */
export function startAttempt(draft: Draft, node: CompiledNode, attempt: Attempt, place: Place): Started {
  if (node.cache && attempt.attempt === 1) {
    const found = takeFromCache(draft, node, attempt);
    if (found === 'wanted') keepPlace(place);
    if (found) return found;
  }
  const params = evaluated(draft, 'params', attempt);
  if (!params) {
    keepPlace(place);
    return 'wanted';
  }
  if (!params.ok) return failBeforeStart(draft, attempt, params.error);
  if (place.machineArn === PASS_ARN) return passBy(draft, node, attempt);
  if (place.machineArn === APPROVALS_ARN) return ask(draft, node, attempt, params.value);
  place.slots.forEach(useSlot);
  beginAttempt(draft, attempt, place.machineArn, {
    phase: 'starting',
    pollAt: nextPollAt(draft.now, 0, draft.options),
    confirmed: false,
  });
  draft.commands.push({ kind: 'start', ...attempt });
  return 'started';
}

/** What is only wanted has its slots all the same, until the commit that can start it. */
function keepPlace({ slots }: Place): void {
  for (const one of slots) keepSlots(one, 1);
}

function beginAttempt(
  draft: Draft,
  attempt: Attempt,
  machineArn: string,
  flight: Pick<Flight, 'phase' | 'pollAt' | 'confirmed' | 'prompt'>,
): void {
  takeItem(draft, attempt);
  let machine = draft.machines.indexOf(machineArn);
  if (machine < 0) machine = draft.machines.push(machineArn) - 1;
  if (attempt.item === undefined) decideNode(draft, attempt.node, 'r', attempt.attempt);
  else decideItem(draft, attempt, 'r');
  putFlight(draft, { ...attempt, startedAt: draft.now, since: draft.now, polls: 0, machine, ...flight });
}

function failBeforeStart(draft: Draft, attempt: Attempt, error: ErrorInfo): 'over' {
  takeItem(draft, attempt);
  settleBeforeStart(draft, attempt, error.name === 'Millrace.PayloadTooLarge' ? 'G' : 'X', error);
  return 'over';
}

/** An attempt of the engine `pass` is over at once: its output was stored when its parameters were evaluated. */
function passBy(draft: Draft, node: CompiledNode, attempt: Attempt): Started {
  const choice = node.branch === undefined ? undefined : evaluated(draft, 'branch', attempt);
  if (node.branch !== undefined && !choice) return 'wanted';
  takeItem(draft, attempt);
  const error = choice && applyChoice(draft, node, choice);
  settleBeforeStart(draft, attempt, error ? 'X' : 'S', error);
  return 'over';
}

/** An attempt of the engine `approval` waits for its answer until its time is over, and is looked at only then. */
function ask(draft: Draft, node: CompiledNode, attempt: Attempt, params: Json): Started {
  const asked = promptOf(params);
  if ('error' in asked) return failBeforeStart(draft, attempt, asked.error);
  beginAttempt(draft, attempt, APPROVALS_ARN, {
    phase: 'running',
    pollAt: draft.now + node.timeoutMs,
    confirmed: true,
    prompt: asked.prompt,
  });
  return 'started';
}

/** Ends an attempt that an earlier success makes needless; nothing where there is none, and it has to be started. */
function takeFromCache(draft: Draft, node: CompiledNode, attempt: Attempt): 'wanted' | 'over' | undefined {
  const known = evaluated(draft, 'cache', attempt);
  if (!known) return 'wanted';
  if (known.ok && known.value !== true) return undefined;
  const found = { ...attempt, attempt: 0 };
  const choice = known.ok && node.branch !== undefined ? evaluated(draft, 'branch', found) : undefined;
  if (known.ok && node.branch !== undefined && !choice) return 'wanted';
  takeItem(draft, attempt);
  const error = known.ok ? choice && applyChoice(draft, node, choice) : known.error;
  if (error) settleBeforeStart(draft, attempt, 'X', error);
  else settleBeforeStart(draft, found, 'C');
  return 'over';
}

/** Takes an item off the list, unless it was taken before, for an earlier attempt. */
function takeItem(draft: Draft, { node, item }: Attempt): void {
  const map = draft.maps.get(node);
  if (map && item === map.next) draft.maps.set(node, takeNext(map));
}

/** Ends a node, or an item of a map, of which no execution is started. */
function settleBeforeStart(draft: Draft, attempt: Attempt, to: NodeCode, error?: ErrorInfo): void {
  const { node, item } = attempt;
  draft.flights.delete(flightKey(attempt));
  if (item === undefined) {
    decideNode(draft, node, to, attempt.attempt, error);
    return;
  }
  decideItem(draft, attempt, to, error);
  settleItem(draft, { node, item }, to, error);
}
