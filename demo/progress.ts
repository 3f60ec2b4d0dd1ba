import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, Node, Run } from './api.ts';
import { duration, line, type Style, styled } from './screen.ts';

/** Wait between two looks: short while things happen, longer while nothing does. */
const WAIT_MS = { shortest: 200, longest: 1000, growth: 1.3 };
const ENDED: ReadonlySet<string> = new Set(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']);
const OVER: ReadonlySet<string> = new Set([...ENDED, 'SKIPPED', 'UPSTREAM_FAILED']);
const styles: Readonly<Record<string, Style>> = {
  RUNNING: 'cyan',
  SUCCEEDED: 'green',
  RETRY_WAIT: 'yellow',
  SKIPPED: 'dim',
  UPSTREAM_FAILED: 'red',
  FAILED: 'red',
  TIMED_OUT: 'red',
  ABORTED: 'red',
};

/** One thing that happened to a node. */
export interface NodeChange {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly node: string;
  readonly state: string;
  readonly attempt: number;
  readonly note: string;
}

/**
 * Follows the nodes of a run until it has ended.
 *
 * @param show told of each change, and how wide the longest node id is @default prints a line
 * @throws Error if it has not ended after `limitMs`
 */
export async function follow(
  api: Api,
  runId: string,
  limitMs: number,
  show: (change: NodeChange, begun: number, width: number) => void = showChange,
): Promise<{ run: Run; nodes: Node[] }> {
  const begun = Date.now();
  let seen = new Map<string, Node>();
  let width = 0;
  let wait = WAIT_MS.shortest;
  for (;;) {
    const nodes = await api.nodes(runId);
    width ||= Math.max(...nodes.map(({ id }) => id.length));
    const news = changes(seen, nodes, Date.now());
    for (const change of news) show(change, begun, width);
    wait = news.length > 0 ? WAIT_MS.shortest : Math.min(wait * WAIT_MS.growth, WAIT_MS.longest);
    // A run ends with or after the last of its nodes.
    const run = nodes.every(({ state }) => OVER.has(state)) ? await api.run(runId) : undefined;
    if (run && ENDED.has(run.state)) return { run, nodes };
    if (Date.now() - begun > limitMs)
      throw new Error(`The run has not ended after ${duration(limitMs)}: ${(await api.run(runId)).message}`);
    seen = new Map(nodes.map((node) => [node.id, node]));
    await sleep(wait);
  }
}

/** What happened between two looks at the nodes, in order of time; a start that fell between them is told, too. */
export function changes(seen: ReadonlyMap<string, Node>, nodes: readonly Node[], now: number): NodeChange[] {
  return nodes.flatMap((node) => changesOf(seen.get(node.id), node, now)).sort((a, b) => a.at - b.at);
}

function changesOf(before: Node | undefined, node: Node, now: number): NodeChange[] {
  const told: NodeChange[] = [];
  const tell = (at: number, state: string, note: string) =>
    told.push({ at, node: node.id, state, attempt: node.attempt, note });
  const isNewAttempt = node.attempt > 0 && before?.attempt !== node.attempt;
  if (isNewAttempt && node.attempt === 1 && node.startedAt !== undefined) tell(node.startedAt, 'RUNNING', '');
  // The start of a later attempt is known only while it runs.
  if (isNewAttempt && node.attempt > 1 && node.state === 'RUNNING')
    tell(node.since, 'RUNNING', `attempt ${node.attempt}`);
  if (node.state !== before?.state && node.state in styles && node.state !== 'RUNNING')
    tell(node.endedAt ?? node.since, node.state, noteOf(node, now));
  return told;
}

function noteOf(node: Node, now: number): string {
  const error = node.error ? `${node.error.name}: ${node.error.message}` : node.reason;
  if (node.state === 'RETRY_WAIT') {
    const next =
      node.nextAttemptAt === undefined ? '' : `, tries again in ${duration(Math.max(0, node.nextAttemptAt - now))}`;
    return `attempt ${node.attempt} failed: ${error}${next}`;
  }
  if (node.state !== 'SUCCEEDED') return error;
  const took = node.startedAt === undefined ? 0 : (node.endedAt ?? node.since) - node.startedAt;
  return `after ${duration(took)}${node.attempt > 1 ? `, at attempt ${node.attempt}` : ''}`;
}

function showChange({ at, node, state, note }: NodeChange, begun: number, width: number): void {
  const seconds = (Math.max(0, at - begun) / 1000).toFixed(2).padStart(6);
  line(
    `${styled('dim', `${seconds} s`)}  ${node.padEnd(width)}  ${styled(styles[state] ?? 'dim', state.padEnd(10))}  ${note}`,
  );
}
