import type { ExecutionListItem } from '@aws-sdk/client-sfn';
import pMap from 'p-map';
import { parseExecutionName } from '#domain/execution-name.ts';
import type { AttemptSeen, FaultClient, HistoryEntrySeen, NodeSeen, RunSeen } from './fault-client.ts';
import type { Scenario } from './fault-pipelines.ts';

/** All that the API and the engine say about a run that is over. */
export interface RunEvidence {
  readonly run: RunSeen;
  readonly nodes: readonly NodeSeen[];
  readonly attempts: ReadonlyMap<string, readonly AttemptSeen[]>;
  readonly history: readonly HistoryEntrySeen[];
  /** Executions of this run, whatever the API says of them. */
  readonly executions: readonly ExecutionListItem[];
}

/** Collects it. */
export async function collect(client: FaultClient, runId: string): Promise<RunEvidence> {
  const [run, nodes, history, all] = await Promise.all([
    client.run(runId),
    client.nodes(runId),
    client.history(runId),
    client.executions(),
  ]);
  const attempts = await pMap(nodes, async ({ id }) => [id, await client.attempts(runId, id)] as const, {
    concurrency: 4,
  });
  const executions = all.filter(({ name }) => parseExecutionName('millrace', name ?? '')?.run === runId);
  return { run, nodes, attempts: new Map(attempts), history, executions };
}

/** Whether the run ended as its scenario has to; what is wrong, as sentences. */
export function endFaults({ run, nodes }: RunEvidence, scenario: Scenario): string[] {
  const faults: string[] = [];
  if (run.state !== scenario.state) faults.push(`the run is ${run.state}, not ${scenario.state}`);
  if (scenario.output !== undefined && run.output !== scenario.output) faults.push(`its output is ${run.output}`);
  const wanted = scenario.definition.nodes.map(({ id }) => id);
  if (nodes.map(({ id }) => id).join() !== wanted.join()) faults.push(`it has the nodes ${nodes.map(({ id }) => id)}`);
  for (const { id, state, attempt } of nodes) {
    const [wantedState, wantedAttempt] = scenario.others.get(id) ?? ['SUCCEEDED', 1];
    if (state === wantedState && attempt === wantedAttempt) continue;
    faults.push(`${id} is ${state} at attempt ${attempt}, not ${wantedState} at ${wantedAttempt}`);
  }
  return faults;
}

/** What must hold of every run that is over, however it ended: one execution an attempt, in order, and a history that agrees. */
export function evidenceFaults(evidence: RunEvidence, upstreams: ReadonlyMap<string, readonly string[]>): string[] {
  return [...attemptFaults(evidence), ...orderFaults(evidence, upstreams), ...historyFaults(evidence)];
}

function attemptFaults({ nodes, attempts, executions }: RunEvidence): string[] {
  const faults: string[] = [];
  const byArn = new Map(executions.map((execution) => [execution.executionArn, execution]));
  if (byArn.size !== executions.length) faults.push('an execution is listed twice');
  const claimed = new Set<string | undefined>();
  for (const { id, attempt: last, state } of nodes) {
    const own = attempts.get(id) ?? [];
    if (own.length !== last) faults.push(`${id} has ${own.length} attempts and says ${last}`);
    own.forEach((attempt, index) => {
      if (attempt.attempt !== index + 1) faults.push(`attempt ${index + 1} of ${id} says ${attempt.attempt}`);
      const { executionArn } = attempt;
      claimed.add(executionArn);
      const execution = byArn.get(executionArn);
      if (execution === undefined) {
        // A stop may come before an execution that was decided was asked for.
        if (attempt.state !== 'ABORTED') faults.push(`attempt ${attempt.attempt} of ${id} has no execution`);
      } else if (execution.status !== attempt.state && attempt.ignored.length === 0) {
        faults.push(`attempt ${attempt.attempt} of ${id} is ${attempt.state}, its execution ${execution.status}`);
      }
      if (attempt.ignored.length > 0 && attempt.state !== 'ABORTED') faults.push(`a completion of ${id} was ignored`);
    });
    // A stop ends the wait for a retry, too.
    const wasWaiting = state === 'ABORTED' && own.at(-1)?.state === 'FAILED';
    if (last > 0 && own.at(-1)?.state !== state && !wasWaiting) {
      faults.push(`${id} is ${state}, its last attempt ${own.at(-1)?.state}`);
    }
  }
  for (const { name, status, executionArn } of executions) {
    if (!claimed.has(executionArn)) faults.push(`execution ${name} belongs to no attempt`);
    if (status === 'RUNNING') faults.push(`execution ${name} still runs`);
  }
  return faults;
}

/** The time over which each node had executions, in milliseconds since 1970. */
export function spans(evidence: RunEvidence): Map<string, { readonly start: number; readonly stop: number }> {
  const found = new Map<string, { start: number; stop: number }>();
  const byArn = new Map(evidence.executions.map((execution) => [execution.executionArn, execution]));
  for (const [id, attempts] of evidence.attempts) {
    const own = attempts.flatMap(({ executionArn }) => byArn.get(executionArn) ?? []);
    if (own.length === 0) continue;
    const start = Math.min(...own.map(({ startDate }) => startDate?.getTime() ?? Number.NaN));
    const stop = Math.max(...own.map(({ stopDate }) => stopDate?.getTime() ?? Number.NaN));
    found.set(id, { start, stop });
  }
  return found;
}

/** Milliseconds from the end of the last upstream to the start of a node, for every node that has both. */
export function hops(evidence: RunEvidence, upstreams: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const known = spans(evidence);
  const found = new Map<string, number>();
  for (const [id, { start }] of known) {
    const ends = (upstreams.get(id) ?? []).flatMap((upstream) => known.get(upstream)?.stop ?? []);
    if (ends.length > 0) found.set(id, start - Math.max(...ends));
  }
  return found;
}

function orderFaults(evidence: RunEvidence, upstreams: ReadonlyMap<string, readonly string[]>): string[] {
  const early = [...hops(evidence, upstreams)].filter(([, hop]) => !(hop >= 0));
  return early.map(([id, hop]) => `${id} started ${-hop} ms before its upstreams ended`);
}

const terminalNode = new Set(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'SKIPPED', 'UPSTREAM_FAILED']);

function historyFaults({ nodes, history, run }: RunEvidence): string[] {
  const faults: string[] = [];
  const byNode = Map.groupBy(
    history.filter((entry) => entry.node !== undefined),
    (entry) => entry.node as string,
  );
  for (const { id, state, attempt } of nodes) {
    const entries = byNode.get(id) ?? [];
    if (entries.at(-1)?.state !== state)
      faults.push(`the history of ${id} ends ${entries.at(-1)?.state}, not ${state}`);
    if (entries.filter((entry) => terminalNode.has(entry.state)).length !== 1) {
      faults.push(`${id} came to its end more than once or not at all`);
    }
    const starts = entries.filter((entry) => entry.state === 'RUNNING').map((entry) => entry.attempt);
    const wanted = Array.from({ length: attempt }, (_, index) => index + 1);
    if (starts.join() !== wanted.join())
      faults.push(`the history of ${id} starts the attempts ${starts}, not ${wanted}`);
  }
  const revs = history.map(({ rev }) => rev);
  if (revs.some((rev, index) => rev < (revs[index - 1] ?? 0))) faults.push('the history is not in order');
  const ofRun = history.filter((entry) => entry.node === undefined).map((entry) => entry.state);
  if (ofRun.at(-1) !== run.state) faults.push(`the history of the run ends ${ofRun.at(-1)}, not ${run.state}`);
  if (new Set(ofRun).size !== ofRun.length) faults.push(`the run went through ${ofRun}`);
  const stop = history.find((entry) => entry.node === undefined && entry.state === 'STOPPING');
  for (const entry of history) {
    if (stop === undefined || entry.state !== 'RUNNING' || entry.rev < stop.rev) continue;
    faults.push(`${entry.node ?? 'the run'} was started after the stop`);
  }
  return faults;
}
