/** The helper library for functions, over a bucket in memory. */
import { describe, expect, it } from 'vitest';
import { createMemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import type { Json } from '#domain/json.ts';
import { PAYLOAD_LIMITS, refIn, toEnvelope } from '#domain/payload-ref.ts';
import { type FunctionCode, wrapFunction } from '#function/define-function.ts';
import { toJsonText } from '#function/json-output.ts';
import type { PayloadBucket } from '#function/large-payloads.ts';
import type { LambdaContext } from '#function/run-context.ts';
import { toToldError } from '#function/told-error.ts';

const TEXT = 'é ü 漢字 😊 👩‍🔬 \u0000 \u2028 \u200f';

function openBucket() {
  const payloads = createMemoryPayloads();
  return { ...payloads, name: 'memory' };
}

function invoke(code: FunctionCode<never, unknown>, event: unknown, bucket?: PayloadBucket, context?: LambdaContext) {
  return wrapFunction(code, () => bucket)(event, context);
}

/** Returns what it gets. */
const echo = (payload: unknown) => payload;

/** A list with one text, whose JSON text has so many bytes. */
function ofBytes(bytes: number, letter = 'x'): string[] {
  const left = bytes - 4;
  const size = Buffer.byteLength(letter);
  return [letter.repeat(left / size) + 'x'.repeat(left % size)];
}

describe('what an output may be', () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const shared = { n: 1 };
  let deep: unknown = 0;
  for (let level = 0; level < 101; level++) deep = [deep];

  it.each<[string, unknown, string]>([
    ['NaN', { rows: [{ price: 1 }, { price: Number.NaN }] }, 'rows[1].price in the output is NaN'],
    ['Infinity', [Number.NEGATIVE_INFINITY], '[0] in the output is -Infinity'],
    ['undefined inside', { a: undefined }, 'a in the output is undefined'],
    ['a hole in a list', new Array(1), '[0] in the output is undefined'],
    ['a BigInt', 1n, 'the output is a BigInt'],
    ['a function', { run: () => 1 }, 'run in the output is a function'],
    ['a function as a whole', () => 1, 'the output is a function'],
    ['a symbol', { 'odd key': Symbol('s') }, '["odd key"] in the output is a symbol'],
    ['a value that holds itself', cycle, 'self in the output holds itself'],
    ['half of a surrogate pair', { a: ['ok', 'x\ud83d'] }, 'a[1] in the output holds half of a surrogate pair'],
    ['half of a surrogate pair in a key', { '\udc00': 1 }, 'has half of a surrogate pair in its key'],
    ['an integer beyond 2^53', { id: 2 ** 53 + 2 }, 'id in the output is 9007199254740994, an integer beyond 2^53'],
    ['a Map', { counts: new Map([['a', 1]]) }, 'counts in the output is a Map'],
    ['a promise', [Promise.resolve(1)], '[0] in the output is a Promise'],
    ['an error', { cause: new TypeError('no') }, 'cause in the output is a Error'],
    ['a date that is none', { at: new Date(Number.NaN) }, 'at in the output is no valid date'],
    ['101 levels', deep, 'is nested more than 100 levels deep'],
  ])('refuses %s and says where it is', async (_, output, message) => {
    await expect(invoke(() => output, {}, openBucket())).rejects.toMatchObject({
      name: 'Millrace.UnserializableOutput',
      message: expect.stringContaining(message),
    });
  });

  it.each<[string, unknown, Json]>([
    ['nothing', undefined, null],
    ['null', null, null],
    ['C65 numbers as they are', [20200219, 0.1, 1e21, -(2 ** 53)], [20200219, 0.1, 1e21, -(2 ** 53)]],
    ['C65 -0, which JSON text of JavaScript has not', [-0], [0]],
    ['C67 text, code point for code point', { [TEXT]: TEXT }, { [TEXT]: TEXT }],
    ['dates', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['the same object twice', [shared, shared, { shared }], [{ n: 1 }, { n: 1 }, { shared: { n: 1 } }]],
    [
      'objects of a class',
      new (class Row {
        id = 1;
      })(),
      { id: 1 },
    ],
    ['100 levels', (deep as unknown[])[0], (deep as Json[])[0] as Json],
  ])('takes %s', async (_, output, expected) => {
    expect(await invoke(() => output, {}, openBucket())).toEqual(expected);
  });

  it('keeps a key that careless programs take for more than data', () => {
    const value = JSON.parse('{"__proto__":{"a":1}}') as unknown;
    expect(toJsonText(value)).toBe('{"__proto__":{"a":1}}');
  });
});

describe('C64 outputs of any size', () => {
  it.each([
    ['200 KiB', PAYLOAD_LIMITS.returned, 'x'],
    ['200 KiB in characters of 4 bytes', PAYLOAD_LIMITS.returned, '😊'],
  ])('returns %s directly', async (_, bytes, letter) => {
    const bucket = openBucket();
    expect(await invoke(() => ofBytes(bytes, letter), {}, bucket)).toEqual(ofBytes(bytes, letter));
    expect(bucket.stored.size).toBe(0);
  });

  it.each([
    ['one byte more than 200 KiB', PAYLOAD_LIMITS.returned + 1, 'x'],
    ['255 KB', 255_000, 'x'],
    ['257 KB', 257_000, '😊'],
    ['401 KB', 401_000, 'é'],
    ['5 MB', 5_000_000, '漢'],
  ])('returns %s by reference, and the next function gets the same', async (_, bytes, letter) => {
    const bucket = openBucket();
    const returned = (await invoke(() => ofBytes(bytes, letter), {}, bucket)) as Json;
    expect(refIn(returned)).toMatchObject({ bucket: 'memory', bytes });
    expect(JSON.stringify(returned).length).toBeLessThan(500);
    const got: unknown[] = [];
    await invoke((payload) => void got.push(payload), { data: [returned, 1] }, bucket);
    expect(got).toEqual([{ data: [ofBytes(bytes, letter), 1] }]);
  });

  it('names both sizes of what is larger than 50 MB', async () => {
    const bytes = PAYLOAD_LIMITS.stored + 1;
    await expect(invoke(() => ofBytes(bytes), {}, openBucket())).rejects.toMatchObject({
      name: 'Millrace.PayloadTooLarge',
      message: `the output is ${bytes} bytes long; at most ${PAYLOAD_LIMITS.stored} are possible`,
    });
  });

  it('knows the limit where there is no bucket', async () => {
    const bytes = PAYLOAD_LIMITS.direct + 1;
    await expect(invoke(() => ofBytes(bytes), {})).rejects.toMatchObject({
      name: 'Millrace.PayloadTooLarge',
      message: expect.stringContaining(`${bytes} bytes long; at most ${PAYLOAD_LIMITS.direct}`),
    });
    expect(await invoke(() => ofBytes(PAYLOAD_LIMITS.direct), {})).toHaveLength(1);
  });
});

describe('payloads by reference', () => {
  it('fails where what is referred to is gone or not the same', async () => {
    const bucket = openBucket();
    const ref = await bucket.put('[1]');
    bucket.stored.set(ref.key, '[2]');
    await expect(invoke(echo, toEnvelope(ref), bucket)).rejects.toMatchObject({ name: 'Millrace.PayloadUnreadable' });
    bucket.stored.clear();
    await expect(invoke(echo, toEnvelope(ref), bucket)).rejects.toMatchObject({
      name: 'Millrace.PayloadUnreadable',
      message: expect.stringContaining(ref.key),
    });
  });

  it('adds up what one payload refers to, each text once', async () => {
    const bucket = openBucket();
    const half = { ...(await bucket.put('[1]')), bytes: PAYLOAD_LIMITS.stored / 2 };
    const other = { ...(await bucket.put('[2]')), bytes: PAYLOAD_LIMITS.stored / 2 + 1 };
    await expect(invoke(echo, [toEnvelope(half), toEnvelope(other)], bucket)).rejects.toMatchObject({
      name: 'Millrace.PayloadTooLarge',
    });
    const small = await bucket.put('[3]');
    expect(await invoke(echo, [toEnvelope(small), toEnvelope(small)], bucket)).toEqual([[3], [3]]);
  });

  it('leaves alone what only looks like a reference, or refers to other buckets', async () => {
    const bucket = openBucket();
    const ref = await bucket.put('[1]');
    const others = [
      toEnvelope({ ...ref, bucket: 'elsewhere' }),
      toEnvelope({ ...ref, key: `outputs/${'0'.repeat(64)}` }),
      toEnvelope({ ...ref, key: `../${ref.sha256}` }),
      { ...toEnvelope(ref), more: 1 },
      { $millrace: 'mine' },
    ];
    expect(await invoke(echo, others, bucket)).toEqual(others);
  });
});

describe('the context of an attempt', () => {
  const read = (context?: LambdaContext) =>
    invoke(
      (_payload, run) => ({ ...run, remainingMs: run.remainingMs(), signal: run.signal.aborted }),
      {},
      undefined,
      context,
    );

  it('tells run, node, attempt, item and times', async () => {
    const clientContext = { run: 'r', node: 'n', attempt: 2, item: 7, timeoutSeconds: 30, token: 'secret' };
    expect(await read({ clientContext, getRemainingTimeInMillis: () => 5_000 })).toEqual({
      run: 'r',
      node: 'n',
      attempt: 2,
      item: 7,
      timeoutSeconds: 30,
      remainingMs: 5_000,
      signal: false,
    });
  });

  it('ends with the attempt where that ends before the function must', async () => {
    const clientContext = { run: 'r', node: 'n', attempt: 1, timeoutSeconds: 2 };
    const { remainingMs } = (await read({ clientContext, getRemainingTimeInMillis: () => 900_000 })) as {
      remainingMs: number;
    };
    expect(remainingMs).toBeGreaterThan(1_000);
    expect(remainingMs).toBeLessThanOrEqual(2_000);
  });

  it('aborts its signal before no time is left', async () => {
    const context = { getRemainingTimeInMillis: () => 510 };
    const aborted = await invoke(
      (_payload, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted'))),
      {},
      undefined,
      context,
    );
    expect(aborted).toBe('aborted');
  });

  it('stands in for itself where nobody invoked the function for a run', async () => {
    expect(await read()).toMatchObject({ run: 'local', node: 'local', attempt: 1 });
    expect(await read({ clientContext: { custom: {} } })).toMatchObject({ run: 'local' });
  });
});

describe('errors', () => {
  class BadInput extends Error {}
  class BadRows extends BadInput {}
  class Named extends Error {
    override name = 'Some.Name';
  }

  it.each<[string, unknown, string, string]>([
    ['a class', new BadInput('no rows'), 'BadInput', 'no rows'],
    ['a class below it', new BadRows('no rows'), 'BadRows', 'no rows'],
    ['a name of its own', new Named('x'), 'Some.Name', 'x'],
    ['a name that was set', Object.assign(new Error('x'), { name: 'Late' }), 'Late', 'x'],
    ['one of JavaScript’s own', new RangeError('x'), 'RangeError', 'x'],
    ['a plain error', new Error('x'), 'Error', 'x'],
    ['a text', 'just text', 'Error', 'just text'],
    ['nothing', undefined, 'Error', 'undefined'],
    ['an object that looks like one', { name: 'Like', message: 'm' }, 'Like', 'm'],
    ['a frozen one', Object.freeze(new BadInput('cold')), 'BadInput', 'cold'],
    ['C67 any text', new BadInput(TEXT), 'BadInput', TEXT],
    ['C67 half of a surrogate pair', new BadInput('a\ud800b'), 'BadInput', 'a\ufffdb'],
  ])('tell the name and the message of %s', async (_, thrown, name, message) => {
    const code = () => {
      throw thrown;
    };
    await expect(invoke(code, {})).rejects.toMatchObject({ name, message });
  });

  it('C64 are cut with a mark, so that all that Lambda tells fits into what Step Functions keeps', () => {
    for (const letter of ['x', '😊', '"', '\u0000', '\n']) {
      const { name, message, stack = '' } = toToldError(new BadInput(letter.repeat(1_000_000)));
      expect(message.endsWith('… (cut)')).toBe(true);
      expect(message.isWellFormed()).toBe(true);
      const cause = JSON.stringify({ errorType: name, errorMessage: message, trace: stack.split('\n') });
      expect(cause.length).toBeLessThan(32_768);
      expect(cause.length).toBeGreaterThan(20_000);
    }
  });

  it('keep the frames of their stack', () => {
    const { stack } = toToldError(new BadInput('a\nb'));
    expect(stack).toMatch(/^BadInput: a\nb\n {4}at /);
    expect(stack).toContain('function-library.test.ts');
  });
});
