/** What users do in a world: each does one thing after the other, and a client whose call died asks again. */
import { type Answered, askFor, type Target, type UserAct } from './user-acts.ts';
import type { World } from './world.ts';

export type { UserAct } from './user-acts.ts';

interface User {
  /** What is left to do; `at`: when (ms since the epoch). */
  readonly acts: { at: number; readonly act: UserAct }[];
  /** The run that it deals with, from the first time on that it does. */
  run: string | undefined;
}

/** What a user was told. */
export interface Told {
  readonly act: UserAct;
  /** The run at which it was aimed, and that run's nonce. */
  readonly run: string;
  readonly nonce: string | undefined;
  readonly answer: string | undefined;
  /** When it was asked for, the last time, and when it was told (ms since the epoch). */
  readonly askedAt: number;
  readonly at: number;
}

/** How soon a client asks again (ms). */
const AGAIN_MS = 1_000;

export class Users {
  /** When a user was told that a run will stop, by its nonce. */
  readonly stopsAccepted = new Map<string, number>();
  /** All that they were told, in order; what has to be asked again is not among it. */
  readonly told: Told[] = [];
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
    const { act } = next;
    user.run ??= this.targetOf(act);
    const target = user.run;
    if (act.kind === 'request' || act.kind === 'lend') {
      user.acts.shift();
      if (act.kind === 'request') this.world.requests.send(act.body, act.copies);
      else this.world.lend(target, act.forMs);
      return;
    }
    next.at = Number.POSITIVE_INFINITY;
    const askAgain = () => {
      next.at = this.world.now + AGAIN_MS;
    };
    const askedAt = this.world.now;
    await this.world.invoke({ what: act.kind, messages: [], onDeath: askAgain }, async (deps) => {
      const answered = await askFor(deps, act, this.aim(target)).catch((error: unknown): Answered => {
        this.world.onTrouble(act.kind, error);
        return { isDone: false };
      });
      if (!answered.isDone) return askAgain();
      this.note(act, target, answered, askedAt);
      user.acts.shift();
    });
  }

  private note(act: UserAct, run: string, { answer, outcome }: Answered, askedAt: number): void {
    const { now, runs } = this.world;
    const nonce = outcome?.kind === 'done' ? outcome.run.nonce : runs.all().find(({ id }) => id === run)?.nonce;
    this.told.push({ act, run, nonce, answer, askedAt, at: now });
    if (act.kind !== 'stop' || outcome?.kind !== 'done') return;
    const isStopped = outcome.run.stop?.kind === 'user' && outcome.command !== 'over';
    const told = outcome.run.nonce;
    if (isStopped && !this.stopsAccepted.has(told)) this.stopsAccepted.set(told, now);
  }

  private aim(run: string): Target {
    const known = this.world.runs.all().find(({ id }) => id === run);
    return { run, indexOf: (node) => (known && this.world.pipelineOf(known).indexOf.get(node)) ?? -1 };
  }

  private targetOf(act: UserAct): string {
    const runs = this.world.runs.all();
    const place = 'run' in act && act.run !== undefined ? act.run : 0;
    return runs[place % runs.length]?.id ?? '';
  }
}
