/**
 * What a new run begins with where it takes results over from an earlier one, leaves nodes out, or has nodes marked by
 * hand. Pure: it says what is to be copied, and the scheduler copies it.
 */
import type { CompiledNode, CompiledPipeline } from './graph.ts';
import { type NodeCode, statusOf } from './node-status.ts';
import { decidingAttempt, type ItemStory, type NodeStory, tellItems, tellStories } from './node-story.ts';
import { decideFates, type Fate, type RerunChoice } from './rerun-scope.ts';
import type { BranchChoice, Decision, ErrorInfo, MapState, NodeMark, RunRecord } from './run.ts';
import { matchWork } from './same-work.ts';

/** A run to take results from. */
export interface EarlierRun {
  readonly pipeline: CompiledPipeline;
  readonly run: RunRecord;
  /** All its decisions, in order. */
  readonly decisions: readonly Decision[];
}

/** Which nodes are to run, by index in the new run. */
export interface BeginningRequest {
  readonly from: RerunChoice['from'];
  readonly only?: ReadonlySet<number> | undefined;
  /** Nodes that a user decides by hand: the first pass finds them in the run. */
  readonly marks?: readonly NodeMark[] | undefined;
  /** Where results come from. @default nowhere: all that is needed runs */
  readonly earlier?: EarlierRun | undefined;
  /** Whether skips are taken over too. @default only successes */
  readonly takesSkips?: boolean;
  /** Whether a map of which some items succeeded goes on with the others. @default it runs anew */
  readonly resumesMaps?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Where a result stands. */
export interface ResultPlace {
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
}

/** The parts of a new run that are not as they usually are, and what has to be copied before it is made. */
export interface Beginning extends Pick<RunRecord, 'nodes' | 'decisions' | 'maps' | 'branches' | 'marks'> {
  /** The place in the new run, by {@link placeKey}, of each result that is taken over. */
  readonly results: ReadonlyMap<string, ResultPlace>;
  /** Lists of maps that are taken over: key and number of items. */
  readonly lists: readonly { readonly key: string; readonly total: number }[];
  /** Whether anything is left to run or to decide. */
  readonly hasOpenNodes: boolean;
}

/** The name of a place among results. */
export function placeKey({ node, item, attempt }: ResultPlace): string {
  return `${node}/${item ?? ''}/${attempt}`;
}

/** Decides what a run begins with. */
export function beginFrom(pipeline: CompiledPipeline, request: BeginningRequest): Beginning {
  const source = request.earlier && readSource(pipeline, request.earlier, request.takesSkips === true);
  const marks = new Set(request.marks?.map(({ node }) => node));
  const fates = decideFates(pipeline, {
    from: request.from,
    ...(request.only && { only: request.only }),
    marks,
    letterOf: (node) => source?.letterOf(node),
    isReusable: (node) => source?.isReusable(node) ?? false,
  });
  const making: Making = {
    pipeline,
    request,
    source,
    fates,
    letters: [],
    decisions: new Map(),
    maps: [],
    branches: [],
    results: new Map(),
  };
  for (const node of pipeline.nodes) making.letters.push(beginNode(making, node));
  return finish(making);
}

interface Source {
  readonly earlier: EarlierRun;
  readonly stories: readonly NodeStory[];
  readonly maps: ReadonlyMap<number, MapState>;
  readonly branches: ReadonlyMap<number, BranchChoice>;
  /** Index in the earlier run of the node that did the same work, or -1. */
  readonly matches: Int32Array;
  readonly letterOf: (node: number) => NodeCode | undefined;
  readonly isReusable: (node: number) => boolean;
}

function readSource(pipeline: CompiledPipeline, earlier: EarlierRun, takesSkips: boolean): Source {
  const { run } = earlier;
  const matches = matchWork(earlier.pipeline, pipeline);
  const letterAt = (index: number) => run.nodes.charAt(index) as NodeCode;
  return {
    earlier,
    stories: tellStories(run, earlier.decisions),
    maps: new Map(run.maps?.map((map) => [map.node, map])),
    branches: new Map(run.branches?.map((choice) => [choice.node, choice])),
    matches,
    letterOf(node) {
      const index = earlier.pipeline.indexOf.get((pipeline.nodes[node] as CompiledNode).id);
      return index === undefined ? undefined : letterAt(index);
    },
    isReusable(node) {
      const index = matches[node] as number;
      if (index === -1) return false;
      const code = letterAt(index);
      return statusOf(code).standing === 'success' || (takesSkips && isKeptSkip(code));
    },
  };
}

/** Whether a skip stands as long as nothing above it changes; what was left out is another matter. */
function isKeptSkip(code: NodeCode): boolean {
  return code !== 'N' && statusOf(code).standing === 'skipped';
}

interface Making {
  readonly pipeline: CompiledPipeline;
  readonly request: BeginningRequest;
  readonly source: Source | undefined;
  readonly fates: readonly Fate[];
  readonly letters: NodeCode[];
  readonly decisions: Map<string, Decision & { readonly nodes: number[] }>;
  readonly maps: MapState[];
  readonly branches: BranchChoice[];
  readonly results: Map<string, ResultPlace>;
}

function beginNode(making: Making, node: CompiledNode): NodeCode {
  const { source, request } = making;
  switch (making.fates[node.index] as Fate) {
    case 'leave':
      return decide(making, node.index, 'N');
    case 'mark':
      return 'p';
    case 'keep':
      return takeOver(making, source as Source, node);
    case 'run':
      return (source && request.resumesMaps && resumeMap(making, source, node)) || 'p';
  }
}

/** Takes a node over as it stood, with its result, its items and its choice. */
function takeOver(making: Making, source: Source, node: CompiledNode): NodeCode {
  const index = source.matches[node.index] as number;
  const code = source.earlier.run.nodes.charAt(index) as NodeCode;
  const story = source.stories[index] as NodeStory;
  const from = originOf(source, story);
  takeChoice(making, source, node, index);
  const map = code === 'M' ? undefined : source.maps.get(index);
  if (map) {
    making.maps.push({ ...map, node: node.index });
    const items = tellItems(map, story, source.earlier.decisions);
    takeItems(making, source, { before: index, after: node.index }, items, () => true);
    return decide(making, node.index, code, { from, times: timesOfMap(story) });
  }
  takeResult(making, { node: index, attempt: decidingAttempt(story) }, { node: node.index });
  return decide(making, node.index, code, { from, asked: story });
}

function timesOfMap(story: NodeStory): Decision['times'] {
  if (story.times) return story.times;
  const endedAt = story.overAt ?? story.since;
  return { startedAt: story.listedAt ?? endedAt, endedAt };
}

function takeChoice({ pipeline, branches }: Making, source: Source, node: CompiledNode, index: number): void {
  const choice = source.branches.get(index);
  if (!choice) return;
  const idOf = (chosen: number) => (source.earlier.pipeline.nodes[chosen] as CompiledNode).id;
  const chosen = choice.chosen.flatMap((one) => pipeline.indexOf.get(idOf(one)) ?? []);
  branches.push({ node: node.index, chosen });
}

/**
 * Goes on with a map that has its list and lacks items, where nothing above it is decided anew: items that succeeded
 * are taken over, the others run.
 */
function resumeMap(making: Making, source: Source, node: CompiledNode): NodeCode | undefined {
  const { fates, request } = making;
  const index = source.matches[node.index] as number;
  const before = index === -1 ? undefined : source.maps.get(index);
  const isChosen = request.from === 'all' || (request.from !== 'failed' && request.from.has(node.index));
  if (!before || isChosen || source.isReusable(node.index)) return undefined;
  if (node.upstreams.some((upstream) => fates[upstream] !== 'keep')) return undefined;
  const story = source.stories[index] as NodeStory;
  const items = tellItems(before, story, source.earlier.decisions);
  const isDone = (item: ItemStory) => item.code !== undefined && statusOf(item.code).standing === 'success';
  const done = items.flatMap((item, at) => (isDone(item) ? [at] : []));
  if (done.length === before.total) return undefined;
  const next = firstGap(done);
  const map: MapState = {
    node: node.index,
    total: before.total,
    next,
    succeeded: done.length,
    failed: 0,
    list: before.list,
    ...(done.length > next && { ahead: done.slice(next) }),
  };
  making.maps.push(map);
  decide(making, node.index, 'm');
  takeItems(making, source, { before: index, after: node.index }, items, isDone);
  return 'm';
}

function firstGap(done: readonly number[]): number {
  const gap = done.findIndex((item, at) => item !== at);
  return gap === -1 ? done.length : gap;
}

/** Takes the items of a map over that are over and wanted. */
function takeItems(
  making: Making,
  source: Source,
  map: { readonly before: number; readonly after: number },
  items: readonly ItemStory[],
  isWanted: (item: ItemStory) => boolean,
): void {
  for (const [item, story] of items.entries()) {
    const { code, error } = story;
    if (code === undefined || !isWanted(story)) continue;
    takeResult(making, { node: map.before, item, attempt: decidingAttempt(story) }, { node: map.after, item });
    decide(making, map.after, code, { from: originOf(source, story), error, item });
  }
}

/** The run whose execution gave a result: of a re-run of a re-run, the first one. */
function originOf({ earlier }: Source, story: NodeStory): string {
  return story.from ?? earlier.run.id;
}

function takeResult(
  { results }: Making,
  from: Omit<ResultPlace, 'attempt'> & { readonly attempt: number | undefined },
  to: Omit<ResultPlace, 'attempt'>,
): void {
  const { attempt } = from;
  if (attempt !== undefined) results.set(placeKey({ ...from, attempt }), { ...to, attempt: 0 });
}

interface DecisionExtra {
  readonly from?: string | undefined;
  readonly error?: ErrorInfo | undefined;
  /** Who asked for it there. */
  readonly asked?: Pick<NodeStory, 'by' | 'note'>;
  readonly times?: Decision['times'];
  readonly item?: number;
}

/** Records a decision, with those that are alike. */
function decide({ decisions, request }: Making, node: number, to: NodeCode, extra: DecisionExtra = {}): NodeCode {
  const { item, from, error, times, asked: { by, note } = {} } = extra;
  const isAlone = [error, times, by, note].some((own) => own !== undefined);
  const alike = [to, from ?? '', item === undefined ? '' : `${node}/items`, isAlone ? `${node}/${item ?? ''}` : ''];
  const place = alike.join('|');
  const known = decisions.get(place);
  if (known) {
    if (item === undefined) known.nodes.push(node);
    else (known.items as number[]).push(item);
    return to;
  }
  decisions.set(place, {
    at: request.now,
    rev: 1,
    to,
    nodes: [node],
    ...(item !== undefined && { items: [item] }),
    attempt: 0,
    ...(error && { error }),
    ...(by !== undefined && { by }),
    ...(note !== undefined && { note }),
    ...(from !== undefined && { from }),
    ...(times && { times }),
  });
  return to;
}

function finish(making: Making): Beginning {
  const { letters, maps, branches, request, results, fates } = making;
  const { marks = [] } = request;
  return {
    nodes: letters.join(''),
    decisions: [...making.decisions.values()],
    ...(maps.length > 0 && { maps }),
    ...(branches.length > 0 && { branches }),
    ...(marks.length > 0 && { marks }),
    results,
    lists: maps.map(({ list: key, total }) => ({ key, total })),
    hasOpenNodes: fates.includes('run'),
  };
}
