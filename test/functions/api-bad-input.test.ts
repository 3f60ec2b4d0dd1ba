/** Bad addresses, on every route there is. What bodies may do is in `api-bad-bodies.test.ts`. */
import { beforeAll, describe, expect, it } from 'vitest';
import { NAME_PATTERN } from '#domain/definition-schema.ts';
import type { Route } from '#http/route.ts';
import { ROUTES } from '#http/routes.ts';
import { createTriedApi, type TriedApi } from './route-samples.ts';

const named = ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const);
const withParts = named.filter(([, { path }]) => path.includes('{'));
const reads = named.filter(([, { method }]) => method === 'GET');
const isList = ({ query }: Route) => query !== undefined && 'cursor' in query;
const lists = reads.filter(([, route]) => isList(route));

const BAD_PARTS = [
  '%00',
  '%2F',
  '..%2F..%2Fetc',
  '.',
  '%2e%2e',
  'a%0d%0aset-cookie:%20a=b',
  '__proto__',
  'constructor',
  '%F0%9F%98%80',
  'b64.',
  'b64.!',
  'b64._w',
  'a%20b',
  '%7BrunId%7D',
  'a'.repeat(26),
  'x'.repeat(9_000),
];
const BAD_LIMITS = [
  '0',
  '-1',
  '1001',
  '99999999999999999999',
  '',
  '%201',
  '1.5',
  '1e2',
  '0x10',
  'NaN',
  '%D9%A3',
  '%00',
];
const garbled = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const BAD_CURSORS = [
  '',
  'x',
  '%00',
  'W10',
  garbled([]),
  garbled(['a', 0]),
  garbled({ __proto__: 1 }),
  'a'.repeat(9_000),
];

let tried: TriedApi;
let before: string;

beforeAll(async () => {
  tried = await createTriedApi();
  before = await tried.readAll();
});

describe('methods', () => {
  it.each(named)('%s has no others than the address names', async (_, { path }) => {
    const taken = ROUTES.filter((route) => route.path === path).map(({ method }) => method as string);
    if (taken.includes('GET')) taken.push('HEAD');
    const address = tried.at({ path } as Route);
    for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'BREW', '__PROTO__']) {
      if (taken.includes(method)) continue;
      const { status, headers, body } = await tried.api.call(method, address, { body: {} });
      if (method !== 'HEAD') expect(body.code, method).toBe('METHOD_NOT_ALLOWED');
      expect([status, headers['allow']], method).toEqual([405, taken.join(', ')]);
    }
    expect(await tried.readAll()).toBe(before);
  });

  it.each(reads)('%s answers HEAD alike, and does not read a body', async (_, route) => {
    const plain = await tried.tryRoute(route);
    const head = await tried.api.call('HEAD', tried.at(route));
    expect([head.status, head.headers, head.text]).toEqual([plain.status, plain.headers, '']);
    const withBody = await tried.tryRoute(route, tried.at(route), { body: { text: '{' } });
    expect(withBody.text).toBe(plain.text);
  });
});

describe('paths', () => {
  it.each(withParts)('%s refuses what is no id, and repeats no more than it must', async (_, route) => {
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    for (const name of names) {
      // A PUT makes what it names: of these, what could be a name is left out.
      for (const part of BAD_PARTS.filter((bad) => route.method !== 'PUT' || !NAME_PATTERN.test(bad))) {
        const answer = await tried.tryRoute(route, tried.at(route, { [name]: part }));
        expect(route.method === 'PUT' ? [404, 422] : [404], part).toContain(answer.status);
        expect(answer.text.length, part).toBeLessThan(10_000);
      }
    }
    expect(await tried.readAll()).toBe(before);
  });
});

describe('queries', () => {
  it.each(named)('%s refuses a parameter that it does not have', async (_, route) => {
    for (const query of [
      'x=1',
      '__proto__=1',
      'constructor=1',
      'Limit=1',
      '%00=1',
      '=1',
      'limit[]=1',
      'x&'.repeat(4_000),
    ]) {
      const answer = await tried.tryRoute(route, `${tried.at(route)}?${query}`);
      expect([answer.status, answer.body.code], query).toEqual([400, 'INVALID_PARAMETER']);
    }
    const many = Array.from({ length: 1_500 }, (_value, index) => `a${index}`).join('&');
    expect((await tried.tryRoute(route, `${tried.at(route)}?${many}`)).body.errors.at(-1).code).toBe('MORE_ERRORS');
    expect(await tried.readAll()).toBe(before);
  });

  it.each(named.filter(([, { query }]) => query))('%s refuses a parameter given twice', async (_, route) => {
    for (const [name, { repeatable }] of Object.entries(route.query ?? {})) {
      if (repeatable) continue;
      const answer = await tried.tryRoute(route, `${tried.at(route)}?${name}=1&${name}=1`);
      expect([answer.body.code, answer.body.errors[0].message]).toEqual([
        'INVALID_PARAMETER',
        'is given more than once',
      ]);
    }
  });

  it.each(lists)('%s refuses limits that are none', async (_, route) => {
    for (const limit of BAD_LIMITS) {
      const answer = await tried.tryRoute(route, `${tried.at(route)}?limit=${limit}`);
      expect([answer.body.code, answer.body.errors[0].path], limit).toEqual(['INVALID_PARAMETER', 'limit']);
    }
  });

  it.each(lists)('%s refuses cursors that it did not give', async (_, route) => {
    for (const cursor of BAD_CURSORS) {
      const answer = await tried.tryRoute(route, `${tried.at(route)}?cursor=${cursor}`);
      expect([answer.status, answer.body.code], cursor).toEqual([400, 'INVALID_PAGE_TOKEN']);
    }
  });

  it('C110: no list takes the cursor of another one', async () => {
    const cursors = new Map<string, string>();
    for (const [name, route] of lists) {
      const page = await tried.tryRoute(route, `${tried.at(route)}?limit=1`);
      if (page.body.nextCursor) cursors.set(name, page.body.nextCursor);
    }
    expect(cursors.size).toBeGreaterThan(4);
    for (const [name, route] of lists) {
      for (const [from, cursor] of cursors) {
        const { status } = await tried.tryRoute(route, `${tried.at(route)}?cursor=${cursor}`);
        expect(status, `${name} with the cursor of ${from}`).toBe(name === from ? 200 : 400);
      }
    }
  });
});
