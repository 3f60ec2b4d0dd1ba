/** An item of a map as the API shows it. */
import type { CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import { explainItem } from './node-reason.ts';
import { isTerminal, type NodeState, statusOf } from './node-status.ts';
import type { ItemStory, NodeStory } from './node-story.ts';
import type { MapState } from './run.ts';
import { indexRun } from './run-index.ts';
import type { RunScope } from './run-scope.ts';
import { viewWork, type WorkSources, type WorkView } from './work-view.ts';

/** An item of a map. */
export interface ItemView extends WorkView {
  /** Its place in the list, from 0. */
  readonly index: number;
}

/**
 * The state of an item, by its index. One that was never started is ABORTED once its map is over; one whose next
 * attempt has its time, and waits for an engine or a slot, is QUEUED.
 */
export function itemState(scope: RunScope, map: MapState, item: number, { code }: ItemStory): NodeState {
  if (indexRun(scope.run).itemFlights.get(map.node)?.get(item)?.phase === 'queued') return 'QUEUED';
  if (code !== undefined) return statusOf(code).state;
  return isTerminal(scope.run.nodes.charCodeAt(map.node)) ? 'ABORTED' : 'PENDING';
}

/** Makes the view of an item. */
export function viewItem(
  scope: RunScope,
  node: CompiledNode,
  map: MapState,
  sources: Omit<WorkSources, 'flight' | 'item' | 'story'> & {
    readonly item: number;
    readonly story: ItemStory;
    /** The story of the map. */
    readonly mapStory: NodeStory;
  },
): ItemView {
  const { item, story, mapStory } = sources;
  const flight = indexRun(scope.run).itemFlights.get(map.node)?.get(item);
  const { code } = story;
  if (code === undefined) {
    const isOver = mapStory.overAt !== undefined;
    return {
      index: item,
      state: itemState(scope, map, item, story),
      ...explainItem(scope, node, map, { story }),
      since: toIsoTime(isOver ? mapStory.since : story.since),
      attempt: 0,
    };
  }
  const isFailure = statusOf(code).standing === 'bad' || statusOf(code).state === 'RETRY_WAIT';
  return {
    index: item,
    ...viewWork(
      scope,
      node,
      { ...sources, flight },
      {
        code,
        state: itemState(scope, map, item, story),
        errorOf: (told) => (isFailure ? (told ?? story.error) : undefined),
        explain: (error) => explainItem(scope, node, map, { story, flight, error, report: sources.report }),
      },
    ),
  };
}
