/** The working copy of one step: a run being changed, and what the change asks for. Used by the files of `step` alone. */
import type { Command, Facts, Wanted } from './facts.ts';
import type { CompiledNode, CompiledPipeline } from './graph.ts';
import type { Json } from './json.ts';
import { byteOf, isTerminal, type NodeCode, statusOf } from './node-status.ts';
import type { Reason } from './reasons.ts';
import type {
  Decision,
  ErrorInfo,
  Flight,
  MapState,
  NodeMark,
  QueuedNode,
  RunRecord,
  RunStateName,
  StopOrder,
} from './run.ts';
import type { Slots } from './run-limits.ts';
import { openWatch } from './watch.ts';

/** Times and bounds that a step is given; all of them are the same for every run of an installation. */
export interface StepOptions {
  /** Time between two ticks (ms). */
  readonly tickMs: number;
  /** P: the time limit of a pass (ms). */
  readonly passMs: number;
  /** Nodes that a commit may start or evaluate. */
  readonly maxDecisions: number;
  /** Attempts of a run in flight or in retry wait. */
  readonly maxFlights: number;
  /** How long an execution that ignores StopExecution is waited for (ms). */
  readonly stopGraceMs: number;
}

/** The bounds of DESIGN ("Wide runs", "Fence") with a tick of a minute. */
export const DEFAULT_STEP_OPTIONS: StepOptions = {
  tickMs: 60_000,
  passMs: 30_000,
  maxDecisions: 200,
  maxFlights: 500,
  stopGraceMs: 600_000,
};

/** More than any index of a node, so that keys of flights never meet. */
const NODE_SPAN = 16_384;

/** Longest error message kept in a run, in UTF-16 units; the full one is in the attempt's result. */
const MAX_ERROR_MESSAGE = 300;

/** A run in the making. */
export interface Draft {
  readonly pipeline: CompiledPipeline;
  readonly before: RunRecord;
  readonly facts: Facts;
  /** Read after the facts (ms since the epoch). */
  readonly now: number;
  /** Read before the facts (ms since the epoch). */
  readonly readAt: number;
  readonly options: StepOptions;
  readonly nodes: Uint8Array;
  /** By {@link flightKey}. */
  readonly flights: Map<number, Flight>;
  readonly maps: Map<number, MapState>;
  /** Chosen downstreams by branch node. */
  readonly branches: Map<number, ReadonlySet<number>>;
  readonly queued: Map<number, QueuedNode>;
  /** By node. */
  readonly marks: Map<number, NodeMark>;
  /** JSON texts that have to be stored before the commit, by key. */
  readonly values: Map<string, string>;
  /** Lists of maps that got them in this step. */
  readonly lists: Map<number, readonly Json[]>;
  /** Nodes that have an upstream that was decided in this step. */
  readonly dirty: Uint8Array;
  readonly decisions: Map<string, Decision & { readonly nodes: number[]; readonly items?: number[] }>;
  readonly commands: Command[];
  readonly wanted: Wanted[];
  /** Limits that have to be read before the step can decide. */
  readonly unread: Set<string>;
  /** Slots of limits that were looked at, by name of the limit. */
  readonly slots: Map<string, Slots>;
  readonly machines: string[];
  state: RunStateName;
  reason: Reason;
  stop: StopOrder | undefined;
  watchedUntil: number | undefined;
  deleted: RunRecord['deleted'];
  firstBad: { readonly node: number; readonly error: ErrorInfo } | undefined;
  error: ErrorInfo | undefined;
  /** Results that could not be folded, since an evaluation that they need could not be had. */
  unfolded: number;
  /** Something is left that another pass could do at once. */
  again: boolean;
  changed: boolean;
  /** The command took effect. */
  taken: boolean;
  /** What limits know was taken note of; nobody else has to hear of that. */
  hasAcknowledged: boolean;
}

/** Copies a run for a step. */
export function toDraft(
  pipeline: CompiledPipeline,
  run: RunRecord,
  facts: Facts,
  clock: { readonly now: number; readonly readAt: number },
  options: StepOptions,
): Draft {
  return {
    pipeline,
    before: run,
    facts,
    now: clock.now,
    readAt: clock.readAt,
    options,
    nodes: new Uint8Array(Buffer.from(run.nodes, 'latin1')),
    flights: new Map(run.flights.map((flight) => [flightKey(flight), flight])),
    maps: new Map(run.maps?.map((map) => [map.node, map])),
    branches: new Map(run.branches?.map(({ node, chosen }) => [node, new Set(chosen)])),
    queued: new Map(run.queued?.map((entry) => [entry.node, entry])),
    marks: new Map(run.marks?.map((mark) => [mark.node, mark])),
    values: new Map(),
    lists: new Map(),
    dirty: new Uint8Array(run.nodes.length),
    decisions: new Map(),
    commands: [],
    wanted: [],
    unread: new Set(),
    slots: new Map(),
    machines: [...run.machines],
    state: run.state,
    reason: run.reason,
    stop: run.stop,
    watchedUntil: openWatch(run, clock.now),
    deleted: run.deleted,
    firstBad: run.firstBad,
    error: run.error,
    unfolded: 0,
    again: false,
    changed: false,
    taken: false,
    hasAcknowledged: false,
  };
}

/** The key of a flight among a run's: a node has one, or one for each of its items. */
export function flightKey(flight: { readonly node: number; readonly item?: number | undefined }): number {
  return flight.item === undefined ? flight.node : (flight.item + 1) * NODE_SPAN + flight.node;
}

/** Whether a flight is of this very attempt. */
export function isFlightOf(
  flight: Flight,
  key: { readonly node: number; readonly item?: number | undefined; readonly attempt: number },
): boolean {
  return flightKey(flight) === flightKey(key) && flight.attempt === key.attempt;
}

/** The flights of a node: one at most, or those of its items. */
export function flightsOf(draft: Draft, node: number): Flight[] {
  if (!draft.maps.has(node)) {
    const flight = draft.flights.get(node);
    return flight ? [flight] : [];
  }
  return [...draft.flights.values()].filter((flight) => flight.node === node);
}

/** Gives a node its new status, records the decision, and marks the nodes below it where it is now terminal. */
export function decideNode(
  draft: Draft,
  node: number,
  to: NodeCode,
  attempt = 0,
  error?: ErrorInfo,
  asked?: Asked,
): void {
  if (isTerminal(draft.nodes[node] as number)) throw new Error(`node ${node} is terminal and cannot become ${to}`);
  draft.nodes[node] = byteOf(to);
  draft.changed = true;
  if (statusOf(to).state !== 'QUEUED') draft.queued.delete(node);
  recordDecision(draft, to, { node, attempt }, error, asked);
  if (!isTerminal(to)) return;
  const compiled = draft.pipeline.nodes[node] as CompiledNode;
  for (const downstream of compiled.downstreams) draft.dirty[downstream] = 1;
  if (statusOf(to).standing === 'bad') noteBad(draft, compiled, to, error);
}

/** Records what was decided about an item of a map. */
export function decideItem(draft: Draft, flight: AttemptKey, to: NodeCode, error?: ErrorInfo, asked?: Asked): void {
  draft.changed = true;
  recordDecision(draft, to, flight, error, asked);
}

/** Which attempt a decision is about. */
interface AttemptKey {
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
}

/** Who asked for a decision, and what they said about it. */
interface Asked {
  readonly by?: string;
  readonly note?: string;
}

function recordDecision(
  draft: Draft,
  to: NodeCode,
  about: AttemptKey,
  error: ErrorInfo | undefined,
  { by, note }: Asked = {},
): void {
  const { node, item, attempt } = about;
  const isOwn = error !== undefined || by !== undefined || note !== undefined;
  const place = item === undefined ? `${to}/${attempt}` : `${to}/${attempt}/${node}/items`;
  const known = isOwn ? undefined : draft.decisions.get(place);
  if (known) {
    if (item === undefined) known.nodes.push(node);
    else known.items?.push(item);
    return;
  }
  draft.decisions.set(isOwn ? `${place}/${item ?? node}` : place, {
    at: draft.now,
    rev: draft.before.rev + 1,
    to,
    nodes: [node],
    ...(item !== undefined && { items: [item] }),
    attempt,
    ...(error && { error: cutError(error) }),
    ...(by !== undefined && { by }),
    ...(note !== undefined && { note }),
  });
}

function noteBad(draft: Draft, node: CompiledNode, code: NodeCode, error: ErrorInfo | undefined): void {
  if (code === 'U' || node.allowFailure) return;
  if (draft.firstBad && draft.firstBad.node < node.index) return;
  const known = error ?? { name: statusOf(code).reason, message: statusOf(code).state };
  draft.firstBad = { node: node.index, error: cutError(known) };
}

/** An error as a run keeps it: name and message cut. */
export function cutError(error: ErrorInfo): ErrorInfo {
  if (error.message.length <= MAX_ERROR_MESSAGE) return { name: error.name.slice(0, 100), message: error.message };
  return {
    name: error.name.slice(0, 100),
    message: `${error.message.slice(0, MAX_ERROR_MESSAGE - 1).toWellFormed()}…`,
  };
}

/** Gives the run a new state; a terminal one never changes. */
export function decideRun(draft: Draft, state: RunStateName, reason: Reason, by?: string): void {
  if (draft.state === state) return;
  draft.state = state;
  draft.reason = reason;
  draft.changed = true;
  draft.decisions.set(`run/${state}`, {
    at: draft.now,
    rev: draft.before.rev + 1,
    to: 'run',
    nodes: [],
    attempt: 0,
    state,
    reason,
    ...(by !== undefined && { by }),
  });
}

/** Replaces a flight. */
export function putFlight(draft: Draft, flight: Flight): void {
  draft.flights.set(flightKey(flight), flight);
  draft.changed = true;
}

/** Takes a flight out, since its attempt is over and no other follows. */
export function endFlight(draft: Draft, flight: Flight): void {
  draft.flights.delete(flightKey(flight));
  draft.changed = true;
}

/** Whether nothing of a run is open: no node, and no attempt. */
export function isSettled(draft: Draft): boolean {
  if (draft.flights.size > 0) return false;
  for (const byte of draft.nodes) if (statusOf(byte).standing === 'open') return false;
  return true;
}
