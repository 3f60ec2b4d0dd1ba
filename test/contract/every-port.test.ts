import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PORTS = join(import.meta.dirname, '../../src/ports');

/** Names of the interfaces that have methods: what has none is data. */
async function portNames(): Promise<string[]> {
  const files = await readdir(PORTS);
  const texts = await Promise.all(files.map((file) => readFile(join(PORTS, file), 'utf8')));
  const interfaces = texts.flatMap((text) => [...text.matchAll(/^export interface (\w+)[^{\n]*\{\n(.*?)^\}/gms)]);
  return interfaces.flatMap(([, name = '', body = '']) => (/^ {2}\w+\(/m.test(body) ? [name] : []));
}

it('the table of suites has every port, and every suite that it names is there', async () => {
  const readme = await readFile(join(import.meta.dirname, 'README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| (\w+) \| (\[[^|]*|none: [^|]*)\|.*$/gm)];
  expect(rows.map(([, port]) => port).sort()).toEqual((await portNames()).sort());
  const suites = rows.flatMap(([row]) => [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => path));
  expect(suites.filter((path) => !existsSync(join(import.meta.dirname, path)))).toEqual([]);
});

it('every suite is in the table', async () => {
  const readme = await readFile(join(import.meta.dirname, 'README.md'), 'utf8');
  const suites = (await readdir(import.meta.dirname)).filter((file) => file.endsWith('.contract.ts'));
  expect(suites.filter((file) => !readme.includes(`(${file})`))).toEqual([]);
});
