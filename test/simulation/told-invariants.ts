/** Whether what others were told last is how things stand once a world has come to rest. */
import { engineStatus, type LimitRecord, parseLimitName } from '#domain/limit.ts';
import { unpackLimit } from '#domain/limit-codec.ts';
import { require } from './invariant-error.ts';
import type { World } from './world.ts';

/** At the end: the list of runs shows each as it ended, and nobody waits for news of an engine. */
export async function checkToldFinally(world: World): Promise<void> {
  const { items } = await world.runs.listRuns({ limit: 1_000 });
  const lines = new Map(items.map((line) => [line.id, line]));
  for (const { id, state, rev } of world.runs.all()) {
    const line = lines.get(id);
    require(world, line?.state === state, () =>
      `run ${id} is ${state} at revision ${rev}, the list says ${line?.state}`);
  }
  for (const packed of world.limits.stored.values()) checkEngine(world, unpackLimit(packed));
}

interface ToldEngine {
  readonly engine: string;
  readonly rev: number;
  readonly status: string;
}

function checkEngine(world: World, limit: LimitRecord): void {
  const { kind, name } = parseLimitName(limit.name);
  if (kind !== 'engine') return;
  const told = world.trace.told
    .filter(({ detailType }) => detailType === 'EngineChanged')
    .map(({ detail }) => detail as unknown as ToldEngine)
    .filter(({ engine }) => engine === name);
  if (told.length === 0) return;
  const newest = Math.max(...told.map(({ rev }) => rev));
  const status = limit.engine ? engineStatus(limit.engine, world.now).status : 'Removed';
  const isTold = told.some((one) => one.rev === newest && one.status === status);
  require(world, isTold, () => `engine ${name} is ${status}, what was told last is ${JSON.stringify(told.at(-1))}`);
}
