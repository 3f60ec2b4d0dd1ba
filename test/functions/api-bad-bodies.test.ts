/** Bad bodies, on every route that takes one: each is refused with a code that the route documents, and nothing is stored. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '#domain/json.ts';
import type { Route } from '#http/route.ts';
import { ROUTES } from '#http/routes.ts';
import type { Sent } from './api-client.ts';
import { createTriedApi, type TriedApi } from './route-samples.ts';

const named = ROUTES.filter(({ body }) => body).map((route) => [`${route.method} ${route.path}`, route] as const);
const takesYaml = ({ body }: Route) => body?.mediaTypes.includes('application/yaml') ?? false;

let tried: TriedApi;
let before: string;

beforeAll(async () => {
  tried = await createTriedApi();
  before = await tried.readAll();
});

/** Sends each of the bodies and expects its code; nothing may be stored. */
async function expectRefusals(route: Route, bodies: Readonly<Record<string, Sent>>, codes: readonly string[]) {
  for (const [name, sent] of Object.entries(bodies)) {
    const { body } = await tried.tryRoute(route, tried.at(route), sent);
    expect(codes, name).toContain(body?.code);
  }
  expect(await tried.readAll()).toBe(before);
}

const text = (body: string): Sent => ({ body: { text: body } });
const base64 = (...bytes: number[]): Sent => ({ body: { base64: Buffer.from(bytes).toString('base64') } });
const typed = (type: string, body = '{}'): Sent => ({ body: { text: body }, headers: { 'content-type': type } });
const members = (count: number, member: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => member(index)).join();

describe('bodies that are no JSON', () => {
  const malformed = [
    '{',
    '}',
    '{"a":}',
    '{"a":1,}',
    "{'a':1}",
    'nonsense',
    '   ',
    '\u0000',
    '{}{}',
    '[1',
    '"',
    'NaN',
    '{"a":+1}',
  ];

  it.each(named)('%s says that they are none', async (_, route) => {
    await expectRefusals(route, Object.fromEntries(malformed.map((body) => [body, text(body)])), ['INVALID_JSON']);
  });

  it.each(named)('%s refuses nesting over 100 levels, however deep', async (_, route) => {
    const deep = [101, 100_000].flatMap((depth) => [
      ['lists', text('['.repeat(depth) + ']'.repeat(depth))] as const,
      ['objects', text(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)] as const,
      ['unclosed', text(`{"input":${'['.repeat(depth)}`)] as const,
    ]);
    for (const body of deep) await expectRefusals(route, Object.fromEntries([body]), ['TOO_DEEP']);
  });

  it.each(named)(
    '%s refuses bytes that are no UTF-8, also where a gateway put U+FFFD in their place',
    async (_, route) => {
      const patched: Sent = { body: { text: '{"a":"\uFFFD\uFFFD"}' }, headers: { 'content-length': '10' } };
      const bodies = {
        'a lone byte': base64(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
        'half a character': base64(0x22, 0xe2, 0x82, 0x22),
        'an overlong slash': base64(0x22, 0xc0, 0xaf, 0x22),
        'a surrogate': base64(0x22, 0xed, 0xa0, 0x80, 0x22),
        'UTF-16': base64(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00),
        patched,
      };
      await expectRefusals(route, bodies, ['INVALID_UNICODE']);
    },
  );
});

describe('bodies of another kind', () => {
  it.each(named)('%s refuses other types, other character sets and what is compressed', async (_, route) => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
    ];
    const bodies = {
      ...Object.fromEntries(types.map((type) => [type, typed(type)])),
      'another character set': typed('application/json; charset=utf-16'),
      'two types': typed('application/json, text/plain'),
      gzip: { body: { base64: 'H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA==' }, headers: { 'content-encoding': 'gzip' } },
      'a header in the type': typed('text/plain\r\nx-other: 1'),
    };
    await expectRefusals(route, bodies, ['UNSUPPORTED_MEDIA_TYPE']);
  });

  it.each(named)('%s refuses more than it takes, before it is read', async (_, route) => {
    const bytes = (takesYaml(route) ? 4 : 1) * 1024 * 1024 + 1;
    await expectRefusals(route, { large: text('['.repeat(bytes)) }, ['BODY_TOO_LARGE']);
  });
});

describe('JSON that is no such request', () => {
  const wrong = ['null', 'true', '0', '-1e308', '""', '"{}"', '[]', '[{}]', '[[]]'];
  const unknown = [
    '{"x":1}',
    '{"":1}',
    '{"Input":1}',
    '{"toString":1}',
    '{"hasOwnProperty":1}',
    '{"constructor":1}',
    '{"\\u0000":1}',
  ];

  it.each(named)('%s refuses wrong types and unknown fields', async (_, route) => {
    const bodies = Object.fromEntries([...wrong, ...unknown].map((body) => [body, text(body)]));
    await expectRefusals(route, bodies, ['INVALID_REQUEST', 'INVALID_DEFINITION']);
  });

  it.each(named)('%s refuses keys that change prototypes, equal keys, and what JSON cannot carry', async (_, route) => {
    const bodies = [
      '{"__proto__":{"polluted":1}}',
      '{"\\u005f_proto__":{"polluted":1}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"a":1,"a":1}',
      '{"a":12345678901234567890}',
      '{"a":1e400}',
      '{"a":"\\ud800"}',
      '{"\\udc00":1}',
    ];
    await expectRefusals(route, Object.fromEntries(bodies.map((body) => [body, text(body)])), [
      'FORBIDDEN_KEY',
      'DUPLICATE_KEY',
      'NUMBER_OUT_OF_RANGE',
      'INVALID_UNICODE',
      'INVALID_DEFINITION',
    ]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each(named)('%s answers many mistakes with the first of them, and cuts what it repeats', async (_, route) => {
    const bodies = {
      fields: text(`{${members(20_000, (index) => `"a${index}":1`)}}`),
      tags: text(`{"tags":{${members(20_000, (index) => `":${index}":1`)}}}`),
      'long fields': text(`{${members(400, (index) => `"${index}${'\\"'.repeat(1_000)}":1`)}}`),
      'one long field': text(`{"${'\\"'.repeat(500_000)}":1}`),
    };
    for (const [name, sent] of Object.entries(bodies)) {
      const answer = await tried.tryRoute(route, tried.at(route), sent);
      const { code, errors, detail } = answer.body;
      expect(['INVALID_REQUEST', 'INVALID_DEFINITION'], name).toContain(code);
      expect(errors.length, name).toBeLessThanOrEqual(1_001);
      expect(detail.length, name).toBeLessThanOrEqual(1_001);
      expect(answer.text.length, name).toBeLessThan(2 * 1024 * 1024);
      if (name === 'fields') expect(errors.at(-1).code).toBe('MORE_ERRORS');
    }
    expect(await tried.readAll()).toBe(before);
  });
});

describe('outputs that are given by hand', () => {
  const large = 'x'.repeat(262_143);
  const asked: Readonly<Record<string, (output: string, taken: boolean) => [body: Json, path: string]>> = {
    markNode: (output, taken) => [{ state: taken ? 'SUCCEEDED' : 'FAILED', output }, 'output'],
    answerNode: (output, taken) => [{ approve: taken, output }, 'output'],
    rerun: (output, taken) => [
      {
        from: 'all',
        revision: 'latest',
        mark: { 'goes on': { state: taken ? 'SUCCEEDED' : 'SKIPPED', output } },
      },
      'mark["goes on"].output',
    ],
  };

  it.each(Object.keys(asked))('%s refuses one that is too large, or that nothing takes', async (operation) => {
    const route = ROUTES.find(({ operationId }) => operationId === operation) as Route;
    for (const [output, taken, code] of [
      [large, true, 'TOO_LARGE'],
      ['', false, 'INVALID_FIELD'],
    ] as const) {
      const [body, path] = asked[operation]?.(output, taken) ?? [];
      const answer = await tried.tryRoute(route, tried.at(route), { body: body as Json });
      expect(answer.body).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ path, code }] });
    }
    expect(await tried.readAll()).toBe(before);
  });
});

describe('definitions that would take more memory or time than a function has', () => {
  const yaml = (body: string) => typed('application/yaml', body);
  const definitions = named.filter(([, route]) => takesYaml(route));

  it.each(definitions)(
    '%s',
    async (_, route) => {
      await expectRefusals(route, { brackets: yaml('['.repeat(1_000_000)), braces: yaml('{a: '.repeat(500_000)) }, [
        'TOO_DEEP',
      ]);
      const bodies = {
        marks: yaml('- a\n'.repeat(1_000_000)),
        'lists in one another': yaml('- '.repeat(1_000_000)),
        values: text(`[${'1,'.repeat(1_900_000)}1]`),
        objects: text(`{"nodes":[${'{},'.repeat(1_200_000)}{}]}`),
      };
      await expectRefusals(route, bodies, ['INVALID_DEFINITION']);
    },
    60_000,
  );
});
