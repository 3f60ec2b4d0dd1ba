import * as z from 'zod';
import { EVENT_SCHEMAS } from './event-schemas.ts';
import { buildOpenApi } from './openapi.ts';
import { ROUTES } from './routes.ts';

/** The published schemas: file names under `schemas/`, and their texts. */
export function publishedSchemas(): Map<string, string> {
  const files = new Map([['openapi.json', toText(buildOpenApi(ROUTES))]]);
  for (const [name, schema] of Object.entries(EVENT_SCHEMAS)) {
    const described = { title: name, ...z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' }) };
    files.set(`events/${name}.json`, toText(described));
  }
  return files;
}

function toText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
