import { collect, evidenceFaults, type RunEvidence } from './fault-audit.ts';
import type { FaultClient } from './fault-client.ts';
import { type Trial, upstreamsOf } from './fault-trial.ts';

/** Stops a run, waits for its end, and says what is wrong with it. */
export async function judgeStopped(client: FaultClient, trial: Trial, limitMs: number): Promise<string[]> {
  const { id, scenario } = trial;
  const { outcome, at } = await client.stopRun(id);
  await client.ended(id, limitMs);
  const evidence = await collect(client, id);
  const faults = [...evidenceFaults(evidence, upstreamsOf(scenario)), ...stopFaults(evidence, outcome, at)];
  return faults.map((fault) => `${scenario.definition.name} ${id}, stop ${outcome}: ${fault}`);
}

/**
 * Either the stop was accepted, and the run ended ABORTED, or FAILED where a node was bad before, and nothing was
 * started afterwards; or the run was over. A stop that was asked for twice, since its first answer was lost, counts as accepted.
 */
function stopFaults({ run, nodes, history, executions }: RunEvidence, outcome: string, at: number): string[] {
  const stop = history.find((entry) => entry.node === undefined && entry.state === 'STOPPING');
  if (stop === undefined) {
    const isOver = run.state === 'SUCCEEDED' || run.state === 'FAILED';
    return outcome === 'ALREADY_FINISHED' && isOver ? [] : [`it was never stopping, and is ${run.state}`];
  }
  const faults: string[] = [];
  const wasBad = nodes.some(({ state }) => state === 'FAILED');
  if (run.state !== 'ABORTED' && !(run.state === 'FAILED' && wasBad)) faults.push(`it ended ${run.state}`);
  for (const { name, startDate = new Date(0) } of executions) {
    const lateMs = startDate.getTime() - at;
    if (lateMs > 0) faults.push(`execution ${name} started ${lateMs} ms after the stop was answered`);
  }
  return faults;
}
