import type { DueIndex, LimitStore, Memo, PipelineStore, Reports, RunStore, StartCounts } from '#ports/index.ts';
import type { LiveStore } from '#ports/live.ts';
import type { Fixture, SavedCall, SavedItem } from '../fixture.ts';

/** Something to be saved: how it is written, and how it is read. */
export interface Scene {
  readonly name: string;
  /** What it is, as a sentence. */
  readonly about: string;
  /** None where the items are made by hand. */
  readonly writes: Fixture['writes'];
  readonly items?: readonly SavedItem[];
  readonly reads: readonly Omit<SavedCall, 'gives'>[];
}

interface TablePorts {
  readonly runs: RunStore;
  readonly limits: LimitStore;
  readonly pipelines: PipelineStore;
  readonly memo: Memo;
  readonly reports: Reports;
  readonly startCounts: StartCounts;
  readonly live: LiveStore;
  readonly due: DueIndex;
}

/** A call on a port, as it is saved. */
export function call<Port extends keyof TablePorts, Name extends keyof TablePorts[Port] & string>(
  port: Port,
  name: Name,
  ...given: TablePorts[Port][Name] extends (...given: infer Given) => unknown ? Given : never
): Omit<SavedCall, 'gives'> {
  return { port, call: name, with: given };
}
