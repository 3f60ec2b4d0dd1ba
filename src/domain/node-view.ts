/** A node of a run as the API shows it. */
import { type BranchView, viewBranch } from './branch-view.ts';
import type { CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import { type MapView, mapProgress, viewMap } from './map-view.ts';
import { explainNode, upstreamFailure } from './node-reason.ts';
import { type NodeCode, statusOf } from './node-status.ts';
import type { NodeStory } from './node-story.ts';
import type { ErrorInfo, MapState } from './run.ts';
import { indexRun } from './run-index.ts';
import type { RunScope } from './run-scope.ts';
import { type ShownOutput, viewWork, type WorkSources, type WorkView } from './work-view.ts';

/** A node. */
export interface NodeView extends WorkView {
  readonly id: string;
  readonly engine: string;
  /** 0 to 1; absent while nothing is known: what its code said. Of a map, the share of its items that are over. */
  readonly progress?: number;
  /** The items of a map that has its list. */
  readonly map?: MapView;
  /** What a branch chose. */
  readonly branch?: BranchView;
}

/** What a node's view is made from. */
export interface NodeSources extends Omit<WorkSources, 'item' | 'flight'> {
  /** The output of a map that succeeded. */
  readonly mapOutput?: ShownOutput | undefined;
}

/** Makes the view of a node. */
export function viewNode(scope: RunScope, node: CompiledNode, sources: NodeSources): NodeView {
  const { story } = sources;
  const { flights, maps } = indexRun(scope.run);
  const code = scope.run.nodes.charAt(node.index) as NodeCode;
  const map = maps.get(node.index);
  const branch = viewBranch(scope, node);
  const flight = flights.get(node.index);
  const isOver = statusOf(code).standing !== 'open';
  return {
    id: node.id,
    engine: node.engine,
    ...viewWork(
      scope,
      node,
      { ...sources, flight },
      {
        code,
        errorOf: (told) => errorOf(scope, node, code, told ?? story.error),
        explain: (error) => explainNode(scope, node, { story, flight, error, report: sources.report }),
      },
    ),
    ...progressOf(scope, map, isOver ? 1 : sources.report?.progress),
    ...(map && { ...(story.from === undefined && mapTimes(story)), map: viewMap(scope, map, story) }),
    ...(branch && { branch }),
    ...sources.mapOutput,
  };
}

function progressOf(
  scope: RunScope,
  map: MapState | undefined,
  progress: number | undefined,
): { readonly progress?: number } {
  if (map) return { progress: mapProgress(scope, map) };
  return progress === undefined ? {} : { progress };
}

/** A map begins when it gets its list. */
function mapTimes({ listedAt, overAt }: NodeStory): { readonly startedAt?: string } {
  const startedAt = listedAt ?? overAt;
  return startedAt === undefined ? {} : { startedAt: toIsoTime(startedAt) };
}

function errorOf(
  scope: RunScope,
  node: CompiledNode,
  code: NodeCode,
  told: ErrorInfo | undefined,
): ErrorInfo | undefined {
  const { state, standing } = statusOf(code);
  if (state === 'UPSTREAM_FAILED') return upstreamFailure(scope, node);
  if (standing !== 'bad' && state !== 'RETRY_WAIT' && state !== 'QUEUED') return undefined;
  return told ?? (code === 'T' && node.map ? { name: 'States.Timeout', message: 'the run timed out' } : undefined);
}
