/** What holds up something that is ready: which limit, how that stands, who has its slots, and what would change it. */
import type { CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import {
  engineStatus,
  freeSlots,
  heldSlots,
  isHeldBack,
  type LimitHolder,
  type LimitRecord,
  limitName,
  parseLimitName,
} from './limit.ts';
import { countInWords, inQuotes, listInWords } from './names-in-words.ts';
import { type NodeCode, statusOf } from './node-status.ts';
import type { Explanation, Reason } from './reasons.ts';
import type { RunLimit } from './run.ts';
import { indexRun } from './run-index.ts';
import { limitOfRun, limitsOfNode, waitingRow } from './run-limits.ts';
import type { LimitSeen, RunScope } from './run-scope.ts';

/** What moves whatever could start in a paused run. */
export const RESUME = 'Resume the run, or stop it.';
/** What moves whatever the scheduler has only not come to yet. */
export const NEXT_PASS = 'The next pass takes it on; that is at most one tick away.';

/** Runs that one sentence names as holders of slots. */
const NAMED_HOLDERS = 3;

/** Why something waits, and what would move it. */
export interface Hold extends Explanation {
  /** A sentence. */
  readonly movedBy: string;
  /** The engine that it waits for. */
  readonly engine?: string;
  /** The pool that it waits for. */
  readonly pool?: string;
}

/** What an answer about a run tells of a hold. */
export function toExplanation({ reason, message }: Explanation): Explanation {
  return { reason, message };
}

/** What holds up a node that is QUEUED in a run that is not paused. */
export function holdOfQueued(scope: RunScope, node: CompiledNode): Hold {
  const code = scope.run.nodes.charAt(node.index) as NodeCode;
  const limit = limitOfLetter(node, code);
  if (limit !== undefined) return holdOfLimit(scope, limit, statusOf(code).reason);
  const message = 'Ready; it starts when the run has room for another attempt.';
  return { reason: 'RunLimit', message, movedBy: NEXT_PASS };
}

/** What holds up the items of a map that could start but for a limit; nothing where none is in their way. */
export function holdOfItems(scope: RunScope, node: CompiledNode): Hold | undefined {
  const limit = limitOfItems(scope, node);
  if (limit === undefined) return undefined;
  return holdOfLimit(scope, limit, parseLimitName(limit).kind === 'pool' ? 'PoolFull' : 'EngineFull');
}

/** What holds up a run that has not begun, as its pipeline has no room for it; nothing where that is not so. */
export function holdOfRun(scope: RunScope): Hold | undefined {
  const { run, pipeline } = scope;
  const limit = limitOfRun(pipeline);
  if (run.state !== 'QUEUED' || run.reason !== 'ActiveRunsLimit' || limit === undefined) return undefined;
  const seen = scope.limits?.get(limit);
  const name = inQuotes(run.pipeline);
  const entry = entryOf(scope, limit);
  const row = entry && waitingRow(run, entry);
  if (seen?.record?.pausedAt !== undefined && row && isHeldBack(seen.record, row)) {
    const message = `Pipeline ${name} has been paused since ${toIsoTime(seen.record.pausedAt)}; the run keeps its place.`;
    return { reason: 'PipelinePaused', message, movedBy: `Resume pipeline ${name}, or stop the run.` };
  }
  const most = seen?.record?.slots;
  const active = `as many runs of ${name} are active as may be${most === undefined ? '' : ` (${most})`}`;
  const message = `Waits for its turn: ${active}${holdersInWords(scope, seen, ': ')}.${aheadInWords(seen)}`;
  return { reason: 'ActiveRunsLimit', message, movedBy: `The end of a run of ${name} that is active.` };
}

/** A node that waits for a limit while nothing of its run is under way. */
export interface IdleNode {
  readonly node: CompiledNode;
  readonly limit: string;
  readonly reason: Reason;
}

/** The nodes of a run that wait for limits while nothing of it is under way or has its time; else none. */
export function idleNodes(scope: RunScope): readonly IdleNode[] {
  const { run, pipeline } = scope;
  if (run.state !== 'RUNNING' || run.flights.some(({ phase }) => phase !== 'queued')) return [];
  return pipeline.nodes.flatMap((node) => {
    const limit = limitInTheWay(scope, node);
    if (limit === undefined) return [];
    const code = run.nodes.charAt(node.index) as NodeCode;
    const { reason } = code === 'm' ? (holdOfItems(scope, node) as Hold) : statusOf(code);
    return [{ node, limit, reason }];
  });
}

/** What an idle run waits for, by one of its nodes. */
export function holdOfIdle(scope: RunScope, { limit, reason }: IdleNode): Hold {
  return holdOfLimit(scope, limit, reason);
}

/** The limits that a view of these nodes has to know, each once. */
export function limitsInTheWay(scope: RunScope, nodes: readonly CompiledNode[]): string[] {
  if (scope.run.state === 'PAUSED') return [];
  return [...new Set(nodes.flatMap((node) => limitInTheWay(scope, node) ?? []))];
}

/** The limits that a view of a run as a whole has to know. */
export function limitsOfRunView(scope: RunScope): string[] {
  const { run, pipeline } = scope;
  if (run.state === 'QUEUED') {
    const limit = run.reason === 'ActiveRunsLimit' ? limitOfRun(pipeline) : undefined;
    return limit === undefined ? [] : [limit];
  }
  const [first] = idleNodes(scope);
  return first ? [first.limit] : [];
}

function limitInTheWay(scope: RunScope, node: CompiledNode): string | undefined {
  const code = scope.run.nodes.charAt(node.index) as NodeCode;
  return code === 'm' ? limitOfItems(scope, node) : limitOfLetter(node, code);
}

function limitOfLetter(node: CompiledNode, code: NodeCode): string | undefined {
  if (code === 'o' && node.pool !== undefined) return limitName('pool', node.pool);
  return code === 'n' || code === 'g' || code === 'e' ? limitName('engine', node.engine) : undefined;
}

/** The first limit of a map's items that the run waits for, where items could want one. */
function limitOfItems(scope: RunScope, node: CompiledNode): string | undefined {
  if (!indexRun(scope.run).maps.has(node.index)) return undefined;
  return limitsOfNode(node).find((limit) => entryOf(scope, limit)?.waiting);
}

function entryOf({ run }: RunScope, limit: string): RunLimit | undefined {
  return run.limits?.find((entry) => entry.limit === limit);
}

/** @param told why it waits by what the run knows; how the limit stands now comes first */
function holdOfLimit(scope: RunScope, limit: string, told: Reason): Hold {
  const { kind, name } = parseLimitName(limit);
  const seen = scope.limits?.get(limit);
  if (kind === 'pool') return { ...holdOfPool(scope, name, seen), pool: name };
  return { ...holdOfEngine(scope, name, seen, told), engine: name };
}

function holdOfPool(scope: RunScope, name: string, seen: LimitSeen | undefined): Hold {
  const pool = `pool ${inQuotes(name)}`;
  if (seen && !seen.record) {
    const movedBy = `Make a pool named ${inQuotes(name)}, or stop the run.`;
    return { reason: 'PoolFull', message: `There is no pool named ${inQuotes(name)}.`, movedBy };
  }
  const movedBy =
    seen?.record?.slots === 0 ? `Give ${pool} slots.` : `The end of an attempt that holds a slot of ${pool}.`;
  return { reason: 'PoolFull', message: slotsInWords(scope, pool, seen), movedBy };
}

function holdOfEngine(scope: RunScope, name: string, seen: LimitSeen | undefined, told: Reason): Hold {
  const engine = `engine ${inQuotes(name)}`;
  if (!seen) return unseenEngine(name, told);
  const state = seen.record?.engine;
  if (!state) return missingEngine(name);
  const { status, reason, message } = engineStatus(state, scope.now);
  if (status === 'Draining') {
    const drains = `Engine ${inQuotes(name)} is draining: it takes no new work; what runs on it finishes.`;
    return { reason: 'EngineDraining', message: drains, movedBy: `Put ${engine} again, or stop the run.` };
  }
  if (status === 'Unavailable') {
    const owner = reason === 'HeartbeatMissed' ? 'A report of its owner' : 'Its state machine, once it is there again';
    const movedBy = `${owner}, or ${engine} put again.`;
    return { reason: 'NoEngine', message: `Engine ${inQuotes(name)} is Unavailable: ${message}`, movedBy };
  }
  if (freeSlots(seen.record as LimitRecord, scope.now) > 0 && told !== 'EngineFull') {
    return { reason: told, message: `Engine ${inQuotes(name)} takes work again.`, movedBy: NEXT_PASS };
  }
  const movedBy = `The end of an attempt on ${engine}.`;
  return { reason: 'EngineFull', message: slotsInWords(scope, engine, seen), movedBy };
}

function missingEngine(name: string): Hold {
  return {
    reason: 'NoEngine',
    message: `No engine named ${inQuotes(name)} is registered.`,
    movedBy: `Register an engine named ${inQuotes(name)}, or stop the run.`,
  };
}

/** An engine that nobody looked at. */
function unseenEngine(name: string, told: Reason): Hold {
  const engine = `engine ${inQuotes(name)}`;
  if (told === 'NoEngine') return missingEngine(name);
  if (told === 'EngineDraining') {
    const message = `Engine ${inQuotes(name)} takes no new work.`;
    return { reason: told, message, movedBy: `Put ${engine} again, or stop the run.` };
  }
  return { reason: told, message: `Waits for a slot of ${engine}.`, movedBy: `The end of an attempt on ${engine}.` };
}

function slotsInWords(scope: RunScope, whose: string, seen: LimitSeen | undefined): string {
  const record = seen?.record;
  if (!record) return `Waits for a slot of ${whose}.`;
  const { slots } = record;
  if (slots === undefined) return `Waits for ${whose}, which has room.`;
  const held = heldSlots(record);
  if (slots > held) {
    const free = `${slots - held} of ${slots} ${slots - held === 1 ? 'is' : 'are'} free`;
    return `Waits for a slot of ${whose}: ${free}, for whoever is next.${aheadInWords(seen)}`;
  }
  if (slots === 0 && held === 0) return `Waits for a slot of ${whose}, which has none.`;
  const all = slots === 1 && held === 1 ? 'the only one is' : slots === held ? `all ${slots} are` : `${held} are`;
  const beyond = slots < held ? `, and it has ${slots}` : '';
  const message = `Waits for a slot of ${whose}: ${all} taken${holdersInWords(scope, seen, ' by ')}${beyond}.`;
  return `${message}${aheadInWords(seen)}`;
}

/** Who holds slots, after some words: ` by this run, run A of "p" (2) and 3 more`; nothing where nobody does. */
function holdersInWords(scope: RunScope, seen: LimitSeen | undefined, after: string): string {
  const holding = (seen?.record?.holders ?? []).filter(({ granted, returned }) => granted > returned);
  if (holding.length === 0) return '';
  const own = holding.filter(({ run }) => run === scope.run.id);
  const named = [...own, ...holding.filter(({ run }) => run !== scope.run.id)].slice(0, NAMED_HOLDERS);
  const more = holding.length - named.length;
  const names = [...named.map((holder) => holderInWords(scope, holder)), ...(more > 0 ? [`${more} more`] : [])];
  const last = names.pop();
  return `${after}${names.length === 0 ? last : `${names.join(', ')} and ${last}`}`;
}

function holderInWords({ run }: RunScope, { run: id, pipeline, granted, returned }: LimitHolder): string {
  const slots = granted - returned > 1 ? ` (${granted - returned})` : '';
  if (id === run.id) return `this run${slots}`;
  return `run ${id}${pipeline === run.pipeline ? '' : ` of ${inQuotes(pipeline)}`}${slots}`;
}

function aheadInWords(seen: LimitSeen | undefined): string {
  const { ahead } = seen ?? {};
  if (!ahead || (ahead.count === 0 && !ahead.hasMore)) return '';
  const runs = countInWords(ahead.count, 'run');
  const wait = ahead.count === 1 && !ahead.hasMore ? 'waits' : 'wait';
  return ` ${ahead.hasMore ? `More than ${runs}` : runs} of its pipeline ${wait} before it.`;
}

/** What an idle run waits for, in a sentence. */
export function idleInWords(idle: readonly IdleNode[], hold: Hold): string {
  const names = listInWords(idle.map(({ node }) => node.id));
  return `Nothing of it is under way, and ${names} ${idle.length === 1 ? 'is' : 'are'} ready. ${hold.message}`;
}
