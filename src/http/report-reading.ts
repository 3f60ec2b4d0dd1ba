/** Reads what attempts under way said of themselves, where that is asked for. */
import { ENGINES_WITHOUT_CODE } from '#domain/built-in-engines.ts';
import type { AttemptReport } from '#domain/report.ts';
import type { Flight } from '#domain/run.ts';
import type { RunScope } from '#domain/run-scope.ts';
import type { ApiDeps } from './route.ts';

/** Nodes whose reports the view of a run reads for its progress: it is read often, and has to stay cheap. */
const REPORTS_OF_A_RUN = 20;

/** The last report of an attempt; nothing where it is not under way. */
export async function readReport(
  deps: Pick<ApiDeps, 'reports'>,
  scope: RunScope,
  flight: Flight | undefined,
): Promise<AttemptReport | undefined> {
  return flight && mayReport(scope, flight) ? deps.reports.readReport(scope.run, flight) : undefined;
}

/** The last reports of nodes under way, of {@link REPORTS_OF_A_RUN} at most; those that have to report go first. */
export async function readReports(deps: Pick<ApiDeps, 'reports'>, scope: RunScope): Promise<AttemptReport[]> {
  const { run, pipeline } = scope;
  const open = run.flights.filter((flight) => flight.item === undefined && mayReport(scope, flight));
  const hasTo = Object.groupBy(open, ({ node }) => (pipeline.nodes[node]?.heartbeatMs === undefined ? 'no' : 'yes'));
  const chosen = [...(hasTo.yes ?? []), ...(hasTo.no ?? [])].slice(0, REPORTS_OF_A_RUN);
  const reports = await Promise.all(chosen.map((flight) => deps.reports.readReport(run, flight)));
  return reports.filter((report) => report !== undefined);
}

function mayReport({ pipeline }: RunScope, { node, phase }: Flight): boolean {
  const isOpen = phase === 'starting' || phase === 'running' || phase === 'stopping';
  return isOpen && !ENGINES_WITHOUT_CODE.has(pipeline.nodes[node]?.engine ?? '');
}
