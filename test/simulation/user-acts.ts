/** One thing that a user of a world does, and how it is asked for. */
import type { PipelineDefinition } from '#domain/definition.ts';
import type { RunCommand } from '#domain/facts.ts';
import type { MarkState } from '#domain/run.ts';
import { answerAttempt, deleteRun, markNode } from '#scheduler/ask-run.ts';
import { commandRun } from '#scheduler/command-run.ts';
import { deletePipeline } from '#scheduler/delete-pipeline.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { drainEngine, putEngine, removeEngine, reportHeartbeat } from '#scheduler/engines.ts';
import type { PassOutcome } from '#scheduler/pass.ts';
import { pausePipeline, resumePipeline } from '#scheduler/pause-pipeline.ts';
import { putPool } from '#scheduler/pools.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { type RerunRequest, rerunRun } from '#scheduler/rerun-run.ts';
import { type BackfillRequest, startBackfill } from '#scheduler/start-backfill.ts';
import { startRun } from '#scheduler/start-run.ts';
import { machineArn } from '#testing/stage.ts';

/** Of the runs that there are by then, which one it is about: counted round. @default 0, the run that the world was made for */
interface OfRun {
  readonly run?: number;
}

/** What is asked of one run. */
export type RunAct = OfRun &
  (
    | { readonly kind: RunCommand['kind'] }
    /** Starts the run again, once it is over. */
    | ({ readonly kind: 'rerun' } & Pick<RerunRequest, 'from' | 'marks'> & { readonly key: string })
    | { readonly kind: 'mark'; readonly node: string; readonly state: MarkState }
    | {
        readonly kind: 'answer';
        readonly node: string;
        readonly item?: number | undefined;
        readonly attempt: number;
        readonly approve: boolean;
      }
    | { readonly kind: 'delete'; readonly isForced: boolean }
    /** Newer code has the run for so long (ms). */
    | { readonly kind: 'lend'; readonly forMs: number }
    /** Asks something else; gives false to ask it again. */
    | { readonly kind: 'ask'; readonly ask: (deps: PassDeps, runId: string) => Promise<boolean> }
  );

/** One thing that a user does, so long after the world's beginning (ms). */
export type UserAct = { readonly atMs: number } & (
  | RunAct
  | { readonly kind: 'start'; readonly pipeline: string; readonly key: string }
  /** Registers an engine, with a limit of attempts or without; drains it, or takes it away. */
  | {
      readonly kind: 'engine';
      readonly name: string;
      readonly slots?: number;
      readonly heartbeatSeconds?: number;
      readonly isDrained?: boolean;
      readonly isGone?: boolean;
    }
  /** The owner of an engine reports. */
  | { readonly kind: 'beat'; readonly name: string }
  | { readonly kind: 'pool'; readonly name: string; readonly slots: number }
  | { readonly kind: 'put'; readonly definition: PipelineDefinition; readonly revision: string }
  | { readonly kind: 'pausePipeline' | 'resumePipeline'; readonly pipeline: string }
  | { readonly kind: 'deletePipeline'; readonly pipeline: string; readonly isForced: boolean }
  | ({ readonly kind: 'backfill'; readonly pipeline: string } & BackfillRequest)
  /** Another system puts an event on the bus, and the bus hands it over so many times. */
  | { readonly kind: 'request'; readonly body: string; readonly copies: number }
);

/** What a user was answered; `again`: it has to be asked again. */
export interface Answered {
  readonly isDone: boolean;
  /** The answer of a command of a run, or what became of the request. */
  readonly answer?: string;
  readonly outcome?: PassOutcome;
}

const toAnswered = ({ kind }: { readonly kind: string }): Answered => ({ isDone: kind !== 'busy', answer: kind });

/** A run at which an act is aimed. */
export interface Target {
  readonly run: string;
  /** Index of a node of it. */
  indexOf(node: string): number;
}

/** Asks for what an act is. */
export async function askFor(deps: PassDeps, act: UserAct, target: Target): Promise<Answered> {
  switch (act.kind) {
    case 'start':
      return toAnswered(
        await startRun(deps, {
          pipeline: act.pipeline,
          cause: { kind: 'key', key: act.key },
          tags: [['key', act.key]],
          trigger: { type: 'api' },
        }),
      );
    case 'engine':
      return toAnswered(await changeEngine(deps, act));
    case 'beat':
      return toAnswered(await reportHeartbeat(deps, act.name));
    case 'pool':
      return toAnswered(await putPool(deps, act.name, act.slots));
    case 'put':
      return toAnswered(await putPipeline(deps, act));
    case 'pausePipeline':
      return toAnswered(await pausePipeline(deps, act.pipeline, 'user'));
    case 'resumePipeline':
      return toAnswered(await resumePipeline(deps, act.pipeline));
    case 'deletePipeline':
      return toAnswered(await deletePipeline(deps, act.pipeline, { isForced: act.isForced, by: 'user' }));
    case 'backfill':
      return toAnswered(await startBackfill(deps, act.pipeline, act));
    case 'request':
    case 'lend':
      throw new Error(`a ${act.kind} is no call of ours`);
    default:
      return askRun(deps, act, target);
  }
}

function changeEngine(
  deps: PassDeps,
  { name, slots, heartbeatSeconds, isDrained, isGone }: UserAct & { readonly kind: 'engine' },
) {
  if (isDrained) return drainEngine(deps, name);
  if (isGone) return removeEngine(deps, name);
  return putEngine(deps, name, {
    stateMachineArn: machineArn(name),
    maxConcurrent: slots,
    labels: [],
    ...(heartbeatSeconds !== undefined && { heartbeatSeconds }),
  });
}

async function askRun(
  deps: PassDeps,
  act: Exclude<RunAct, { kind: 'lend' }>,
  { run: target, indexOf }: Target,
): Promise<Answered> {
  switch (act.kind) {
    case 'ask':
      return { isDone: await act.ask(deps, target) };
    case 'rerun': {
      const { from, marks, key } = act;
      const again = { runId: target, from, revision: 'original', marks, key, by: 'user' } as const;
      const { kind } = await rerunRun(deps, again);
      return { isDone: kind !== 'active', answer: kind };
    }
    case 'mark':
      return toTold(await markNode(deps, target, { node: act.node, state: act.state, by: 'user' }));
    case 'delete':
      return toTold(await deleteRun(deps, target, { isForced: act.isForced, by: 'user' }));
    case 'answer': {
      const { item, attempt, approve } = act;
      const given = { node: indexOf(act.node), item, attempt, approve, by: 'user' };
      return toTold(await answerAttempt(deps, target, given));
    }
    default:
      return toTold(await commandRun(deps, target, act.kind, 'user'));
  }
}

function toTold(outcome: PassOutcome): Answered {
  const isDone = outcome.kind !== 'busy' && outcome.kind !== 'newer';
  const told = outcome.kind === 'done' ? outcome.command : outcome.kind;
  return { isDone, outcome, ...(told !== undefined && { answer: told }) };
}
