/** What every due index promises over the three stores whose things are in it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { DueIndex, DueThing, LimitStore, PipelineStore, RunStore } from '#ports/index.ts';
import { sampleLimit } from './sample-limit.ts';
import { CREATED, sampleRun } from './sample-run.ts';

/** Empty stores and the one index over them. */
export interface DueIndexHarness {
  readonly runs: RunStore;
  readonly limits: LimitStore;
  readonly pipelines: PipelineStore;
  readonly due: DueIndex;
}

/** Everything that is due, from all pages, by id. */
export async function dueThings(due: DueIndex, now: number): Promise<DueThing[]> {
  const things: DueThing[] = [];
  for await (const page of due.due(now)) {
    expect(page.length).toBeGreaterThan(0);
    things.push(...page);
  }
  return things.sort((a, b) => (a.id < b.id ? -1 : 1));
}

const head = (name: string, dueAt: number) => ({
  name,
  version: 1,
  incarnation: 'abcdefgh',
  revision: 'rev-1',
  createdAt: CREATED,
  updatedAt: CREATED,
  dueAt,
});

export function describeDueIndex(backend: string, open: () => Promise<DueIndexHarness>): void {
  describe(`DueIndex on ${backend}`, () => {
    let harness: DueIndexHarness;
    beforeEach(async () => {
      harness = await open();
    });

    it('has runs, limits and pipelines by their times', async () => {
      const { runs, limits, pipelines, due } = harness;
      const run = sampleRun({ dueAt: CREATED + 1 });
      await runs.createRun(run);
      await limits.commitLimit(sampleLimit({ name: 'engine/spark', dueAt: CREATED + 2 }), 0);
      await pipelines.commitHead(head('spark', CREATED + 3), 0);
      const [first, second, third] = [
        { kind: 'run', id: run.id },
        { kind: 'limit', id: 'engine/spark' },
        { kind: 'pipeline', id: 'spark' },
      ];
      expect(await dueThings(due, CREATED)).toEqual([]);
      expect(await dueThings(due, CREATED + 1)).toEqual([first]);
      expect(await dueThings(due, CREATED + 2)).toEqual([second, first]);
      expect(await dueThings(due, CREATED + 3)).toEqual([second, first, third]);
    });

    it('keeps things of one name apart', async () => {
      const { runs, limits, pipelines, due } = harness;
      for (const kind of ['engine', 'pool', 'pipeline'] as const) {
        await limits.commitLimit(sampleLimit({ name: `${kind}/same`, dueAt: CREATED }), 0);
      }
      await pipelines.commitHead(head('same', CREATED), 0);
      await runs.createRun(sampleRun({ id: 'same', dueAt: CREATED }));
      const things = await dueThings(due, CREATED);
      expect(new Set(things.map(({ kind, id }) => `${kind} ${id}`))).toEqual(
        new Set(['limit engine/same', 'limit pool/same', 'limit pipeline/same', 'pipeline same', 'run same']),
      );
    });

    it('loses what is taken away, or has no due time any more', async () => {
      const { runs, limits, pipelines, due } = harness;
      const { dueAt: _, ...idle } = sampleRun();
      await runs.createRun({ ...idle, dueAt: CREATED });
      await limits.commitLimit(sampleLimit({ name: 'pool/p', dueAt: CREATED }), 0);
      await pipelines.commitHead(head('etl', CREATED), 0);
      expect(await dueThings(due, CREATED)).toHaveLength(3);
      await runs.commitRun({ ...idle, rev: 2 }, 1);
      await limits.commitLimit(sampleLimit({ name: 'pool/p', rev: 2 }), 1);
      await pipelines.removeHead('etl', 1);
      expect(await dueThings(due, Number.MAX_SAFE_INTEGER)).toEqual([]);
    });
  });
}
