/**
 * What every run store promises. A store earns the name by passing this on its own backend: the aggregates here, the
 * parts of a run and the list of runs in the files beside.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunRecord } from '#domain/run.ts';
import { DamagedRunError, NewerRunError } from '#domain/run-codec.ts';
import type { DueIndex, RunStore } from '#ports/index.ts';
import { CREATED, nextId, ODD_TEXTS, sampleDecision, sampleFlight, sampleRun } from './sample-run.ts';

/** A fresh, empty store, and what only its backend can do to it. */
export interface RunStoreHarness {
  readonly store: RunStore;
  /** The index of what is due in it. */
  readonly due: DueIndex;
  /** Damages the stored aggregate of a run. */
  damage(runId: string): Promise<void>;
  /** Makes the stored aggregate of a run look like one that newer code wrote. */
  makeNewer(runId: string): Promise<void>;
}

/** A run in which everything is filled in. */
function fullRun(fields: Partial<RunRecord> = {}): RunRecord {
  return sampleRun({
    state: 'STOPPING',
    reason: 'Stopping',
    endedAt: CREATED + 100,
    trigger: { type: 'rerun', by: ODD_TEXTS[0] as string },
    tags: ODD_TEXTS.map((text, at) => [text, `${at} ${text}`]),
    nodes: 'rwSFXLEGITOAfdKkUpqyn',
    flights: [
      sampleFlight(0, { phase: 'starting', confirmed: false, throttled: true }),
      sampleFlight(1, { phase: 'retry', attempt: 7, polls: 3 }),
      sampleFlight(20, {
        phase: 'stopping',
        ending: 'EngineError',
        error: { name: 'Odd', message: ODD_TEXTS.join() },
        missingSince: CREATED + 90,
      }),
      sampleFlight(21, {
        phase: 'running',
        prompt: ODD_TEXTS.join(' '),
        answer: { at: CREATED + 95, approve: true, output: 'answer-1', by: ODD_TEXTS[0] as string, comment: 'yes' },
      }),
    ],
    stop: { kind: 'user', at: CREATED + 50, by: ODD_TEXTS[3] as string },
    firstBad: { node: 3, error: { name: '__proto__', message: '' } },
    error: { name: 'Millrace.ExpressionError', message: ODD_TEXTS[4] as string },
    marks: [
      { node: 0, state: 'FAILED', at: CREATED + 91 },
      { node: 20, state: 'SUCCEEDED', at: CREATED + 92, output: 'marked-1', by: ODD_TEXTS[2] as string, note: 'so' },
    ],
    deleted: { at: CREATED + 99, by: ODD_TEXTS[1] as string },
    outputKey: 'output/0123456789abcdef',
    decisions: [
      sampleDecision(1, [0, 5, 6, 21]),
      sampleDecision(2, [3], { to: 'F', attempt: 2, error: { name: 'E', message: ODD_TEXTS[5] as string } }),
      sampleDecision(3, [], { to: 'run', attempt: 0, state: 'STOPPING', reason: 'Stopping', by: 'someone' }),
      sampleDecision(4, [4], { to: 'M', attempt: 1, by: 'ada', note: ODD_TEXTS[6] as string }),
    ],
    ...fields,
  });
}

/** Every run that is due, from all pages. */
async function idsOf(due: DueIndex, now: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of due.due(now)) {
    expect(page.length).toBeGreaterThan(0);
    for (const { kind, id } of page) if (kind === 'run') ids.push(id);
  }
  return ids.sort();
}

export function describeAggregates(backend: string, open: () => Promise<RunStoreHarness>): void {
  describe(`RunStore on ${backend}: aggregates`, () => {
    let harness: RunStoreHarness;
    let store: RunStore;
    const dueIds = (now: number) => idsOf(harness.due, now);

    beforeEach(async () => {
      harness = await open();
      store = harness.store;
    });

    it('gives a run back as it was created', async () => {
      const run = fullRun();
      expect(await store.createRun(run)).toEqual({ created: true });
      expect(await store.readRun(run.id)).toEqual(run);
    });

    it('knows nothing of a run that was never created', async () => {
      expect(await store.readRun(nextId())).toBeUndefined();
      for (const id of ODD_TEXTS) expect(await store.readRun(id)).toBeUndefined();
    });

    it('gives the first run back where one is created again under its id', async () => {
      const first = sampleRun();
      const second = sampleRun({ id: first.id, nonce: 'zzzzzzzz', inputHash: 'other' });
      await store.createRun(first);
      expect(await store.createRun(second)).toEqual({ created: false, run: first });
      expect(await store.readRun(first.id)).toEqual(first);
    });

    it('takes a create that is repeated, by its nonce, for the one that made the run', async () => {
      const run = sampleRun();
      await store.createRun(run);
      const next = { ...run, rev: 2, nodes: 'Srp' };
      await store.commitRun(next, 1);
      expect(await store.createRun(run)).toEqual({ created: true });
      expect(await store.readRun(run.id)).toEqual(next);
    });

    it('creates one of two runs that are created at once', async () => {
      const runs = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'].map((nonce) => sampleRun({ id: 'a'.repeat(26), nonce }));
      const answers = await Promise.all(runs.map((run) => store.createRun(run)));
      expect(answers.filter((answer) => answer.created)).toHaveLength(1);
      const stored = await store.readRun('a'.repeat(26));
      for (const answer of answers) if (!answer.created) expect(answer.run).toEqual(stored);
    });

    it('keeps ids apart, however odd', async () => {
      for (const [at, id] of ODD_TEXTS.entries()) await store.createRun(sampleRun({ id, inputHash: `hash ${at}` }));
      for (const [at, id] of ODD_TEXTS.entries()) {
        expect(await store.readRun(id)).toMatchObject({ id, inputHash: `hash ${at}` });
      }
      expect(await dueIds(CREATED + 60_000)).toEqual([...ODD_TEXTS].sort());
    });

    it('T35 commits over the revision that was read, once', async () => {
      const run = sampleRun();
      await store.createRun(run);
      const left = { ...run, rev: 2, nodes: 'Srp' };
      const right = { ...run, rev: 2, nodes: 'Frp' };
      expect(await store.commitRun(left, 1)).toBe('committed');
      expect(await store.commitRun(right, 1)).toBe('conflict');
      expect(await store.readRun(run.id)).toEqual(left);
    });

    it('lets one of many commits from one read win', async () => {
      const run = sampleRun();
      await store.createRun(run);
      const commits = Array.from({ length: 8 }, (_, at) => ({ ...run, rev: 2, inputHash: `pass ${at}` }));
      const answers = await Promise.all(commits.map((commit) => store.commitRun(commit, 1)));
      expect(answers.filter((answer) => answer === 'committed')).toHaveLength(1);
      expect(await store.readRun(run.id)).toEqual(commits[answers.indexOf('committed')]);
    });

    it('does not make a run by a commit', async () => {
      const run = sampleRun();
      expect(await store.commitRun(run, 0)).toBe('conflict');
      expect(await store.commitRun(run, 1)).toBe('conflict');
      expect(await store.readRun(run.id)).toBeUndefined();
    });

    it('removes a run at the revision that was read, and lets another one be made under its id', async () => {
      const run = sampleRun({ rev: 4 });
      await store.createRun(run);
      expect(await store.removeRun(run.id, 3)).toBe('conflict');
      expect(await store.readRun(run.id)).toEqual(run);
      expect(await store.removeRun(run.id, 4)).toBe('removed');
      expect(await store.readRun(run.id)).toBeUndefined();
      expect(await store.removeRun(run.id, 4)).toBe('conflict');
      expect(await store.commitRun({ ...run, rev: 5 }, 4)).toBe('conflict');
      expect(await dueIds(Number.MAX_SAFE_INTEGER)).toEqual([]);
      const anew = { ...run, nonce: 'zzzzzzzz', rev: 1 };
      expect(await store.createRun(anew)).toEqual({ created: true });
      expect(await store.readRun(run.id)).toEqual(anew);
    });

    it('takes an acknowledgement, which keeps the revision', async () => {
      const run = sampleRun({ rev: 4, state: 'SUCCEEDED', reason: 'Completed', endedAt: CREATED + 9, nodes: 'SSS' });
      await store.createRun(run);
      const { dueAt: _, ...rest } = run;
      const acknowledged: RunRecord = { ...rest, announced: { rev: 4, state: 'SUCCEEDED' } };
      expect(await store.commitRun(acknowledged, 4)).toBe('committed');
      expect(await store.readRun(run.id)).toEqual(acknowledged);
      expect(await dueIds(Number.MAX_SAFE_INTEGER)).toEqual([]);
    });

    it('holds the largest run', async () => {
      const nodes = 10_000;
      const letters = 'pqrSFKU';
      const run = sampleRun({
        nodes: Array.from({ length: nodes }, (_, at) => letters[(at * 7919) % letters.length]).join(''),
        flights: Array.from({ length: 500 }, (_, at) =>
          sampleFlight(at * 20, {
            attempt: 1 + (at % 9),
            startedAt: CREATED + at * 37,
            since: CREATED + at * 37 + 20,
            pollAt: CREATED + at * 1000,
          }),
        ),
        decisions: Array.from({ length: 20 }, (_, rev) =>
          sampleDecision(
            rev + 1,
            Array.from({ length: 200 }, (_, at) => rev * 200 + at),
          ),
        ),
      });
      await store.createRun(run);
      expect(await store.readRun(run.id)).toEqual(run);
      const next = { ...run, rev: 2, nodes: run.nodes.replaceAll('p', 'S') };
      expect(await store.commitRun(next, 1)).toBe('committed');
      expect(await store.readRun(run.id)).toEqual(next);
    });

    it('says so where a stored run is damaged, and leaves the others readable', async () => {
      const [bad, good] = [sampleRun(), sampleRun()];
      await store.createRun(bad);
      await store.createRun(good);
      await harness.damage(bad.id);
      await expect(store.readRun(bad.id)).rejects.toThrow(DamagedRunError);
      await expect(store.createRun({ ...bad, nonce: 'zzzzzzzz' })).rejects.toThrow(DamagedRunError);
      expect(await store.readRun(good.id)).toEqual(good);
      expect(await dueIds(CREATED + 60_000)).toEqual([bad.id, good.id].sort());
    });

    it('leaves a run of newer code alone', async () => {
      const run = sampleRun();
      await store.createRun(run);
      await harness.makeNewer(run.id);
      await expect(store.readRun(run.id)).rejects.toThrow(NewerRunError);
      expect(await store.commitRun({ ...run, nodes: 'SSS' }, run.rev)).toBe('conflict');
      expect(await store.removeRun(run.id, run.rev)).toBe('conflict');
      await expect(store.readRun(run.id)).rejects.toThrow(NewerRunError);
    });

    describe('the due index', () => {
      it('T35 lists a run from its due time on', async () => {
        const run = sampleRun({ dueAt: CREATED + 60_000 });
        await store.createRun(run);
        expect(await dueIds(CREATED + 59_999)).toEqual([]);
        expect(await dueIds(CREATED + 60_000)).toEqual([run.id]);
        expect(await dueIds(CREATED + 1e9)).toEqual([run.id]);
      });

      it('follows the due time of a commit, later and earlier', async () => {
        const run = sampleRun({ dueAt: CREATED + 60_000 });
        await store.createRun(run);
        await store.commitRun({ ...run, rev: 2, dueAt: CREATED + 120_000 }, 1);
        expect(await dueIds(CREATED + 119_999)).toEqual([]);
        expect(await dueIds(CREATED + 120_000)).toEqual([run.id]);
        await store.commitRun({ ...run, rev: 3, dueAt: CREATED }, 2);
        expect(await dueIds(CREATED)).toEqual([run.id]);
      });

      it('loses a run that waits for nothing, and finds it again', async () => {
        const { dueAt, ...rest } = sampleRun();
        await store.createRun(rest);
        expect(await dueIds(Number.MAX_SAFE_INTEGER)).toEqual([]);
        await store.commitRun({ ...rest, rev: 2, dueAt: dueAt as number }, 1);
        expect(await dueIds(Number.MAX_SAFE_INTEGER)).toEqual([rest.id]);
        await store.commitRun({ ...rest, rev: 3 }, 2);
        expect(await dueIds(Number.MAX_SAFE_INTEGER)).toEqual([]);
      });

      it('is not touched by a commit that is lost', async () => {
        const run = sampleRun({ dueAt: CREATED });
        await store.createRun(run);
        const { dueAt: _, ...idle } = run;
        expect(await store.commitRun({ ...idle, rev: 9 }, 8)).toBe('conflict');
        expect(await dueIds(CREATED)).toEqual([run.id]);
      });

      it('gives every due run once, over many pages', async () => {
        const runs = Array.from({ length: 1_200 }, (_, at) => sampleRun({ dueAt: CREATED + (at % 7) * 60_000 }));
        for (let at = 0; at < runs.length; at += 50) {
          await Promise.all(runs.slice(at, at + 50).map((run) => store.createRun(run)));
        }
        const due = runs.filter((run) => (run.dueAt as number) <= CREATED + 180_000).map((run) => run.id);
        expect(await dueIds(CREATED + 180_000)).toEqual(due.sort());
      });
    });
  });
}
