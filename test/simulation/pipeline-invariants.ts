/** What must hold of pipelines once a world has come to rest. */
import { toIsoTime } from '#domain/iso-time.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import { unpackHead } from '#domain/pipeline-head-codec.ts';
import { isRunOver } from '#domain/run.ts';
import { require } from './invariant-error.ts';
import type { World } from './world.ts';

/** At the end: nothing of a pipeline is left to do or to be told, and what was told last of it is how it stands. */
export function checkPipelinesFinally(world: World): void {
  for (const packed of world.heads.values()) {
    const head = unpackHead(packed);
    require(world, head.dueAt === undefined, () => `pipeline ${head.name} is still due at the end`);
    require(world, head.tells === undefined, () => `pipeline ${head.name} has still something to tell`);
    if (head.ready) checkTold(world, head, head.ready.message);
  }
  checkDeleted(world);
}

interface ToldPipeline {
  readonly pipeline: string;
  readonly createdAt: string;
  readonly version: number;
  readonly revision: string;
  readonly conditions: readonly { readonly message: string }[];
}

function checkTold(world: World, { name, createdAt, revision: wanted }: PipelineHead, message: string): void {
  const told = world.trace.told
    .filter(({ detailType }) => detailType === 'PipelineChanged')
    .map(({ detail }) => detail as unknown as ToldPipeline)
    // One of the same name that was deleted had versions of its own.
    .filter((one) => one.pipeline === name && one.createdAt === toIsoTime(createdAt));
  const newest = Math.max(...told.map(({ version }) => version));
  const isTold = told.some(
    ({ version, revision, conditions }) =>
      version === newest && revision === wanted && conditions[0]?.message === message,
  );
  require(world, isTold, () =>
    `what was told last of pipeline ${name} is not how it stands: ${JSON.stringify(told.at(-1))}`);
}

/** A pipeline whose deletion was accepted is gone; if that was forced, so are the runs that were active then. */
function checkDeleted(world: World): void {
  for (const { act, answer, askedAt } of world.users.told) {
    if (act.kind !== 'deletePipeline' || answer !== 'deleted') continue;
    const { pipeline, isForced } = act;
    const skew = 2 * (world.faults.skewMs ?? 0);
    const head = world.heads.get(pipeline);
    // A put that was under way meanwhile makes it anew.
    const isLater = head !== undefined && unpackHead(head).createdAt + skew >= askedAt;
    require(world, !head || isLater, () => `pipeline ${pipeline} is still there, its deletion was accepted`);
    const latest = askedAt + world.options.passMs + skew;
    const late =
      isQuietWorld(world) &&
      world.runs.everAll().find((run) => {
        return run.pipeline === pipeline && !run.parent && run.createdAt > latest;
      });
    require(world, !late, () => `run ${late ? late.id : ''} was started after pipeline ${pipeline} was deleted`);
    if (!isForced || isListSlow(world)) continue;
    const left = world.runs.all().find((run) => {
      return run.pipeline === pipeline && !run.parent && (!isRunOver(run.state) || (run.endedAt ?? 0) > latest);
    });
    require(world, !left, () => `run ${left?.id} is left of pipeline ${pipeline}, which was deleted by force`);
  }
}

/** Whether a run may get its line in the list long after two ticks, when a deletion no longer looks for it. */
function isListSlow({ faults, options }: World): boolean {
  return faults.isIndexStale === true || (faults.lateMs ?? 0) > options.tickMs;
}

function isQuietWorld({ faults }: World): boolean {
  return !faults.choose && (faults.at?.size ?? 0) === 0;
}
