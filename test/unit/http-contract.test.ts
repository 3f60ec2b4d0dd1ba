import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROBLEMS } from '#http/problem.ts';
import { publishedSchemas } from '#http/published-schemas.ts';
import { ROUTES } from '#http/routes.ts';

const PROJECT = new URL('../../', import.meta.url);

describe('the published schemas', () => {
  it('are what the code checks by', () => {
    for (const [file, text] of publishedSchemas()) {
      const written = readFileSync(new URL(`schemas/${file}`, PROJECT), 'utf8');
      expect(written === text, `schemas/${file} is up to date: node src/http/write-schemas.ts`).toBe(true);
    }
  });

  it('are all of the events', () => {
    const files = readdirSync(new URL('schemas/events/', PROJECT)).map((file) => `events/${file}`);
    expect(files.sort()).toEqual([...publishedSchemas().keys()].filter((file) => file.startsWith('events/')).sort());
  });

  it('refer to nothing that is not in the document', () => {
    const text = publishedSchemas().get('openapi.json') as string;
    const document = JSON.parse(text) as { components: { schemas: Record<string, unknown> } };
    const references = [...text.matchAll(/"\$ref": "([^"]*)"/g)].map(([, reference]) => reference);
    expect(references.length).toBeGreaterThan(50);
    for (const reference of references) {
      const name = /^#\/components\/schemas\/(\w+)$/.exec(reference as string)?.[1] ?? reference;
      expect(Object.keys(document.components.schemas)).toContain(name);
    }
  });
});

describe('the routes', () => {
  it('have an operation id each, and answers', () => {
    const ids = ROUTES.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const route of ROUTES) expect(Object.keys(route.answers).length, route.operationId).toBeGreaterThan(0);
  });
});

describe('the codes of problems', () => {
  it('have a page each', () => {
    const missing = [...Object.keys(PROBLEMS), 'INVALID_EVENT', 'TOO_MANY_HOPS'].filter((code) => {
      const page = new URL(`docs/errors/${code}.md`, PROJECT);
      return !existsSync(page) || !readFileSync(page, 'utf8').startsWith(`# ${code}\n`);
    });
    expect(missing).toEqual([]);
  });
});
