/** The users of a test, who do something with its run while that goes on. */
import type { MarkState } from '#domain/run.ts';
import { markNode } from '#scheduler/ask-run.ts';
import { commandRun } from '#scheduler/command-run.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import type { PassOutcome } from '#scheduler/pass.ts';
import type { Happening, Stage } from './stage.ts';

/** How soon a user asks again who got no answer (ms). */
const AGAIN_MS = 1_000;

/** What a user does with the run that is tested. */
export type UserAct = {
  /** When, from the creation of the run on (virtual ms). */
  readonly atMs: number;
} & (
  | { readonly act: 'stop' | 'pause' | 'resume' }
  /** Decides an unfinished node by hand. */
  | { readonly act: 'mark'; readonly node: string; readonly state: MarkState }
);

interface Waiting {
  readonly act: UserAct;
  at: number;
}

/** What users will do, one thing after the other. */
export class UserActs implements Happening {
  private readonly waiting: Waiting[];
  private readonly stage: Stage;
  private readonly runId: () => string;

  /** @param runId asked for when something is done */
  constructor(stage: Stage, acts: readonly UserAct[], runId: () => string) {
    this.stage = stage;
    this.runId = runId;
    const inOrder = acts.toSorted((a, b) => a.atMs - b.atMs);
    this.waiting = inOrder.map((act) => ({ act, at: stage.beganAt + act.atMs }));
  }

  isBusy(): boolean {
    return this.waiting.length > 0;
  }

  nextAt(): number {
    return this.waiting[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  async act(): Promise<void> {
    const [next] = this.waiting;
    if (!next || next.at > this.stage.now) return;
    next.at = Number.POSITIVE_INFINITY;
    const again = () => {
      next.at = this.stage.now + AGAIN_MS;
    };
    await this.stage.invoke({ what: next.act.act, messages: [], onDeath: again }, async (deps) => {
      try {
        const { kind } = await ask(deps, this.runId(), next.act);
        if (kind === 'busy') again();
        else this.waiting.shift();
      } catch (error) {
        this.stage.onTrouble(next.act.act, error);
        again();
      }
    });
  }
}

function ask(deps: PassDeps, runId: string, act: UserAct): Promise<PassOutcome> {
  if (act.act !== 'mark') return commandRun(deps, runId, act.act, 'test');
  return markNode(deps, runId, { node: act.node, state: act.state, by: 'test' });
}
