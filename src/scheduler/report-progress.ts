/** Takes what the code of an attempt says of its progress. It is an item of its own: no pass, and no commit of the run. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { attemptToken } from '#domain/attempt-token.ts';
import { type AttemptReport, REPORT_LIMITS } from '#domain/report.ts';
import type { Flight, RunRecord } from '#domain/run.ts';
import { indexRun } from '#domain/run-index.ts';
import type { AttemptPlace } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';

/** Who reports. */
export interface Reporter {
  /** Index of the node. */
  readonly node: number;
  readonly item?: number | undefined;
  /** @default the attempt that the token is of */
  readonly attempt?: number | undefined;
  /** Of the attempt, from its execution's input. */
  readonly token: string;
  /** How many attempts there can be. */
  readonly maxAttempts: number;
}

/** What became of a report. `over`: the attempt is over or being ended. `foreign`: the token is of no attempt there. */
export type ReportOutcome = 'taken' | 'over' | 'foreign';

/** Reports that write at the same time of the same attempt: after so many tries another one has told as much. */
const MAX_TRIES = 3;

/** Takes a report of an attempt that is under way. */
export async function reportProgress(
  deps: Pick<PassDeps, 'reports' | 'clock'>,
  run: RunRecord,
  reporter: Reporter,
  said: Pick<AttemptReport, 'progress' | 'message'>,
): Promise<ReportOutcome> {
  const attempt = attemptOf(run, reporter);
  if (attempt === undefined) return 'foreign';
  const { node, item } = reporter;
  if (!isOpen(flightOf(run, reporter), attempt)) return 'over';
  await keep(deps, run, { node, item, attempt }, said);
  return 'taken';
}

/** The attempt that a token is of; nothing where it is of none. */
function attemptOf(run: RunRecord, reporter: Reporter): number | undefined {
  const isOf = (attempt: number) => isSame(reporter.token, attemptToken(run, { ...reporter, attempt }));
  const named = reporter.attempt ?? flightOf(run, reporter)?.attempt;
  if (named !== undefined && isOf(named)) return named;
  if (reporter.attempt !== undefined) return undefined;
  for (let attempt = 1; attempt <= reporter.maxAttempts; attempt++) if (isOf(attempt)) return attempt;
  return undefined;
}

function flightOf(run: RunRecord, { node, item }: Pick<Reporter, 'node' | 'item'>): Flight | undefined {
  const { flights, itemFlights } = indexRun(run);
  return item === undefined ? flights.get(node) : itemFlights.get(node)?.get(item);
}

/** One that is being ended is as good as over: its code may as well stop. */
function isOpen(flight: Flight | undefined, attempt: number): boolean {
  return flight?.attempt === attempt && (flight.phase === 'starting' || flight.phase === 'running');
}

/** Hashes have one length, so that how long the comparison takes says nothing about the token. */
function isSame(given: string, token: string): boolean {
  const [left, right] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(left as Buffer, right as Buffer);
}

async function keep(
  { reports, clock }: Pick<PassDeps, 'reports' | 'clock'>,
  run: RunRecord,
  of: AttemptPlace,
  { progress, message }: Pick<AttemptReport, 'progress' | 'message'>,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const known = await reports.readReport(run, of);
    const now = clock.now();
    const isEnd = progress === 1 && known?.progress !== 1;
    if (known && !isEnd && now - known.at < REPORT_LIMITS.spacingMs) return;
    const report = {
      progress: Math.max(progress, known?.progress ?? 0),
      ...(message !== undefined && { message }),
      at: Math.max(now, known?.at ?? 0),
    };
    if ((await reports.putReport(run, of, report)) === 'put') return;
  }
}
