/**
 * What time alone decides of a run: whether a node waited too long for its engine, whether an output was known when it
 * was asked for, how the runs that it started ended. The reference is told what happened; here is checked that it may.
 */
import { type NodeCode, statusOf } from '#domain/node-status.ts';
import type { Decision, RunRecord } from '#domain/run.ts';
import type { FinalState, Outcome } from '../reference/outcome.ts';
import { require } from './invariant-error.ts';
import type { Plan, PlannedNode } from './plan.ts';
import { pipelineName } from './plan-definition.ts';
import { playedBy } from './plan-scenario.ts';
import { decisionsOf } from './reason-invariants.ts';
import { resultName } from './watched-runs.ts';
import type { World } from './world.ts';

/** Longest time limit of an attempt that a world plays to its end (s). */
const SHORT_SECONDS = 90;

/** A run of a world, as the checks of its end look at it. */
export interface PlayedRun {
  readonly world: World;
  readonly plan: Plan;
  readonly run: RunRecord;
  readonly nodes: readonly PlannedNode[];
  readonly decisions: readonly Decision[];
  /** Of the node at a place in the plan. */
  indexOf(place: number): number;
}

/** A run, with all that was decided about it. */
export function playedRun(world: World, plan: Plan, run: RunRecord): PlayedRun {
  const { indexOf } = world.pipelineOf(run);
  return {
    world,
    plan,
    run,
    nodes: playedBy(plan, run).nodes,
    decisions: decisionsOf(world, run),
    indexOf: (place) => indexOf.get(`n${place}`) as number,
  };
}

/** Whether nothing goes wrong, and one thing happens after the other. */
export function isQuiet({ faults, order, outage, asks }: Plan): boolean {
  return faults.length === 0 && !order && !outage && !asks?.some(({ kind }) => kind === 'lend');
}

/** What became of a node before an attempt of it. */
export function fateOf({ run, indexOf }: PlayedRun, place: number): 'cached' | 'queueTimeout' | undefined {
  const letter = run.nodes[indexOf(place)];
  if (letter === 'C') return 'cached';
  return letter === 'Q' ? 'queueTimeout' : undefined;
}

/** What a user made of a node, or an earlier run whose end of it stands. */
export function decidedState(played: PlayedRun, place: number): FinalState | undefined {
  const { run, decisions, indexOf } = played;
  const index = indexOf(place);
  const letter = run.nodes[index] as NodeCode;
  const { state } = statusOf(letter);
  const isLast = ({ nodes, items, to }: Decision) => nodes.includes(index) && !items && to === letter;
  const last = decisions.findLast(isLast);
  const isMarked = 'Mxz'.includes(letter) || (letter === 'X' && last?.by === BY_USER);
  return isMarked || isTakenOver(played, place) || letter === 'N' ? (state as FinalState) : undefined;
}

const BY_USER = 'user';

/** Whether what a node came to stands since an earlier run. */
export function isTakenOver({ decisions, indexOf }: PlayedRun, place: number): boolean {
  const index = indexOf(place);
  return decisions.some(
    ({ rev, from, nodes, items }) => rev === 1 && from !== undefined && !items && nodes.includes(index),
  );
}

/** How the attempts of an approval, or of an item of one, ended. */
export function approvalOutcomes(played: PlayedRun, place: number, item?: number): readonly Outcome[] {
  const { world, run, indexOf } = played;
  const node = indexOf(place);
  return Array.from({ length: attemptsBegun(played, place, item) }, (_, at): Outcome => {
    const result = world.runs.results.get(resultName(run.nonce, { node, item, attempt: at + 1 }));
    if (result?.status === 'SUCCEEDED') return { status: 'SUCCEEDED' };
    return result ? { status: 'FAILED', error: result.error?.name ?? '' } : { status: 'TIMED_OUT' };
  });
}

/** Attempts that a node had begun, or an item of it. */
export function attemptsBegun({ decisions, indexOf }: PlayedRun, place: number, item?: number): number {
  const index = indexOf(place);
  const isOf = (items: readonly number[] | undefined) => (item === undefined ? !items : items?.includes(item) === true);
  const begun = decisions.filter(({ to, nodes, items }) => to === 'r' && nodes.includes(index) && isOf(items));
  return Math.max(0, ...begun.map(({ attempt }) => attempt));
}

/** Items of a map whose output was known, or taken over from an earlier run. */
export function cachedItems({ decisions, indexOf }: PlayedRun, place: number): ReadonlySet<number> {
  const index = indexOf(place);
  const isKnown = ({ to, rev, from }: Decision) => to === 'C' || (to === 'S' && rev === 1 && from !== undefined);
  return new Set(decisions.flatMap((one) => (isKnown(one) && one.nodes.includes(index) && one.items) || []));
}

/** How the attempts of a node, or of an item of it, that started runs ended. */
export function childOutcomes(played: PlayedRun, place: number, item?: number): readonly Outcome[] {
  const { world, run, indexOf } = played;
  const index = indexOf(place);
  const children = world.runs
    .everAll()
    .filter(({ parent }) => parent?.run === run.id && parent.node === index && parent.item === item)
    .sort((a, b) => (a.parent?.attempt ?? 0) - (b.parent?.attempt ?? 0));
  return children.map((child) => {
    if (isOutOfTime(played, place, child)) return { status: 'TIMED_OUT' };
    if (child.state === 'FAILED') return { status: 'FAILED', error: 'Millrace.ChildRunFailed' };
    return { status: child.state === 'SUCCEEDED' || child.state === 'TIMED_OUT' ? child.state : 'ABORTED' };
  });
}

/** Whether the attempt whose run this is was ended for its own time limit, whatever its run came to then. */
function isOutOfTime({ world, decisions, nodes, indexOf }: PlayedRun, place: number, { parent }: RunRecord): boolean {
  const isOfAttempt = ({ nodes: of, items, attempt }: Decision) =>
    of.includes(indexOf(place)) &&
    attempt === parent?.attempt &&
    (items ? items.includes(parent.item ?? -1) : parent.item === undefined);
  const own = decisions.filter(isOfAttempt);
  const end = own.find(({ error }) => error?.name === 'States.Timeout' && error.message.startsWith('attempt'));
  if (!end) return false;
  const { timeoutSeconds = 0 } = nodes[place] ?? {};
  const ranMs = end.at - (own.find(({ to }) => to === 'r')?.at ?? 0) + 2 * (world.faults.skewMs ?? 0);
  require(world, timeoutSeconds <= SHORT_SECONDS && ranMs >= timeoutSeconds * 1000, () => {
    return `n${place} was out of time after ${ranMs} ms, it has ${timeoutSeconds} s`;
  });
  return true;
}

/** Whether what time decided of a run's nodes may have come about. */
export function checkFates(played: PlayedRun): void {
  for (const place of played.nodes.keys()) {
    checkWait(played, place);
    checkCached(played, place);
    if (isQuiet(played.plan)) checkMissed(played, place);
  }
}

/** A node is QUEUED for its limit before it fails for it, and, where nothing goes wrong, not for much longer. */
function checkWait({ world, plan, run, nodes, decisions, indexOf }: PlayedRun, place: number): void {
  const { queueTimeoutSeconds, engine } = nodes[place] as PlannedNode;
  const index = indexOf(place);
  const letter = run.nodes[index];
  const isOut = letter === 'Q';
  require(world, engine !== 'never' || !'STFO'.includes(letter ?? ''), () => `n${place} ran without an engine`);
  if (queueTimeoutSeconds === undefined) {
    require(world, !isOut, () => `n${place} waited too long, though it has no limit`);
    return;
  }
  const ofNode = decisions.filter((decision) => decision.nodes.includes(index) && !decision.items);
  // An attempt that follows another one may have to wait too: the last time that it did is what its end is about.
  const end = ofNode.findLastIndex(({ to }, at) => !isQueued(to) && isQueued(ofNode[at - 1]?.to));
  const began = ofNode.findLastIndex(({ to }, at) => at < end && isQueued(to) && !isQueued(ofNode[at - 1]?.to));
  const since = ofNode[began]?.at;
  const until = ofNode[end]?.at ?? 0;
  if (since === undefined) {
    require(world, !isOut, () => `n${place} waited too long, and was never QUEUED`);
    return;
  }
  // By revision: the clocks of those who decided may differ.
  const [first, last] = [ofNode[began]?.rev ?? 0, ofNode[end]?.rev ?? 0];
  const resumed = decisions.filter(
    ({ to, state, rev }) => to === 'run' && state === 'RUNNING' && rev > first && rev <= last,
  );
  const waitedMs = until - (resumed.at(-1)?.at ?? since);
  const skew = 2 * (world.faults.skewMs ?? 0);
  require(world, !isOut || waitedMs + skew >= queueTimeoutSeconds * 1000, () => {
    return `n${place} waited ${waitedMs} ms, its limit is ${queueTimeoutSeconds} s`;
  });
  const most = queueTimeoutSeconds * 1000 + 2 * plan.tickMs;
  require(world, !isQuiet(plan) || waitedMs <= most || isAnyPaused(decisions), () => {
    return `n${place} waited ${waitedMs} ms, its limit is ${queueTimeoutSeconds} s`;
  });
}

function isQueued(code: NodeCode | 'run' | undefined): boolean {
  return code !== undefined && code !== 'run' && statusOf(code).state === 'QUEUED';
}

function isAnyPaused(decisions: readonly Decision[]): boolean {
  return decisions.some(({ state }) => state === 'PAUSED');
}

/** An attempt of a node, or of an item of it, that succeeded: what later runs may take its output for. */
interface Success {
  readonly key: string;
  readonly at: number;
  /** How long it is remembered. */
  readonly ttlMs: number;
  readonly output: string | undefined;
}

const successesOf = new WeakMap<World, readonly Success[]>();

/** All successes of a world that may be remembered. */
function successesIn({ world, plan }: PlayedRun): readonly Success[] {
  let known = successesOf.get(world);
  if (!known) {
    known = world.runs.everAll().flatMap((run) => successesOfRun(playedRun(world, plan, run)));
    successesOf.set(world, known);
  }
  return known;
}

function successesOfRun(played: PlayedRun): Success[] {
  const { world, run, nodes, decisions, indexOf } = played;
  return [...nodes.keys()].flatMap((place) => {
    const own = decisions.filter(
      ({ to, attempt, nodes: of }) => to === 'S' && attempt > 0 && of.includes(indexOf(place)),
    );
    return own.flatMap(({ items = [undefined], attempt, at }) =>
      items.flatMap((item) => {
        const key = memoKey(played, place, item);
        if (key === undefined) return [];
        const result = world.runs.results.get(resultName(run.nonce, { node: indexOf(place), item, attempt }));
        return [{ key, at, ttlMs: (nodes[place]?.cache?.ttlSeconds ?? 0) * 1000, output: result?.output }];
      }),
    );
  });
}

/** What two attempts have in common of which one may take the other's output; nothing where there is no cache. */
function memoKey({ run, nodes }: PlayedRun, place: number, item: number | undefined): string | undefined {
  const { cache, engine = 'lambda', child } = nodes[place] as PlannedNode;
  if (!cache || cache.key === 'error') return undefined;
  const key = cache.key === 'item' ? `item ${item ?? 'none'}` : cache.key;
  return [run.pipeline, place, child === undefined ? engine : 'pipeline', key].join('/');
}

/** An output that was known is one of an earlier success of the same pipeline, node, engine and key. */
function checkCached(played: PlayedRun, place: number): void {
  const { world, plan, run, decisions, indexOf } = played;
  for (const { to, from, nodes: of, items = [undefined] } of decisions) {
    if (to !== 'C' || from !== undefined || !of.includes(indexOf(place))) continue;
    for (const item of items) {
      const key = memoKey(played, place, item);
      // What was found first stands, however long the node then has to wait for its turn.
      const { output, startedAt: at = 0 } =
        world.runs.results.get(resultName(run.nonce, { node: indexOf(place), item, attempt: 0 })) ?? {};
      const isRemembered = successesIn(played).some((one) => {
        const isInTime = !isQuiet(plan) || (one.at <= at && at <= one.at + one.ttlMs);
        return one.key === key && one.output === output && isInTime;
      });
      require(world, output !== undefined && isRemembered, () => `n${place} took ${output}, which was not remembered`);
    }
  }
}

/** Where nothing goes wrong, no first attempt is made whose output is known. */
function checkMissed(played: PlayedRun, place: number): void {
  const { world, decisions, nodes, indexOf } = played;
  if (!nodes[place]?.cache) return;
  for (const { to, at, attempt, nodes: of, items = [undefined] } of decisions) {
    if (to !== 'r' || attempt !== 1 || !of.includes(indexOf(place))) continue;
    for (const item of items) {
      const key = memoKey(played, place, item);
      // The last one to be remembered replaces those before it, and stands for as long as it was told to.
      const before = successesIn(played).filter((one) => one.key === key && one.at < at);
      const newest = Math.max(...before.map((one) => one.at));
      const last = before.filter((one) => one.at === newest);
      const isKnown = last.length > 0 && last.every(({ ttlMs }) => at < newest + ttlMs);
      require(world, !isKnown, () => `n${place} was started, though its output was known`);
    }
  }
}

/** Runs of the pipeline itself that somebody started by hand. */
export function rootsIn(world: World): RunRecord[] {
  const name = pipelineName(undefined);
  return world.runs.everAll().filter(({ pipeline, trigger }) => pipeline === name && trigger.type === 'api');
}
