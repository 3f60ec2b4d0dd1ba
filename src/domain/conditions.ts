/** The condition of a pipeline, like those of a Kubernetes resource: whether engines can take all of its nodes. */
import type { CompiledPipeline } from './graph.ts';
import { inQuotes, listInWords } from './names-in-words.ts';

/** Why a pipeline is ready, or is not. */
export const READY_REASONS = ['EnginesAvailable', 'NoEngine', 'EngineDraining', 'NotChecked'] as const;

/** The condition `Ready`. */
export interface ReadyCondition {
  readonly type: 'Ready';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: (typeof READY_REASONS)[number];
  /** For people; names the nodes and the engines. */
  readonly message: string;
  /** When `status` became what it is (ms since the epoch). */
  readonly lastTransitionTime: number;
  /** The revision that was looked at. */
  readonly observedRevision: string;
}

/** How an engine stands that is not built in. */
export interface EngineStanding {
  readonly status: 'Available' | 'Draining' | 'Unavailable' | 'Missing';
  /** Why, as a sentence. */
  readonly message: string;
}

/** What a condition is made from. */
export interface ReadyFacts {
  readonly pipeline: CompiledPipeline;
  /** Engines that are not built in, by name; one that is not in it can take work. */
  readonly engines: ReadonlyMap<string, EngineStanding>;
  /** The condition so far. */
  readonly before: ReadyCondition | undefined;
  readonly now: number;
}

/** Makes the condition; the one before where nothing about it is another. */
export function readyCondition({ pipeline, engines, before, now }: ReadyFacts): ReadyCondition {
  const found = findReady(pipeline, engines);
  const observedRevision = pipeline.revision;
  const isSame =
    before?.status === found.status &&
    before.reason === found.reason &&
    before.message === found.message &&
    before.observedRevision === observedRevision;
  if (isSame) return before;
  const lastTransitionTime = before?.status === found.status ? before.lastTransitionTime : now;
  return { type: 'Ready', ...found, lastTransitionTime, observedRevision };
}

/** The condition of a pipeline that was not looked at yet. */
export function unknownCondition(revision: string, since: number): ReadyCondition {
  return {
    type: 'Ready',
    status: 'Unknown',
    reason: 'NotChecked',
    message: 'Its engines have not been looked at yet.',
    lastTransitionTime: since,
    observedRevision: revision,
  };
}

/** Engines that a pipeline names, those that are built in apart, each once. */
export function enginesOf(pipeline: CompiledPipeline, builtIn: { has(name: string): boolean }): string[] {
  return [...new Set(pipeline.nodes.map(({ engine }) => engine))].filter((engine) => !builtIn.has(engine));
}

type Found = Pick<ReadyCondition, 'status' | 'reason' | 'message'>;

function findReady(pipeline: CompiledPipeline, engines: ReadyFacts['engines']): Found {
  const waiting = pipeline.nodes.filter(({ engine }) => standingOf(engines, engine) !== 'Available');
  if (waiting.length === 0) {
    return { status: 'True', reason: 'EnginesAvailable', message: 'Every engine that it names is there.' };
  }
  const parts = (['Missing', 'Unavailable', 'Draining'] as const).flatMap((status) => {
    const nodes = waiting.filter(({ engine }) => standingOf(engines, engine) === status);
    return nodes.length === 0 ? [] : [partInWords(nodes, engines, status)];
  });
  const isDraining = waiting.every(({ engine }) => standingOf(engines, engine) === 'Draining');
  const message = `no engines available to handle pipeline: ${parts.join('; ')}`;
  return { status: 'False', reason: isDraining ? 'EngineDraining' : 'NoEngine', message };
}

function standingOf(engines: ReadyFacts['engines'], name: string): EngineStanding['status'] {
  return engines.get(name)?.status ?? 'Available';
}

function partInWords(
  nodes: readonly { readonly id: string; readonly engine: string }[],
  engines: ReadyFacts['engines'],
  status: Exclude<EngineStanding['status'], 'Available'>,
): string {
  const names = [...new Set(nodes.map(({ engine }) => engine))];
  const verb = nodes.length === 1 ? 'needs' : 'need';
  const what = `${listInWords(nodes.map(({ id }) => id))} ${verb} ${listInWords(names)}`;
  if (status === 'Missing') return what;
  const is = names.length === 1 ? 'is' : 'are';
  if (status === 'Draining') return `${what}, which ${is} draining`;
  const reasons = names.slice(0, 3).flatMap((name) => {
    const message = engines.get(name)?.message;
    return message === undefined ? [] : [names.length === 1 ? message : `${inQuotes(name)}: ${message}`];
  });
  return `${what}, which ${is} unavailable (${reasons.join(' ').replace(/\.$/, '')})`;
}
