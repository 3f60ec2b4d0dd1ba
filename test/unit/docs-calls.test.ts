/** The reference names every route, event, command, option and code, and none that is not there. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EVENT_SCHEMAS } from '#http/event-schemas.ts';
import { ROUTES } from '#http/routes.ts';
import { runHere } from './cli-capture.ts';
import { codeBlocks, columnOf, PROJECT, readPage, readPages, tableRows } from './docs-pages.ts';

const apiPage = readPage('docs/reference/api.md');
const eventsPage = readPage('docs/reference/events.md');
const cliPage = readPage('docs/reference/cli.md');
const hostPage = readPage('docs/reference/development-host.md');

describe('calls of the API', () => {
  const rows = new Map(tableRows(apiPage).map((row) => [row.get('call') ?? '', row]));
  const routes = ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const);

  it('are all there', () => {
    expect([...rows.keys()].sort()).toEqual(routes.map(([call]) => call).sort());
  });

  it.each(routes)('%s has its parameters, its body and its answers', (call, { query = {}, body, answers }) => {
    const row = rows.get(call);
    const isDefinition = body?.mediaTypes.includes('application/yaml');
    expect({ query: row?.get('query'), body: row?.get('body'), answers: row?.get('answers') }).toEqual({
      query: Object.keys(query).join(', '),
      body: isDefinition ? 'a definition' : fieldsOf(body?.schema),
      answers: Object.keys(answers).join(', '),
    });
  });
});

/** The fields of a body as the page names them, with `?` behind one that may be left out. */
function fieldsOf(schema: z.ZodType | undefined): string {
  if (!(schema instanceof z.ZodObject)) return '';
  const fields = Object.entries<z.ZodType>(schema.shape);
  const named = fields.map(([name, field]) => (field.safeParse(undefined).success ? `${name}?` : name));
  return named.length === 0 ? '' : `{${named.join(', ')}}`;
}

describe('events', () => {
  it('are all there', () => {
    expect(
      tableRows(eventsPage)
        .flatMap((row) => row.get('detail-type') ?? [])
        .sort(),
    ).toEqual(Object.keys(EVENT_SCHEMAS).sort());
  });

  it.each(['RunRequested', 'StopRequested'] as const)('%s has its fields, and says which are needed', (type) => {
    const rows = tableRows(eventsPage, type);
    expect(rows.map((row) => row.get('field')).sort()).toEqual(Object.keys(EVENT_SCHEMAS[type].shape).sort());
    const schema = z.toJSONSchema(EVENT_SCHEMAS[type], { io: 'input' });
    const needed = rows.filter((row) => row.get('default') === 'needed').map((row) => row.get('field'));
    expect(needed).toEqual(schema.required);
  });

  it.each(['RunRejected', 'RunChanged', 'PipelineChanged', 'EngineChanged'] as const)('%s names its fields', (type) => {
    const section = eventsPage.text.split(`\n## ${type}\n`)[1]?.split('\n## ')[0] ?? '';
    const fields = Object.keys(EVENT_SCHEMAS[type].shape).filter(
      (field) => field !== 'schemaVersion' && field !== 'hops',
    );
    expect(fields.filter((field) => !section.includes(`\`${field}\``))).toEqual([]);
  });
});

/** The commands of the command line, by the words that call them. */
async function commands(path: readonly string[] = []): Promise<string[]> {
  const { stdout } = await runHere([...path, '--help']);
  const listed = stdout.split('Commands:\n')[1]?.split('\n\n')[0] ?? '';
  const names = Array.from(listed.matchAll(/^ {2}([a-z]+)/gm), ([, name = '']) => name).filter(
    (name) => name !== 'help',
  );
  if (names.length === 0) return [path.join(' ')];
  return (await Promise.all(names.map((name) => commands([...path, name])))).flat();
}

async function optionsOf(command: string): Promise<string[]> {
  const { stdout } = await runHere([...command.split(' '), '--help']);
  return Array.from(stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm), ([, option = '']) => option).filter(
    (option) => option !== '--help',
  );
}

describe('the command line', async () => {
  const all = await commands();

  it('has every command in its table', () => {
    const named = tableRows(cliPage).flatMap((row) => (row.has('what it does') ? (row.get('command') ?? []) : []));
    expect(named.map((usage) => usage.replaceAll(/ [<[].*/g, '')).sort()).toEqual(all.sort());
  });

  it.each(all)('has every option of %s in its table', async (command) => {
    const named = tableRows(cliPage, 'Options').flatMap((row) =>
      row.get('command') === command ? (row.get('option')?.match(/--[a-z-]+/g) ?? []) : [],
    );
    expect(named.sort()).toEqual((await optionsOf(command)).sort());
  });

  it('knows the commands and options of every example', async () => {
    const text = readPages().flatMap((page) => codeBlocks(page).filter(({ language }) => language === 'sh'));
    const lines = text.flatMap((block) => block.text.split('\n')).filter((line) => line.startsWith('npx millrace '));
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      const words = line.replace('npx millrace ', '').split(' ');
      const command = all.find((each) => each === words[0] || each === `${words[0]} ${words[1]}`) ?? '';
      const known = await optionsOf(command);
      expect(line.match(/(?<= )--[a-z-]+/g)?.filter((option) => !known.includes(option)) ?? [], line).toEqual([]);
    }
  });
});

/** Codes in the sources of a folder, by what stands before them. */
function codesIn(folder: string, before: RegExp): string[] {
  const files = readdirSync(new URL(folder, PROJECT), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.[jt]s$/.test(file),
  );
  const sources = files.map((file) => readFileSync(new URL(`${folder}${file}`, PROJECT), 'utf8'));
  const code = new RegExp(`(?:${before.source})'?([A-Z][A-Z_]{4,})(?![a-z])`, 'g');
  return [...new Set(sources.flatMap((source) => Array.from(source.matchAll(code), ([, found = '']) => found)))];
}

describe('codes outside the API', () => {
  it('of the command line are all there', () => {
    const codes = [...codesIn('src/cli/', /CliError\(\s*|refused\(/), ...codesIn('bin/', /millrace: /)];
    expect(codes.length).toBeGreaterThan(8);
    const named = new Set(columnOf(cliPage, 'Codes', 'code'));
    expect(codes.filter((code) => !named.has(code))).toEqual([]);
  });

  it('of the host and the synthesis are all there', () => {
    const codes = [
      ...codesIn('src/local/', /Error\(\s*|readonly code = |super\(/),
      ...codesIn('infra/', /SynthesisError\(\s*/),
    ].filter((code) => !['NO_QUEUE'].includes(code));
    expect(codes.length).toBeGreaterThan(10);
    const named = new Set(columnOf(hostPage, 'Codes', 'code'));
    expect(codes.filter((code) => !named.has(code))).toEqual([]);
  });
});
