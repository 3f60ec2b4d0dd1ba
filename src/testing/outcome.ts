/** What a run came to, as tests look at it. */
import { createMemoryLogs } from '#adapters/memory/memory-logs.ts';
import { explainUnfinished, listUnfinished, type UnfinishedNode } from '#domain/explain.ts';
import { type HistoryEntry, viewHistory } from '#domain/history-view.ts';
import type { NodeStory } from '#domain/node-story.ts';
import type { NodeView } from '#domain/node-view.ts';
import { isRunOver } from '#domain/run.ts';
import type { RunScope } from '#domain/run-scope.ts';
import type { RunView } from '#domain/run-view.ts';
import type { ApiDeps } from '#http/route.ts';
import { readDecisions, readNodeViews, readRunView, readScope, readStories } from '#http/run-reading.ts';
import type { StubCall } from './stub-calls.ts';
import type { TestWorld } from './test-world.ts';

/** A node of a run that was tested, as the API shows it, and how many attempts it had. */
export interface TestedNode extends NodeView {
  readonly attempts: number;
}

/** What a run came to, as the API shows it; times are virtual. */
export interface Outcome extends RunView {
  /** The nodes by id, in the order of the definition. */
  readonly nodes: Readonly<Record<string, TestedNode>>;
  /** Every call of a stub, in order; those of child pipelines too. */
  readonly starts: readonly StubCall[];
  /** What happened, in order. */
  readonly history: readonly HistoryEntry[];
  /** Virtual time from the creation of the run to its end, or to the end of the test. */
  readonly durationMs: number;
  /** Worlds with faults in which the run came to the same. @default 0 */
  readonly faultWorlds: number;
  /** The run and its nodes in sentences: how each stands, why, and what would move what is not over. */
  explain(): string;
}

/** Reads what a run came to. */
export async function readOutcome(world: TestWorld, runId: string): Promise<Outcome> {
  const deps: ApiDeps = { ...world.lookDeps(), sleep: async () => {}, logs: createMemoryLogs() };
  const scope = await readScope(deps, runId);
  const { run, pipeline } = scope;
  const view = await readRunView(deps, scope);
  const stories = await readStories(deps, run);
  const inOrder = pipeline.definitionOrder.flatMap((index) => pipeline.nodes[index] ?? []);
  const nodes: Record<string, TestedNode> = Object.create(null);
  for (const node of await readNodeViews(deps, scope, stories, inOrder, true)) {
    nodes[node.id] = { ...node, attempts: node.attempt };
  }
  const movers = new Map(unfinished(scope, stories).map((node) => [node.id, node.movedBy]));
  return {
    ...view,
    nodes,
    starts: world.calls.made,
    history: [...viewHistory(scope, await readDecisions(deps, run))],
    durationMs: (isRunOver(run.state) ? (run.endedAt ?? run.since) : world.now) - run.createdAt,
    faultWorlds: 0,
    explain: () => inSentences(view, Object.values(nodes), movers),
  };
}

function unfinished(scope: RunScope, stories: readonly NodeStory[]): UnfinishedNode[] {
  if (isRunOver(scope.run.state)) return [];
  return listUnfinished(scope).map(({ node }) =>
    explainUnfinished(scope, node, { story: stories[node.index] as NodeStory }),
  );
}

function inSentences(run: RunView, nodes: readonly TestedNode[], movers: ReadonlyMap<string, string>): string {
  const width = Math.max(0, ...nodes.map(({ id }) => id.length));
  return [
    `The run of ${run.pipeline} is ${run.state} (${run.reason}): ${run.message}`,
    ...nodes.map(({ id, state, reason, message, attempts }) => {
      const tries = attempts > 1 ? ` after ${attempts} attempts` : '';
      const mover = movers.get(id);
      return `  ${id.padEnd(width)}  ${state} (${reason})${tries}: ${message}${mover === undefined ? '' : ` → ${mover}`}`;
    }),
  ].join('\n');
}
