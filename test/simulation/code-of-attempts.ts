/** The code of a world's attempts, as far as it reports: each report is a call of its own, repeated until it is taken. */
import type { MemoryExecution } from '#adapters/memory/memory-executions.ts';
import { parseExecutionName } from '#domain/execution-name.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { reportProgress } from '#scheduler/report-progress.ts';
import { require } from './invariant-error.ts';
import type { World } from './world.ts';

/** How soon a report that was not taken is made again (ms). */
const AGAIN_MS = 1_000;
/** Attempts of a node at most, for the check of a token. */
const MOST_ATTEMPTS = 10;

interface Report {
  readonly execution: MemoryExecution;
  readonly progress: number;
  at: number;
}

export class CodeOfAttempts {
  /** What reports came to, by outcome. */
  readonly outcomes = new Map<string, number>();
  private reports: Report[] = [];
  private readonly shown = new Map<string, number>();
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** An execution starts whose code reports at these times after its start (ms). */
  begin(execution: MemoryExecution, reportsAtMs: readonly number[]): void {
    const { now } = this.world;
    const all = reportsAtMs.map((at, place) => ({
      execution,
      at: now + at,
      progress: (place + 1) / reportsAtMs.length,
    }));
    this.reports.push(...all);
  }

  /** An execution is over: its code says no more, but what is under way. */
  end(execution: MemoryExecution): void {
    this.reports = this.reports.filter((report) => report.execution !== execution);
  }

  isBusy(): boolean {
    return this.reports.length > 0;
  }

  /** When the next report is made. */
  nextAt(): number {
    return Math.min(...this.reports.map(({ at }) => at));
  }

  /** Makes the reports whose time has come. */
  async act(): Promise<void> {
    for (const report of this.reports.filter(({ at }) => at <= this.world.now)) await this.make(report);
  }

  private async make(report: Report): Promise<void> {
    report.at = Number.POSITIVE_INFINITY;
    const again = () => {
      report.at = this.world.now + AGAIN_MS;
    };
    await this.world.invoke({ what: 'report', messages: [], onDeath: again }, async (deps) => {
      try {
        await this.say(deps, report);
        this.reports = this.reports.filter((one) => one !== report);
      } catch (error) {
        this.world.onTrouble('report', error);
        again();
      }
    });
  }

  private async say(deps: PassDeps, { execution, progress }: Report): Promise<void> {
    const key = parseExecutionName('sim', execution.name);
    const { millrace } = JSON.parse(execution.input) as { millrace: { token: string } };
    const run = key && (await deps.runs.readRun(key.run));
    if (!run) return;
    const { node, item, attempt } = key;
    const reporter = { node, item, attempt, token: millrace.token, maxAttempts: MOST_ATTEMPTS };
    const outcome = await reportProgress(deps, run, reporter, { progress });
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    const stored = await this.world.reports.readReport(run, { node, item, attempt });
    const before = this.shown.get(execution.name) ?? 0;
    const now = stored?.progress ?? 0;
    require(this.world, now >= before, () => `the progress of ${execution.name} fell from ${before} to ${now}`);
    this.shown.set(execution.name, now);
  }
}
