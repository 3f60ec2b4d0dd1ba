/** What a client is told first: how a run, or the runs of a pipeline, stand now. */
import type { Json, JsonObject } from '#domain/json.ts';
import { indexRun } from '#domain/run-index.ts';
import type { RunScope } from '#domain/run-scope.ts';
import { viewRun } from '#domain/run-view.ts';
import { limitsOfRunView } from '#domain/waiting-for.ts';
import { nodeTold } from '#scheduler/announce.ts';
import { frameWithList } from './live-frames.ts';
import { readReports } from './report-reading.ts';
import type { ApiDeps } from './route.ts';
import { toRunLine } from './run-line.ts';
import { withLimits } from './waiting-reading.ts';

/** Longest run that a snapshot holds with its tags (bytes of its JSON text), so that there is room for nodes. */
const MAX_RUN_BYTES = 8 * 1024;
/** Runs of a pipeline that are told. */
const NEWEST_RUNS = 50;

/** The snapshot of a run: itself without input and output, and its nodes in definition order. */
export async function runSnapshot(deps: Pick<ApiDeps, 'limits' | 'reports'>, scope: RunScope): Promise<string> {
  const { run, pipeline } = scope;
  const [seen, reports] = await Promise.all([
    withLimits(deps, scope, limitsOfRunView(scope)),
    readReports(deps, scope),
  ]);
  const { input: _input, ...view } = viewRun(seen, { input: null, reports });
  const { flights } = indexRun(run);
  const nodes = pipeline.definitionOrder.map((index) => {
    const attempt = flights.get(index)?.attempt;
    return { ...nodeTold(pipeline, run, index), ...(attempt !== undefined && { attempt }) };
  });
  const { tags, ...rest } = view;
  const isLong = Buffer.byteLength(JSON.stringify(view)) > MAX_RUN_BYTES;
  const shown = (isLong ? rest : { ...rest, tags }) as unknown as Json;
  return frameWithList({ type: 'Snapshot', run: shown }, 'nodes', nodes, isLong);
}

/** The snapshot of a pipeline: its newest runs, newest first. */
export async function pipelineSnapshot({ runs }: Pick<ApiDeps, 'runs'>, pipeline: string): Promise<string> {
  const { items, last } = await runs.listRuns({ pipeline, limit: NEWEST_RUNS });
  const lines = items.map((header) => toRunLine(header) as unknown as JsonObject);
  return frameWithList({ type: 'Snapshot', pipeline }, 'runs', lines, last !== undefined);
}
