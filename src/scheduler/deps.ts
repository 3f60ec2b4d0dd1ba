import type { StepOptions } from '#domain/draft.ts';
import type { EngineFact } from '#domain/facts.ts';
import type {
  Clock,
  DueIndex,
  Evaluator,
  EventBus,
  Executions,
  Ids,
  Inbox,
  LimitStore,
  Memo,
  Payloads,
  PipelineStore,
  Reports,
  RunStore,
} from '#ports/index.ts';
import type { LimitTellings } from './limit-tellings.ts';

/** What one pass did, for the log: one line a pass. */
export interface PassLine {
  readonly run: string;
  readonly rev: number;
  readonly state: string;
  readonly commits: number;
  readonly conflicts: number;
  readonly results: number;
  readonly polled: number;
  readonly started: number;
  readonly stopped: number;
}

/** Everything that passes, commands and the tick work with. Made by a composition root. */
export interface PassDeps {
  readonly runs: RunStore;
  readonly limits: LimitStore;
  readonly pipelines: PipelineStore;
  readonly due: DueIndex;
  readonly memo: Memo;
  readonly reports: Reports;
  readonly payloads: Payloads;
  readonly executions: Executions;
  readonly inbox: Inbox;
  readonly bus: EventBus;
  readonly evaluator: Evaluator;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Engines by name. */
  readonly engines: ReadonlyMap<string, EngineFact>;
  /** Name of the installation, the prefix of execution names. */
  readonly installation: string;
  readonly options: StepOptions;
  readonly log?: (line: PassLine) => void;
  /** Given by an invocation to its passes, so that they tell limits together. @default each tells by itself */
  readonly limitTellings?: LimitTellings;
}
