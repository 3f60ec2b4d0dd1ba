/** Pipelines as aggregates: conditions, schedules, pauses, backfills and deletions, with a death at every port call. */
import { describe, expect, it } from 'vitest';
import type { PipelineDefinition } from '#domain/definition.ts';
import { limitName } from '#domain/limit.ts';
import { isRunOver } from '#domain/run.ts';
import { unpackRun } from '#domain/run-codec.ts';
import { deletePipeline } from '#scheduler/delete-pipeline.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { putEngine, removeEngine } from '#scheduler/engines.ts';
import { pausePipeline, resumePipeline } from '#scheduler/pause-pipeline.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { startBackfill } from '#scheduler/start-backfill.ts';
import { chooser } from '#testing/chooser.ts';
import { type Act, BEGAN_AT, machine, type PipelineFaults, PipelineWorld } from './pipeline-world.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const NAME = 'etl';

function put(atMs: number, revision: string, fields: Partial<PipelineDefinition>): Act {
  const definition: PipelineDefinition = { name: NAME, nodes: [{ id: 'a', params: { function: 'f' } }], ...fields };
  const isDone = (kind: string) => kind !== 'busy' && kind !== 'deleting';
  return { atMs, ask: async (deps) => isDone((await putPipeline(deps, { definition, revision })).kind) };
}

function engine(atMs: number, name: string): Act {
  const registration = { stateMachineArn: machine(name), labels: [] };
  return { atMs, ask: async (deps) => (await putEngine(deps, name, registration)).kind !== 'busy' };
}

function noEngine(atMs: number, name: string): Act {
  return { atMs, ask: async (deps) => (await removeEngine(deps, name)).kind !== 'busy' };
}

function order(atMs: number, ask: (deps: PassDeps) => Promise<{ readonly kind: string }>): Act {
  return { atMs, ask: async (deps) => (await ask(deps)).kind !== 'busy' };
}

interface Scene {
  readonly acts: readonly Act[];
  readonly lastMs: number;
  readonly durationMs?: number;
  /** What must hold after each port call. */
  readonly watch?: (world: PipelineWorld) => void;
  /** What must hold in the end. */
  readonly expect: (world: PipelineWorld) => Promise<void>;
}

async function play(scene: Scene, faults: PipelineFaults = {}): Promise<PipelineWorld> {
  const world = new PipelineWorld(scene.acts, faults, scene.durationMs);
  if (scene.watch) world.check = () => scene.watch?.(world);
  await world.play(scene.lastMs);
  try {
    await scene.expect(world);
  } catch (error) {
    throw new Error(`with ${JSON.stringify(faults)}: ${(error as Error).message}`, { cause: error });
  }
  return world;
}

/** Before a call is after the one before it, so nothing is left out but the very first. */
async function killEverywhere(scene: Scene, faults: PipelineFaults = {}): Promise<void> {
  const { calls } = await play(scene, faults);
  for (let at = 0; at < calls.length; at++) await play(scene, { ...faults, kill: { at, when: 'after' } });
}

async function shuffle(scene: Scene, worlds: number): Promise<void> {
  const length = (await play(scene)).calls.length;
  for (let seed = 1; seed <= worlds; seed++) {
    const choose = chooser(seed * 7919);
    const kill = choose(2) === 0 ? undefined : { at: choose(length), when: 'after' as const };
    await play(scene, { choose, copies: 1 + choose(2), ...(kill && { kill }) });
  }
}

function runsOf(world: PipelineWorld) {
  return [...world.runs.stored.values()].map(unpackRun).filter(({ deleted }) => !deleted);
}

/** Minutes after the beginning of the instants that have a run, in order. */
function startedMinutes(world: PipelineWorld): number[] {
  const instants = runsOf(world).map(({ trigger }) => Date.parse(trigger.instant ?? ''));
  return instants.map((instant) => (instant - BEGAN_AT) / MINUTE).sort((a, b) => a - b);
}

/** The condition is what the engines say, it was told, nothing is owed, and the rows are those of the engines. */
async function expectAtRest(world: PipelineWorld, status: 'True' | 'False', engines: readonly string[]) {
  const head = await world.pipelines.readHead(NAME);
  expect(head?.ready?.status).toBe(status);
  expect(head?.ready?.observedRevision).toBe(head?.revision);
  expect([head?.tells, head?.dueAt]).toEqual([undefined, undefined]);
  const told = world.events.filter(({ detailType }) => detailType === 'PipelineChanged');
  const last = told.map(({ detail }) => detail as { version: number; conditions: { message: string }[] });
  last.sort((a, b) => a.version - b.version);
  expect(last.at(-1)?.conditions[0]?.message).toBe(head?.ready?.message);
  const rows = [...world.pipelines.uses].filter(([, names]) => names.has(NAME)).map(([name]) => name);
  expect(rows).toEqual(expect.arrayContaining([...engines]));
  expect(head?.engines).toEqual(engines);
}

const comesAndGoes: Scene = {
  acts: [
    put(SECOND, 'rev1', { nodes: [{ id: 'a', engine: 'gpu' }] }),
    engine(SECOND, 'gpu'),
    noEngine(90 * SECOND, 'gpu'),
    put(90 * SECOND, 'rev2', { nodes: [{ id: 'a', engine: 'tpu' }] }),
    engine(150 * SECOND, 'gpu'),
    put(150 * SECOND, 'rev3', { nodes: [{ id: 'a', engine: 'gpu' }] }),
  ],
  lastMs: 5 * MINUTE,
  expect: (world) => expectAtRest(world, 'True', ['gpu']),
};

const goesInTheEnd: Scene = {
  acts: [
    engine(SECOND, 'gpu'),
    put(2 * SECOND, 'rev1', { nodes: [{ id: 'a', engine: 'gpu' }], concurrency: { maxActiveRuns: 2 } }),
    noEngine(5 * SECOND, 'gpu'),
    put(60 * SECOND, 'rev2', { nodes: [{ id: 'a', engine: 'gpu' }], concurrency: { maxActiveRuns: 3 } }),
    engine(60 * SECOND, 'gpu'),
    noEngine(65 * SECOND, 'gpu'),
  ],
  lastMs: 4 * MINUTE,
  async expect(world) {
    await expectAtRest(world, 'False', ['gpu']);
    expect((await world.limits.readLimit(limitName('pipeline', NAME)))?.slots).toBe(3);
  },
};

const minutely: Scene = {
  acts: [
    put(10 * SECOND, 'rev1', { schedule: [{ id: 'each', cron: '* * * * *' }] }),
    order(150 * SECOND, (deps) => pausePipeline(deps, NAME, 'somebody')),
    order(270 * SECOND, (deps) => resumePipeline(deps, NAME)),
  ],
  lastMs: 6 * MINUTE + 40 * SECOND,
  durationMs: SECOND,
  async expect(world) {
    expect(startedMinutes(world)).toEqual([1, 2, 5, 6]);
  },
};

const filled: Scene = {
  acts: [
    put(SECOND, 'rev1', {
      schedule: [
        { id: 'three', cron: '0 3 * * *' },
        { id: 'noon', cron: '0 12 * * *' },
      ],
    }),
    order(3 * SECOND, (deps) =>
      startBackfill(deps, NAME, {
        from: BEGAN_AT - 34 * 60 * MINUTE,
        to: BEGAN_AT - 1,
        direction: 'forward',
        maxActiveRuns: 2,
      }),
    ),
  ],
  lastMs: 15 * MINUTE,
  durationMs: 5 * SECOND,
  watch(world) {
    expect(runsOf(world).filter(({ state }) => !isRunOver(state)).length).toBeLessThanOrEqual(2);
  },
  async expect(world) {
    const hours = startedMinutes(world).map((minutes) => minutes / 60);
    expect(hours).toEqual([-33, -24, -9]);
    expect(runsOf(world).every(({ state }) => state === 'SUCCEEDED')).toBe(true);
    expect((await world.pipelines.readHead(NAME))?.backfills).toBeUndefined();
  },
};

const madeAnew: Scene = {
  acts: [
    put(10 * SECOND, 'rev1', {
      schedule: [{ id: 'each', cron: '* * * * *' }],
      concurrency: { maxActiveRuns: 1 },
      nodes: [
        { id: 'a', params: { function: 'f' } },
        { id: 'b', engine: 'gpu' },
      ],
    }),
    order(140 * SECOND, (deps) => deletePipeline(deps, NAME, { isForced: true })),
    put(150 * SECOND, 'rev2', { schedule: [{ id: 'each', cron: '* * * * *' }] }),
  ],
  lastMs: 9 * MINUTE,
  async expect(world) {
    const head = await world.pipelines.readHead(NAME);
    expect([head?.revision, head?.deleting]).toEqual(['rev2', undefined]);
    const runs = [...world.runs.stored.values()].map(unpackRun);
    expect(runs.map(({ revision, deleted }) => [revision, deleted])).toEqual(runs.map(() => ['rev2', undefined]));
    expect(runs.length).toBeGreaterThan(0);
    const begun = ((head?.createdAt ?? 0) - BEGAN_AT) / MINUTE;
    expect(startedMinutes(world).every((minute) => minute > begun)).toBe(true);
    const running = [...world.executions.started.values()].filter(({ status }) => status === 'RUNNING');
    const own = runs.flatMap(({ id }) => running.filter(({ name }) => name.includes(id)));
    expect(own).toHaveLength(running.length);
    expect(world.pipelines.uses.get('gpu')?.size ?? 0).toBe(0);
  },
};

const SCENES = { comesAndGoes, goesInTheEnd, minutely, filled, madeAnew };

describe('a pipeline whose functions crash', () => {
  for (const [name, scene] of Object.entries(SCENES)) {
    describe(name, { timeout: 120_000 }, () => {
      it('ends right with nothing going wrong', async () => {
        const world = await play(scene);
        expect(world.troubles).toEqual([]);
      });

      it('ends right by ticks alone', () => play(scene, { drop: true }));

      it('ends right after a death at every port call', () => killEverywhere(scene));

      it('ends right after a death at every port call, by ticks alone', () => killEverywhere(scene, { drop: true }));

      it('ends right with three functions at once, in any order, and copies', () => shuffle(scene, 40));
    });
  }
});

describe('C77 an instant that several functions see at once, each told of it three times', { timeout: 120_000 }, () => {
  it.each(['queue', 'skip', 'cancelRunning', 'allow'] as const)(
    'has one run that nobody stops: %s',
    async (onOverlap) => {
      const [putIt] = minutely.acts;
      const scene: Scene = {
        acts: [
          put(putIt?.atMs ?? 0, 'rev1', {
            schedule: [{ id: 'each', cron: '* * * * *' }],
            concurrency: { maxActiveRuns: 1, onOverlap },
          }),
        ],
        lastMs: 4 * MINUTE + 40 * SECOND,
        durationMs: SECOND,
        async expect(world) {
          expect(startedMinutes(world)).toEqual([1, 2, 3, 4]);
          expect(runsOf(world).map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'SUCCEEDED'));
        },
      };
      for (let seed = 1; seed <= 15; seed++) await play(scene, { copies: 3, choose: chooser(seed * 104_729) });
    },
  );
});
