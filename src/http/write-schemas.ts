/** Writes the published schemas of the API and of the events: `node src/http/write-schemas.ts`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { publishedSchemas } from './published-schemas.ts';

const folder = new URL('../../schemas/', import.meta.url);
mkdirSync(new URL('events/', folder), { recursive: true });
for (const [file, text] of publishedSchemas()) writeFileSync(new URL(file, folder), text);
