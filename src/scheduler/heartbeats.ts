import pMap from 'p-map';
import { silentAt } from '#domain/due.ts';
import type { Heartbeat } from '#domain/facts.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { withHeard } from '#domain/heard.ts';
import type { Flight, RunRecord } from '#domain/run.ts';
import type { PassDeps } from './deps.ts';

/** Reports that are read at the same time. */
const PARALLEL_READS = 20;

/**
 * Reads the last reports of the attempts that should have reported by now.
 * @returns the flights, those with what is new of them; and what was read, a fact even where it is nothing
 */
export async function hear(
  { reports, clock }: Pick<PassDeps, 'reports' | 'clock'>,
  { pipeline, run }: { readonly pipeline: CompiledPipeline; readonly run: RunRecord },
  flights: readonly Flight[],
): Promise<{ readonly flights: readonly Flight[]; readonly heartbeats: readonly Heartbeat[] }> {
  const now = clock.now();
  const heartbeats: Heartbeat[] = [];
  const heard = await pMap(
    flights,
    async (flight) => {
      if (silentAt(pipeline, flight) > now) return flight;
      const { node, item, attempt } = flight;
      const report = await reports.readReport(run, flight);
      heartbeats.push({ node, item, attempt, ...(report && { at: report.at }) });
      return withHeard(flight, report?.at);
    },
    { concurrency: PARALLEL_READS },
  );
  return { flights: heard, heartbeats };
}
