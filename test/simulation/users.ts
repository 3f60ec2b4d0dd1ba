/** What users do in a world: each does one thing after the other, and a client whose call died asks again. */
import type { PipelineDefinition } from '#domain/definition.ts';
import type { RunCommand } from '#domain/facts.ts';
import { commandRun } from '#scheduler/command-run.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { drainEngine, putEngine, removeEngine } from '#scheduler/engines.ts';
import { putPool } from '#scheduler/pools.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { type RerunRequest, rerunRun } from '#scheduler/rerun-run.ts';
import { startRun } from '#scheduler/start-run.ts';
import type { World } from './world.ts';

/** One thing that a user does, so long after the world's beginning (ms). */
export type UserAct = { readonly atMs: number } & (
  | {
      readonly kind: RunCommand['kind'];
      /** Of the runs that there are by then, which one: counted round. @default 0, the run that the world was made for */
      readonly run?: number;
    }
  | { readonly kind: 'start'; readonly pipeline: string; readonly key: string }
  /** Starts the run again that the world was made for, once it is over. */
  | ({ readonly kind: 'rerun' } & Pick<RerunRequest, 'from' | 'marks'> & { readonly key: string })
  /** Registers an engine, with a limit of attempts or without; drains it, or takes it away. */
  | {
      readonly kind: 'engine';
      readonly name: string;
      readonly slots?: number;
      readonly isDrained?: boolean;
      readonly isGone?: boolean;
    }
  | { readonly kind: 'pool'; readonly name: string; readonly slots: number }
  /** Asks something of the run that the world was made for; gives false to ask it again. */
  | { readonly kind: 'ask'; readonly ask: (deps: PassDeps, runId: string) => Promise<boolean> }
  | { readonly kind: 'put'; readonly definition: PipelineDefinition; readonly revision: string }
);

interface User {
  /** What is left to do; `at`: when (ms since the epoch). */
  readonly acts: { at: number; readonly act: UserAct }[];
  /** The run that it deals with, from the first time on that it does. */
  run: string | undefined;
}

/** How soon a client asks again (ms). */
const AGAIN_MS = 1_000;

function changeEngine(deps: PassDeps, { name, slots, isDrained, isGone }: UserAct & { readonly kind: 'engine' }) {
  if (isDrained) return drainEngine(deps, name);
  if (isGone) return removeEngine(deps, name);
  return putEngine(deps, name, { stateMachineArn: machineArn(name), maxConcurrent: slots, labels: [] });
}

/** The state machine of an engine of a world. */
export function machineArn(engine: string): string {
  return `arn:aws:states:us-east-1:000000000000:stateMachine:${engine}`;
}

export class Users {
  /** When a user was told that a run will stop, by its id. */
  readonly stopsAccepted = new Map<string, number>();
  private readonly users: User[];
  private readonly world: World;

  constructor(world: World, acts: readonly (readonly UserAct[])[]) {
    this.world = world;
    const toUser = (all: readonly UserAct[]): User => {
      return { acts: all.map((act) => ({ at: world.beganAt + act.atMs, act })), run: undefined };
    };
    this.users = acts.map(toUser);
  }

  isBusy(): boolean {
    return this.users.some(({ acts }) => acts.length > 0);
  }

  /** When the next of them does something. */
  nextAt(): number {
    return Math.min(...this.users.map(({ acts: [next] }) => next?.at ?? Number.POSITIVE_INFINITY));
  }

  /** Lets those do something whose time has come. */
  async act(): Promise<void> {
    for (const user of this.users) await this.next(user);
  }

  private async next(user: User): Promise<void> {
    const [next] = user.acts;
    if (!next || next.at > this.world.now) return;
    const { kind } = next.act;
    next.at = Number.POSITIVE_INFINITY;
    const askAgain = () => {
      next.at = this.world.now + AGAIN_MS;
    };
    user.run ??= this.targetOf(next.act);
    const target = user.run;
    await this.world.invoke({ what: kind, messages: [], onDeath: askAgain }, async (deps) => {
      const isDone = await this.ask(deps, next.act, target).catch((error: unknown) => {
        this.world.onTrouble(kind, error);
        return false;
      });
      if (isDone) user.acts.shift();
      else askAgain();
    });
  }

  /** Gives false where it has to be asked again. */
  private async ask(deps: PassDeps, act: UserAct, target: string): Promise<boolean> {
    switch (act.kind) {
      case 'start':
        await startRun(deps, {
          pipeline: act.pipeline,
          cause: { kind: 'key', key: act.key },
          tags: [['key', act.key]],
          trigger: { type: 'api' },
        });
        return true;
      case 'ask':
        return act.ask(deps, target);
      case 'rerun': {
        const { from, marks, key } = act;
        const outcome = await rerunRun(deps, { runId: target, from, revision: 'original', marks, key, by: 'user' });
        return outcome.kind !== 'active';
      }
      case 'engine':
        return (await changeEngine(deps, act)).kind !== 'busy';
      case 'pool':
        return (await putPool(deps, act.name, act.slots)).kind !== 'busy';
      case 'put':
        return (await putPipeline(deps, act)).kind !== 'busy';
      default: {
        const outcome = await commandRun(deps, target, act.kind, 'user');
        const isStopped = outcome.kind === 'done' && outcome.run.stop?.kind === 'user' && outcome.command !== 'over';
        if (act.kind === 'stop' && isStopped && !this.stopsAccepted.has(target)) {
          this.stopsAccepted.set(target, this.world.now);
        }
        return outcome.kind !== 'busy';
      }
    }
  }

  private targetOf(act: UserAct): string {
    const runs = this.world.runs.all();
    const place = 'run' in act && act.run !== undefined ? act.run : 0;
    return runs[place % runs.length]?.id ?? '';
  }
}
