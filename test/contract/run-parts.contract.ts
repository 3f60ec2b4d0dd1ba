/** What every run store promises about the parts of a run that are not its aggregate. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptResult } from '#domain/facts.ts';
import type { RunKey, RunStore } from '#ports/index.ts';
import type { RunStoreHarness } from './run-store.contract.ts';
import { CREATED, nextId, ODD_TEXTS, sampleDecision } from './sample-run.ts';

function result(fields: Partial<AttemptResult> = {}): AttemptResult {
  return {
    node: 0,
    attempt: 1,
    status: 'SUCCEEDED',
    output: '{"rows":12}',
    startedAt: CREATED + 20,
    endedAt: CREATED + 1_020,
    ...fields,
  };
}

/** JSON text that no compression makes shorter by much. */
function noise(bytes: number): string {
  return JSON.stringify(randomBytes(Math.ceil((bytes * 3) / 4)).toString('base64'))
    .slice(0, bytes - 1)
    .concat('"');
}

export function describeRunParts(backend: string, open: () => Promise<RunStoreHarness>): void {
  describe(`RunStore on ${backend}: results, values and history`, () => {
    let store: RunStore;
    let run: RunKey;

    beforeEach(async () => {
      store = (await open()).store;
      run = { id: nextId(), nonce: 'abcdefgh' };
    });

    describe('results', () => {
      it('stores what came first, and gives it to whoever comes later', async () => {
        const first = result();
        const later = result({
          status: 'FAILED',
          error: { name: 'Late', message: 'too late' },
          endedAt: CREATED + 9_000,
        });
        expect(await store.putResult(run, first)).toEqual(first);
        expect(await store.putResult(run, later)).toEqual(first);
        expect(await store.putResult(run, first)).toEqual(first);
        expect(await store.readResult(run, 0, 1)).toEqual(first);
      });

      it('gives all of many writers at once the same result', async () => {
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, at) => store.putResult(run, result({ output: `${at}` }))),
        );
        expect(new Set(answers.map((answer) => answer.output)).size).toBe(1);
        expect(await store.readResult(run, 0, 1)).toEqual(answers[0]);
      });

      it('keeps every kind of end', async () => {
        const error = { name: 'States.TaskFailed', message: ODD_TEXTS.join('\n') };
        const { output: _, ...noOutput } = result();
        const ends: AttemptResult[] = [
          result({ attempt: 1, output: JSON.stringify(ODD_TEXTS) }),
          { ...noOutput, attempt: 2 },
          { ...noOutput, attempt: 3, status: 'FAILED', error },
          { ...noOutput, attempt: 4, status: 'TIMED_OUT', error: { name: 'States.Timeout', message: '' } },
          { ...noOutput, attempt: 5, status: 'ABORTED' },
        ];
        for (const end of ends) await store.putResult(run, end);
        expect(await store.listResults(run, 0)).toEqual(ends);
        for (const end of ends) expect(await store.readResult(run, 0, end.attempt)).toEqual(end);
      });

      it('lists by node and attempt, as numbers', async () => {
        const places = [
          [10, 1],
          [2, 10],
          [2, 9],
          [2, 1],
          [9_999, 10_000],
          [1, 1],
          [20, 1],
        ] as const;
        for (const [node, attempt] of places) await store.putResult(run, result({ node, attempt }));
        const all = await store.listResults(run);
        expect(all.map(({ node, attempt }) => [node, attempt])).toEqual([
          [1, 1],
          [2, 1],
          [2, 9],
          [2, 10],
          [10, 1],
          [20, 1],
          [9_999, 10_000],
        ]);
        expect((await store.listResults(run, 2)).map(({ attempt }) => attempt)).toEqual([1, 9, 10]);
        expect(await store.listResults(run, 3)).toEqual([]);
      });

      it('keeps runs of one id and another nonce apart', async () => {
        await store.putResult(run, result());
        const other = { id: run.id, nonce: 'hgfedcba' };
        expect(await store.readResult(other, 0, 1)).toBeUndefined();
        expect(await store.listResults(other)).toEqual([]);
        expect(await store.putResult(other, result({ output: '2' }))).toMatchObject({ output: '2' });
      });

      it.each([3, 900, 940, 941, 5_000, 262_144, 600_000])('keeps an output of %i bytes', async (bytes) => {
        const outputs = [JSON.stringify('x'.repeat(bytes - 2)), noise(bytes)];
        for (const [node, output] of outputs.entries()) await store.putResult(run, result({ node, output }));
        for (const [node, output] of outputs.entries()) {
          expect((await store.readResult(run, node, 1))?.output === output).toBe(true);
        }
        expect((await store.listResults(run)).map(({ output }) => output?.length)).toEqual([bytes, bytes]);
      });

      it('lists results of more than a page', async () => {
        const outputs = Array.from({ length: 12 }, () => noise(200_000));
        for (const [node, output] of outputs.entries()) await store.putResult(run, result({ node, output }));
        expect((await store.listResults(run)).map(({ output }) => output)).toEqual(outputs);
      });

      it('lists results up to as many bytes as their reader can hold, and the one that is too many', async () => {
        const outputs = Array.from({ length: 5 }, () => noise(1000));
        for (const [node, output] of outputs.entries()) await store.putResult(run, result({ node, output }));
        const listed = async (maxBytes: number) => (await store.listResults(run, undefined, maxBytes)).length;
        expect(await listed(5000)).toBe(5);
        expect(await listed(3000)).toBe(4);
        expect(await listed(2999)).toBe(3);
        expect(await listed(0)).toBe(1);
      });

      it('copies results to another run, each to the place that it is given there', async () => {
        const long = noise(600_000);
        await store.putResult(run, result({ node: 1, attempt: 2, output: long }));
        await store.putResult(run, result({ node: 2, item: 7, output: '{"item":7}' }));
        await store.putResult(run, result({ node: 2, item: 8, output: '{"item":8}' }));
        const failed = { ...result({ node: 3 }), status: 'FAILED' as const, error: { name: 'E', message: 'm' } };
        await store.putResult(run, failed);
        const other = { id: nextId(), nonce: 'hgfedcba' };
        const copied = await store.copyResults(run, other, ({ node, item }) =>
          item === 8 ? undefined : { node: node + 10, item, attempt: 0 },
        );
        expect(copied).toBe(3);
        const list = await store.listResults(other);
        expect(list).toEqual([
          result({ node: 11, attempt: 0, output: long }),
          result({ node: 12, item: 7, attempt: 0, output: '{"item":7}' }),
          { ...failed, output: list[2]?.output, node: 13, attempt: 0 },
        ]);
        expect((await store.listResults(run)).length).toBe(4);
      });

      it('copies more results than a page or a batch holds', async () => {
        const places = Array.from({ length: 60 }, (_, node) => node);
        await Promise.all(places.map((node) => store.putResult(run, result({ node, output: noise(20_000) }))));
        const other = { id: nextId(), nonce: 'hgfedcba' };
        expect(await store.copyResults(run, other, (place) => place)).toBe(60);
        expect(await store.listResults(other)).toEqual(await store.listResults(run));
      });
    });

    describe('values', () => {
      it('gives a text back under its key', async () => {
        for (const [at, key] of ODD_TEXTS.entries()) await store.putValue(run, key, JSON.stringify({ [key]: at }));
        for (const [at, key] of ODD_TEXTS.entries()) {
          expect(await store.readValue(run, key)).toBe(JSON.stringify({ [key]: at }));
        }
      });

      it('knows nothing under another key, nonce or run', async () => {
        await store.putValue(run, 'input', '1');
        expect(await store.readValue(run, 'inpu')).toBeUndefined();
        expect(await store.readValue(run, 'input#00000')).toBeUndefined();
        expect(await store.readValue({ ...run, nonce: 'hgfedcba' }, 'input')).toBeUndefined();
        expect(await store.readValue({ ...run, id: nextId() }, 'input')).toBeUndefined();
      });

      it('takes the same put again, and gives the newest of different ones whole', async () => {
        const [first, second] = [noise(800_000), noise(900_000)];
        await store.putValue(run, 'list', first);
        await store.putValue(run, 'list', first);
        expect(await store.readValue(run, 'list')).toBe(first);
        await store.putValue(run, 'list', second);
        expect(await store.readValue(run, 'list')).toBe(second);
        await store.putValue(run, 'list', '[]');
        expect(await store.readValue(run, 'list')).toBe('[]');
      });

      it('keeps a value of megabytes', async () => {
        const [dense, plain] = [noise(3_000_000), JSON.stringify('ü🚀'.repeat(700_000))];
        await store.putValue(run, 'dense', dense);
        await store.putValue(run, 'plain', plain);
        expect((await store.readValue(run, 'dense')) === dense).toBe(true);
        expect((await store.readValue(run, 'plain')) === plain).toBe(true);
      });
    });

    describe('history', () => {
      it('gives all decisions, oldest first, whatever the order they were put in', async () => {
        const decisions = [2, 9, 10, 11, 100, 1_000_000].map((rev) => sampleDecision(rev, [rev % 7]));
        for (const decision of [...decisions].reverse()) {
          await store.putHistory(run, decision.rev, [decision], CREATED);
        }
        expect(await store.listHistory(run, CREATED)).toEqual(decisions);
      });

      it('writes the same where a put is repeated', async () => {
        const decisions = [
          sampleDecision(3, [0, 4, 9]),
          sampleDecision(3, [5], { to: 'F', error: { name: '__proto__', message: ODD_TEXTS.join() } }),
          sampleDecision(4, [], {
            to: 'run',
            attempt: 0,
            state: 'STOPPING',
            reason: 'Stopping',
            by: ODD_TEXTS[0] as string,
          }),
        ];
        await store.putHistory(run, 4, decisions, CREATED);
        await store.putHistory(run, 4, decisions, CREATED);
        expect(await store.listHistory(run, CREATED)).toEqual(decisions);
      });

      it('keeps many long items', async () => {
        const decisions = Array.from({ length: 40 }, (_, rev) =>
          sampleDecision(
            rev,
            Array.from({ length: 3_000 }, (_, at) => at * 3),
            { to: 'F', error: { name: 'E', message: noise(300) } },
          ),
        );
        for (const decision of decisions) await store.putHistory(run, decision.rev, [decision], CREATED);
        expect(await store.listHistory(run, CREATED)).toEqual(decisions);
      });

      it('is empty for another run', async () => {
        await store.putHistory(run, 1, [sampleDecision(1, [0])], CREATED);
        expect(await store.listHistory({ ...run, nonce: 'hgfedcba' }, CREATED)).toEqual([]);
      });
    });

    describe('the removal of all parts', () => {
      const other = { id: nextId(), nonce: 'abcdefgh' };

      it('leaves nothing of them, and nothing else less', async () => {
        for (const of of [run, other]) {
          await store.putResult(of, result());
          await store.putResult(of, result({ node: 1, item: 3, output: noise(2_000) }));
          await store.putValue(of, 'input', '{}');
          await store.putValue(of, 'long', noise(900_000));
          await store.putHistory(of, 1, [sampleDecision(1, [0])], CREATED);
        }
        expect(await store.removeParts(run, 100)).toBe(true);
        expect(await store.listResults(run)).toEqual([]);
        expect(await store.readValue(run, 'input')).toBeUndefined();
        expect(await store.readValue(run, 'long')).toBeUndefined();
        expect(await store.listHistory(run, CREATED)).toEqual([]);
        expect(await store.removeParts(run, 100)).toBe(true);
        expect(await store.listResults(other)).toHaveLength(2);
        expect(await store.readValue(other, 'long')).toHaveLength(900_000);
        expect(await store.listHistory(other, CREATED)).toHaveLength(1);
      });

      it('goes on where it ended, a page at a time', async () => {
        const all = Array.from({ length: 260 }, (_, node) => result({ node }));
        await Promise.all(all.map((one) => store.putResult(run, one)));
        expect(await store.removeParts(run, 120)).toBe(false);
        expect((await store.listResults(run)).length).toBe(140);
        let isGone = false;
        for (let pages = 0; !isGone && pages < 5; pages++) isGone = await store.removeParts(run, 120);
        expect(isGone).toBe(true);
        expect(await store.listResults(run)).toEqual([]);
      });
    });
  });
}
