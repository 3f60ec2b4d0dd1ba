/** The log of an attempt over HTTP, found by the mark in it. */
import { describe, expect, it } from 'vitest';
import type { MemoryLogs } from '#adapters/memory/memory-logs.ts';
import type { Json } from '#domain/json.ts';
import { logMark } from '#domain/log-mark.ts';
import { createApi } from './api-client.ts';
import type { Behaviour } from './installation.ts';

const RETRY = { maxAttempts: 2, intervalSeconds: 1 };

async function started(nodes: readonly Json[], behave: Behaviour = () => undefined, input: Json = {}) {
  const api = createApi(behave);
  expect((await api.put({ name: 'p', nodes } as Json & { name: string })).status).toBe(201);
  const { id } = (await api.post('/v1/pipelines/p/runs', { input })).body;
  await api.settle();
  const written = (api.deps.logs as MemoryLogs).lines;
  const write = (name: string, stream: string, ...texts: string[]) => {
    const lines = written.get(name) ?? [];
    lines.push(...texts.map((text) => ({ stream, at: api.time.now, text })));
    written.set(name, lines);
  };
  const mark = (node: string, attempt: number, item?: number) =>
    logMark({ run: id, node, attempt, item }, `req-${node}-${attempt}-${item ?? ''}`);
  const logs = async (node: string, query = '') => (await api.get(`/v1/runs/${id}/nodes/${node}/logs${query}`)).body;
  const texts = async (node: string, query = '') =>
    (await logs(node, query)).items?.map(({ message }: { message: string }) => message);
  return { api, id, write, mark, logs, texts };
}

describe('the log of an attempt', () => {
  it('is what its invocation wrote: not what stands before it, behind it, or in another stream', async () => {
    const { write, mark, texts } = await started([
      { id: 'a', params: { function: 'arn:aws:lambda:eu-central-1:111122223333:function:fn:live' } },
    ]);
    write('fn', 's1', 'START RequestId: before', 'old', 'END RequestId: before', 'START RequestId: req-a-1-');
    write('fn', 's2', 'of another');
    write('fn', 's1', `2026-11-30T12:00:00.000Z\treq-a-1-\tINFO\t${mark('a', 1)}`, 'one', 'two');
    write('fn', 's1', 'END RequestId: req-a-1-', 'REPORT RequestId: req-a-1-', 'START RequestId: after', 'new');
    expect(await texts('a')).toEqual(['one', 'two']);
  });

  it('is that of the last attempt, or of the one that is named; of an item of a map', async () => {
    const nodes = [
      { id: 'a', retry: RETRY, params: { function: 'fn' } },
      { id: 'm', map: { items: ['x', 'y'] }, params: { function: 'fn' } },
    ];
    const failing: Behaviour = (node, attempt) =>
      node === 'a' && attempt === 1 ? { status: 'FAILED', error: { name: 'E', message: 'e' } } : undefined;
    const { api, id, write, mark, texts, logs } = await started(nodes, failing);
    await api.tick(id, 2_000);
    write('fn', 's1', mark('a', 1), 'first');
    write('fn', 's2', mark('a', 2), 'second');
    write('fn', 's3', mark('m', 1, 1), 'of y');
    expect(await texts('a')).toEqual(['second']);
    expect(await texts('a', '?attempt=1')).toEqual(['first']);
    expect(await texts('m', '?item=1')).toEqual(['of y']);
    for (const [node, query, told] of [
      ['a', '?attempt=3', 'has had no attempt 3'],
      ['m', '', 'name one of its items'],
      ['m', '?item=0', 'has no line of attempt 1 yet'],
    ] as const) {
      expect(await logs(node, query)).toMatchObject({ code: 'LOGS_NOT_FOUND', detail: expect.stringContaining(told) });
    }
    expect((await logs('m', '?item=2')).code).toBe('ITEM_NOT_FOUND');
  });

  it('is read page by page, each line once, and further while the attempt goes on', async () => {
    let isOver = false;
    const { api, id, write, mark, logs } = await started([{ id: 'a', params: { function: 'fn' } }], () =>
      isOver ? { status: 'SUCCEEDED', output: '{}' } : undefined,
    );
    write('fn', 's', mark('a', 1), ...Array.from({ length: 25 }, (_, at) => `line ${at}`));
    const seen: string[] = [];
    let cursor = '';
    const page = async () => {
      const { items, nextCursor } = await logs('a', `?limit=10${cursor && `&cursor=${cursor}`}`);
      seen.push(...items.map(({ message }: { message: string }) => message));
      cursor = nextCursor ?? '';
      return items.length;
    };
    expect([await page(), await page(), await page(), await page()]).toEqual([10, 10, 5, 0]);
    write('fn', 's', 'line 25');
    api.time.now += 10;
    write('fn', 's', 'line 26');
    expect([await page(), await page()]).toEqual([2, 0]);
    isOver = true;
    await api.tick(id, 60_000);
    write('fn', 's', 'line 27');
    expect([await page(), await page(), cursor !== '']).toEqual([1, 0, true]);
    api.time.now += 10_000;
    expect([await page(), cursor]).toEqual([0, '']);
    expect(seen).toEqual(Array.from({ length: 28 }, (_, at) => `line ${at}`));
    cursor = 'AAAA';
    expect((await logs('a', '?cursor=AAAA')).code).toBe('INVALID_PAGE_TOKEN');
  });

  it('is found where the name of the function is an expression', async () => {
    const nodes = [{ id: 'a', params: { function: '{% $run.input.fn %}', payload: {} } }];
    const { write, mark, texts } = await started(nodes, () => undefined, { fn: 'chosen' });
    write('chosen', 's', mark('a', 1), 'here');
    expect(await texts('a')).toEqual(['here']);
  });

  it('is not there for what has no function, has not begun, or is not wrapped', async () => {
    const { logs, write } = await started([
      { id: 'ask', engine: 'approval', params: { prompt: '?' } },
      { id: 'a', params: { function: 'fn' } },
      { id: 'later', dependsOn: ['a'], params: { function: 'fn' } },
    ]);
    write('fn', 's', 'a line without a mark');
    expect(await logs('ask')).toMatchObject({
      code: 'LOGS_NOT_FOUND',
      detail: expect.stringContaining('engine approval'),
    });
    expect((await logs('later')).detail).toContain('has had no attempt');
    expect((await logs('a')).detail).toContain('defineFunction');
    expect((await logs('none')).code).toBe('NODE_NOT_FOUND');
  });
});
