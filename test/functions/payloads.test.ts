/** Large payloads and outputs of odd values, seen through the API over memory ports. */
import { describe, expect, it } from 'vitest';
import type { MemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import type { Json } from '#domain/json.ts';
import { PAYLOAD_LIMITS, refIn, toEnvelope } from '#domain/payload-ref.ts';
import { createApi } from './api-client.ts';
import type { Behaviour } from './installation.ts';

const TEXT = 'é ü 漢字 😊 👩‍🔬 \u0000 \u2028 \u200f';

interface Sent {
  readonly params: { readonly function: string; readonly payload: Json };
}

const node = (id: string, dependsOn: string[] = [], params: object = { payload: {} }, more: object = {}) => ({
  id,
  dependsOn,
  params: { function: 'fn', ...params },
  ...more,
});
const reading = (id: string, expression: string, more: object = {}) =>
  node(id, ['big'], { payload: { value: `{% ${expression} %}` }, ...more });
const ok = (output: unknown) => ({ status: 'SUCCEEDED' as const, output: JSON.stringify(output) });

/** Runs nodes to the end. `outputs` tells the output of each, once there is a place for large ones. */
async function runOf(
  nodes: object[],
  outputs: (payloads: MemoryPayloads) => Promise<Readonly<Record<string, Json | ((item?: number) => Json)>>>,
  more: object = {},
) {
  let told: Readonly<Record<string, Json | ((item?: number) => Json)>> = {};
  const behave: Behaviour = (id, _attempt, item) => {
    const output = told[id] ?? {};
    return ok(typeof output === 'function' ? output(item) : output);
  };
  const api = createApi(behave);
  const payloads = api.deps.payloads as MemoryPayloads;
  told = await outputs(payloads);
  const put = await api.put({ name: 'p', nodes, ...more } as never);
  expect(put.status).toBe(201);
  const { id } = (await api.post('/v1/pipelines/p/runs', { input: { day: 'monday' } })).body;
  await api.untilOver(id);
  const sent = new Map<string, Sent>();
  for (const { input } of api.executions.started.values()) {
    expect(Buffer.byteLength(input)).toBeLessThanOrEqual(PAYLOAD_LIMITS.direct);
    const { millrace, ...rest } = JSON.parse(input) as Sent & { millrace: { node: string } };
    sent.set(millrace.node, rest);
  }
  return {
    ...api,
    payloads,
    sent,
    id: id as string,
    run: (await api.get(`/v1/runs/${id}`)).body,
    node: async (name: string) => (await api.get(`/v1/runs/${id}/nodes/${name}`)).body,
  };
}

/** The envelope of a value in a store. */
async function large(payloads: MemoryPayloads, value: Json, claims: { bytes?: number } = {}): Promise<Json> {
  return toEnvelope({ ...(await payloads.put(JSON.stringify(value))), ...claims });
}

const rows = (count: number) => Array.from({ length: count }, (_, id) => ({ id, text: 'x'.repeat(100) }));

/** What a wrapped function reads of what it was sent. */
function opened(payloads: MemoryPayloads, value: Json): Json {
  const ref = refIn(value);
  return ref ? (JSON.parse(payloads.stored.get(ref.key) as string) as Json) : value;
}

describe('a large output', () => {
  it('counts as its value where an expression names it', async () => {
    const run = await runOf(
      [
        node('big'),
        reading('count', '$count($nodes.big.output.rows)'),
        node('when', ['big'], { payload: {} }, { when: '{% $nodes.big.output.rows[0].id = 1 %}' }),
        node(
          'each',
          ['big'],
          { payload: '{% $item %}' },
          { map: { items: '{% [$nodes.big.output.rows[[0..2]].id] %}' } },
        ),
      ],
      async (payloads) => ({ big: await large(payloads, { rows: rows(5000) }) }),
      { output: '{% $nodes.big.output.rows[4999].id %}' },
    );
    expect(run.run).toMatchObject({ state: 'SUCCEEDED', output: 4999 });
    expect(run.sent.get('count')?.params.payload).toEqual({ value: 5000 });
    expect(await run.node('when')).toMatchObject({ state: 'SKIPPED', reason: 'ConditionFalse' });
    expect(await run.node('each')).toMatchObject({ state: 'SUCCEEDED', map: { total: 3 } });
  });

  it('counts as its value where a branch reads its own', async () => {
    const run = await runOf(
      [node('big', [], {}, { branch: '{% $output.next %}' }), node('a', ['big']), node('b', ['big'])],
      async (payloads) => ({ big: await large(payloads, { next: 'b', rows: rows(3000) }) }),
    );
    expect(await run.node('a')).toMatchObject({ state: 'SKIPPED' });
    expect(await run.node('b')).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('counts as its value inside the output of a map', async () => {
    const run = await runOf(
      [node('big', [], { payload: {} }, { map: { items: [0, 1, 2] } }), reading('sums', '[$nodes.big.output.n]')],
      async (payloads) => {
        const second = await large(payloads, { n: 2, rows: rows(3000) });
        return { big: (item) => (item === 1 ? second : { n: (item ?? 0) + 1 }) };
      },
    );
    expect(run.sent.get('sums')?.params.payload).toEqual({ value: [1, 2, 3] });
  });

  it.each([
    ['is gone', (payloads: MemoryPayloads) => payloads.stored.clear(), 'is not there'],
    [
      'is not what was stored',
      ({ stored }: MemoryPayloads) => {
        for (const key of stored.keys()) stored.set(key, '{"rows":[]}');
      },
      'is not what was stored',
    ],
  ])('T25 that %s fails the nodes that name it, and no others', async (_, spoil, told) => {
    const run = await runOf(
      [node('big'), reading('reader', '$nodes.big.output.rows'), node('other', ['big'])],
      async (payloads) => {
        const big = await large(payloads, { rows: rows(3000) });
        spoil(payloads);
        return { big };
      },
    );
    expect(await run.node('reader')).toMatchObject({
      state: 'FAILED',
      reason: 'ExpressionError',
      error: {
        name: 'Millrace.ExpressionError',
        message: expect.stringMatching(`^the output of "big" cannot be read: .*${told}`),
      },
    });
    expect(await run.node('other')).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('is too large for expressions above 16 MB, and both sizes are told', async () => {
    const bytes = PAYLOAD_LIMITS.read + 1;
    const run = await runOf([node('big'), reading('reader', '$nodes.big.output')], async (payloads) => ({
      big: await large(payloads, 'small in truth', { bytes }),
    }));
    expect(await run.node('reader')).toMatchObject({
      state: 'FAILED',
      reason: 'PayloadTooLarge',
      error: {
        name: 'Millrace.PayloadTooLarge',
        message: expect.stringMatching(`${bytes} bytes long; at most ${PAYLOAD_LIMITS.read}`),
      },
    });
  });

  it('that does not fit into a pass beside others is read by the next one', async () => {
    const ten = 10 * 1024 * 1024;
    const ids = ['a', 'b', 'c'];
    const run = await runOf(
      [
        ...ids.map((id) => node(id)),
        node('gate', ids),
        ...ids.map((id) => node(`reads-${id}`, ['gate'], { payload: { n: `{% $nodes.${id}.output.n %}` } })),
      ],
      async (payloads) => {
        const fill = 'x'.repeat(ten);
        const outputs = await Promise.all(ids.map(async (id, n) => [id, await large(payloads, { n, fill })] as const));
        return Object.fromEntries(outputs);
      },
    );
    expect(run.run.state).toBe('SUCCEEDED');
    expect(ids.map((id) => run.sent.get(`reads-${id}`)?.params.payload)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
  });
});

describe('a large output over HTTP', () => {
  const all = '{% $nodes.big.output %}';

  it('is an address in views, which redirects to where it is', async () => {
    const run = await runOf([node('big')], async (payloads) => ({ big: await large(payloads, rows(5000)) }), {
      output: { all },
    });
    const outputRef = `/v1/runs/${run.id}/nodes/big/output`;
    expect(await run.node('big')).toMatchObject({ state: 'SUCCEEDED', outputRef });
    expect((await run.get(`/v1/runs/${run.id}/nodes`)).body.items).toMatchObject([{ outputRef }]);
    const [key] = [...run.payloads.stored.keys()];
    expect(await run.get(outputRef)).toMatchObject({
      status: 307,
      headers: { location: `https://memory.example/${key}`, 'cache-control': 'no-store' },
    });
    expect(run.run).toMatchObject({ state: 'SUCCEEDED', outputRef: `/v1/runs/${run.id}/output` });
    expect((await run.get(run.run.outputRef)).body).toEqual({ all: rows(5000) });
  });

  it('of a run that is large by itself is an address, too, and a small one is both', async () => {
    const text = 'x'.repeat(200_000);
    const nodes = [node('big', [], { payload: {} }, { map: { items: [0, 1, 2, 3, 4, 5] } })];
    const run = await runOf(nodes, async () => ({ big: () => text }), { output: all });
    expect(run.run).toMatchObject({ state: 'SUCCEEDED', outputRef: `/v1/runs/${run.id}/output` });
    expect((await run.get(run.run.outputRef)).body).toEqual(Array(6).fill(text));
    const small = await runOf([node('big')], async () => ({ big: 1 }), { output: all });
    expect(small.run).toMatchObject({ output: 1 });
    expect((await small.get(`/v1/runs/${small.id}/output`)).body).toBe(1);
  });

  it('of items is put together for the map, up to 16 MB', async () => {
    const map = { items: [0, 1, 2] };
    const run = await runOf([node('big', [], { payload: {} }, { map })], async (payloads) => {
      const second = await large(payloads, rows(3000));
      return { big: (item) => (item === 1 ? second : (item ?? 0)) };
    });
    expect((await run.node('big')).outputRef).toBeDefined();
    expect((await run.get(`/v1/runs/${run.id}/nodes/big/output`)).body).toEqual([0, rows(3000), 2]);
    expect(await run.get(`/v1/runs/${run.id}/nodes/big/output?item=1`)).toMatchObject({ status: 307 });
    const larger = await runOf([node('big', [], { payload: {} }, { map })], async (payloads) => {
      const item = await large(payloads, 1, { bytes: PAYLOAD_LIMITS.read + 1 });
      return { big: () => item };
    });
    expect((await larger.get(`/v1/runs/${larger.id}/nodes/big/output`)).body).toMatchObject({
      code: 'OUTPUT_TOO_LARGE',
      detail: expect.stringContaining('items'),
    });
  });

  it('that is gone is not found', async () => {
    const map = { items: [0] };
    const run = await runOf([node('big', [], { payload: {} }, { map })], async (payloads) => {
      const item = await large(payloads, rows(3000));
      payloads.stored.clear();
      return { big: () => item };
    });
    expect((await run.get(`/v1/runs/${run.id}/nodes/big/output`)).body).toMatchObject({ code: 'OUTPUT_NOT_FOUND' });
    const ended = await runOf([node('big')], async () => ({ big: 1 }));
    expect((await ended.get(`/v1/runs/${ended.id}/output`)).body).toMatchObject({ code: 'OUTPUT_NOT_FOUND' });
  });
});

describe('a payload by reference', () => {
  const byReference = { byReference: true };

  it('carries the envelope itself where an expression names the whole output, whatever its size', async () => {
    const bytes = PAYLOAD_LIMITS.stored;
    const run = await runOf(
      [
        node('big'),
        node('odd id', ['big'], {
          payload: [{ table: '{% $nodes.big.output %}', day: '{% $run.input.day %}' }],
          ...byReference,
        }),
        node('next', ['odd id'], { payload: '{% $nodes.`odd id`.output %}', ...byReference }),
      ],
      async (payloads) => ({ big: await large(payloads, 1, { bytes }), 'odd id': '{% $run.id %}' }),
    );
    const big = (await run.deps.runs.listResults((await run.deps.runs.readRun(run.id)) as never, 0))[0]
      ?.output as string;
    expect(run.sent.get('odd id')?.params).toEqual({
      function: 'fn',
      ...byReference,
      payload: [{ table: JSON.parse(big), day: 'monday' }],
    });
    // What looks like an expression in an output is data.
    expect(run.sent.get('next')?.params.payload).toBe('{% $run.id %}');
  });

  it('is put aside as a whole where it is larger than an execution carries', async () => {
    const run = await runOf([node('a'), node('b'), node('both', ['a', 'b'], byReference)], async () => ({
      a: rows(1500) as Json,
      b: rows(1500) as Json,
    }));
    const { payload } = (run.sent.get('both') as Sent).params;
    expect(refIn(payload)).toBeDefined();
    expect(opened(run.payloads, payload)).toEqual({
      input: { day: 'monday' },
      upstream: { a: rows(1500), b: rows(1500) },
    });
  });

  it('C64 of a map whose 1,000 results are 1 KB each: the next node gets exactly these', async () => {
    const text = (item: number) => `${item} ${'漢😊'.repeat(140)}`;
    const items = Array.from({ length: 1000 }, (_, at) => at);
    const run = await runOf(
      [
        node('big', [], { payload: '{% $item %}' }, { map: { items, maxConcurrency: 1000 } }),
        node('next', ['big'], { payload: '{% $nodes.big.output %}', ...byReference }),
        node('alone', ['big'], { payload: '{% $nodes.big.output %}' }),
      ],
      async () => ({ big: (item) => text(item ?? 0) }),
    );
    expect(opened(run.payloads, run.sent.get('next')?.params.payload as Json)).toEqual(items.map(text));
    expect(await run.node('alone')).toMatchObject({ state: 'FAILED', reason: 'PayloadTooLarge' });
  });

  it('is at most 16 MB of what the scheduler has to put together, references apart', async () => {
    const text = 'x'.repeat(250_000);
    const items = Array.from({ length: 70 }, (_, at) => at);
    const all = ['{% $nodes.big.output %}'];
    const run = await runOf(
      [
        node('big', [], { payload: {} }, { map: { items } }),
        node('whole', ['big'], { payload: all, ...byReference }),
        node('default', ['big'], byReference),
        node('expression', ['big'], { payload: '{% $count($nodes.big.output) %}' }),
        node('other', ['big']),
      ],
      async () => ({ big: () => text }),
    );
    for (const id of ['whole', 'default', 'expression']) {
      expect(await run.node(id)).toMatchObject({
        state: 'FAILED',
        reason: 'PayloadTooLarge',
        error: { message: expect.stringContaining(`is more than ${PAYLOAD_LIMITS.read} bytes long`) },
      });
    }
    expect(await run.node('other')).toMatchObject({ state: 'SUCCEEDED' });
    expect(await run.node('big')).toMatchObject({ state: 'SUCCEEDED', outputRef: expect.any(String) });
    expect((await run.get(`/v1/runs/${run.id}/nodes/big/output`)).body).toMatchObject({ code: 'OUTPUT_TOO_LARGE' });
  });

  it('of a join over many outputs is at most 16 MB, too', async () => {
    const ids = Array.from({ length: 70 }, (_, at) => `n${at}`);
    const outputs = Object.fromEntries(ids.map((id) => [id, 'x'.repeat(250_000)]));
    const run = await runOf(
      [
        ...ids.map((id) => node(id)),
        node('join', ids, byReference),
        node('few', ids, { payload: '{% $length($nodes.n69.output) %}' }),
      ],
      async () => outputs,
    );
    expect(await run.node('join')).toMatchObject({ state: 'FAILED', reason: 'PayloadTooLarge' });
    expect(run.sent.get('few')?.params.payload).toBe(250_000);
  });

  it('is what a node has to ask for: otherwise it fails at once, with both sizes and the way out', async () => {
    const run = await runOf(
      [node('big'), node('next', ['big'], {}, { retry: { maxAttempts: 3 } })],
      async (payloads) => ({ big: await large(payloads, 1, { bytes: 400_000 }) }),
    );
    expect(run.sent.has('next')).toBe(false);
    expect(await run.node('next')).toMatchObject({
      state: 'FAILED',
      reason: 'PayloadTooLarge',
      error: {
        name: 'Millrace.PayloadTooLarge',
        message: expect.stringMatching(/400000 bytes long; at most 262144 are possible: .*byReference/),
      },
    });
  });
});

describe('an output that is no good', () => {
  const failed = (name: string) => ({ status: 'FAILED' as const, error: { name, message: 'too large' } });
  const retry = { maxAttempts: 3, intervalSeconds: 0 };

  async function once(end: ReturnType<Behaviour>) {
    const api = createApi(() => end);
    await api.put({ name: 'p', nodes: [node('n', [], { payload: {} }, { retry })] } as never);
    const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
    await api.untilOver(id);
    return { ...api, node: (await api.get(`/v1/runs/${id}/nodes/n`)).body };
  }

  it.each(['States.DataLimitExceeded', 'Function.ResponseSizeTooLarge', 'Millrace.PayloadTooLarge'])(
    'C64 that is too large for Step Functions or Lambda (%s) is not tried again',
    async (name) => {
      const { node: view } = await once(failed(name));
      expect(view).toMatchObject({ state: 'FAILED', reason: 'PayloadTooLarge', attempt: 1, error: { name } });
    },
  );

  it('C67 that its function refused is not tried again either', async () => {
    const { node: view } = await once(failed('Millrace.UnserializableOutput'));
    expect(view).toMatchObject({ state: 'FAILED', reason: 'NodeFailed', attempt: 1 });
  });

  it.each([
    [
      'C65',
      '{"rows":[{"id":20230807093130621}]}',
      'NUMBER_OUT_OF_RANGE: rows[0].id in the output: 20230807093130621 is',
    ],
    ['C65', '3544790567247868102', 'NUMBER_OUT_OF_RANGE: the output: 3544790567247868102 is an integer beyond 2^53'],
    ['C67', '{"a":"\\ud83d"}', 'INVALID_UNICODE: a in the output'],
    ['two equal keys', '{"a":1,"b":2,"a":3}', 'DUPLICATE_KEY: a in the output'],
    ['101 levels', `${'['.repeat(101)}${']'.repeat(101)}`, 'TOO_DEEP: the output'],
  ])('%s fails its attempt, which is not tried again: %s', async (_, output, message) => {
    const { node: view } = await once({ status: 'SUCCEEDED', output });
    expect(view).toMatchObject({
      state: 'FAILED',
      attempt: 1,
      error: { name: 'Millrace.InvalidOutput', message: expect.stringContaining(message) },
    });
    expect(view.output).toBeUndefined();
  });
});

describe('values on their way', () => {
  const values = { numbers: [20200219, 0.1, 1e21, -5e-324, 9007199254740992], [TEXT]: TEXT };

  it('C65, C67 are the same after three nodes, a map and a condition', async () => {
    const run = await runOf(
      [
        node('a', [], { payload: values as never }),
        node('b', ['a'], { payload: '{% $nodes.a.output %}' }),
        node('m', ['b'], { payload: '{% $item %}' }, { map: { items: '{% [$nodes.b.output] %}' } }),
        node(
          'c',
          ['m'],
          { payload: {} },
          { when: '{% $nodes.m.output[0].numbers[0] = 20200219 and $nodes.m.output[0].numbers[1] = 0.1 %}' },
        ),
      ],
      async () => ({ a: values as Json, b: values as Json, m: () => values as Json, c: values as Json }),
      { output: '{% $nodes.c.output %}' },
    );
    expect(run.run).toMatchObject({ state: 'SUCCEEDED', output: values });
    for (const id of ['a', 'b', 'm']) expect(run.sent.get(id)?.params.payload).toEqual(values);
    expect((await run.get(`/v1/runs/${run.id}/nodes/c/output`)).text).toBe(JSON.stringify(values));
  });
});
