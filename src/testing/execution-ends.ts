import type { ExecutionEnd, MemoryExecution, MemoryExecutions } from '#adapters/memory/memory-executions.ts';
import type { Happening } from './stage.ts';

interface PlannedEnd {
  /** When it ends (ms since the epoch). */
  readonly at: number;
  readonly execution: MemoryExecution;
  readonly end: ExecutionEnd;
}

/** The ends of executions that are still to come. */
export class ExecutionEnds implements Happening {
  private planned: PlannedEnd[] = [];
  private readonly executions: () => MemoryExecutions;
  private readonly now: () => number;

  /** @param executions asked for when one ends, since whoever listens to them is told about starts as well */
  constructor(executions: () => MemoryExecutions, now: () => number) {
    this.executions = executions;
    this.now = now;
  }

  /** An execution will end like this, unless it ends before. */
  plan(end: PlannedEnd): void {
    this.planned.push(end);
  }

  /** What an execution would have come to is of no interest any more. */
  forget(execution: MemoryExecution): void {
    this.planned = this.planned.filter((planned) => planned.execution !== execution);
  }

  /** No execution will end by itself. */
  forgetAll(): void {
    this.planned = [];
  }

  isBusy(): boolean {
    return this.planned.length > 0;
  }

  nextAt(): number {
    return Math.min(...this.planned.map(({ at }) => at));
  }

  /** Ends those whose time has come. */
  act(): void {
    const now = this.now();
    for (const { execution, end } of this.planned.filter(({ at }) => at <= now)) {
      this.executions().end(execution.name, end);
    }
  }
}
