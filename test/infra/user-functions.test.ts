import { cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { bundleFunctions } from '../../infra/constructs/bundle.ts';
import { SynthesisError } from '../../infra/constructs/synthesis-error.ts';
import { createApp, createStack, ECHO, folderOf, propertyOf, resourcesOf } from './synthesize.ts';

describe('UserFunctions', () => {
  it('makes a function of each file and each folder with an index that exports a handler', () => {
    const files = {
      'fetch.ts': ECHO,
      'report/index.ts': "import { title } from './title.ts';\nexport const handler = async () => title;\n",
      'report/title.ts': "export const title = 'Flights';\n",
      'shared.ts': 'export const months = 12;\n',
      'fetch.test.ts': 'throw new Error("tests are not built");\n',
      'types.d.ts': 'export declare const handler: unknown;\n',
      '.hidden.ts': ECHO,
      'notes.txt': 'not code',
      'empty/readme.md': 'no index here',
    };
    expect(functionNames(files)).toEqual(['fetch', 'report']);
  });

  it('gives the same code wherever the directory lies', () => {
    const here = folderOf({ 'fetch.ts': ECHO });
    const there = join(folderOf({}), 'a', 'b', 'c');
    cpSync(here, there, { recursive: true });
    expect(assetsOf(there)).toEqual(assetsOf(here));
  });

  it('gives functions anywhere the helper library, and the S3 client in a file that loads when it is needed', () => {
    const source =
      "import { defineFunction } from 'millrace/function';\nexport const handler = defineFunction(() => 1);\n";
    const app = createApp();
    createStack(app, { functionsDirectory: folderOf({ 'wrapped.ts': source, 'plain.ts': ECHO }) });
    const assets = readdirSync(app.outdir).filter((name) => name.startsWith('asset.'));
    const sizes = assets.map((asset) =>
      Object.fromEntries(
        readdirSync(join(app.outdir, asset))
          .filter((file) => file.endsWith('.mjs'))
          .map((file) => [file, statSync(join(app.outdir, asset, file)).size]),
      ),
    );
    const wrapped = sizes.filter((files) => files['s3-payload-store.mjs'] !== undefined);
    expect(wrapped).toHaveLength(1);
    expect(wrapped[0]?.['index.mjs']).toBeLessThan(100_000);
    expect(wrapped[0]?.['s3-payload-store.mjs']).toBeGreaterThan(500_000);
  });

  it('leaves nothing but assets in the assembly', () => {
    const app = createApp();
    createStack(app, { functionsDirectory: folderOf({ 'fetch.ts': ECHO }) });
    expect(readdirSync(app.outdir).filter((name) => name.startsWith('bundle-'))).toEqual([]);
  });

  it.each<[string, SynthesisError['code'], RegExp, Record<string, string>]>([
    ['an empty directory', 'NO_FUNCTIONS', /exports "handler"/, {}],
    [
      'a directory without handlers',
      'NO_FUNCTIONS',
      /exports "handler"/,
      { 'shared.ts': 'export const months = 12;\n' },
    ],
    [
      'a name with both a file and a folder',
      'DUPLICATE_FUNCTION_NAME',
      /"fetch" is there twice: .*fetch\.ts and .*fetch.index\.ts|"fetch" is there twice: .*fetch.index\.ts and .*fetch\.ts/,
      { 'fetch.ts': ECHO, 'fetch/index.ts': ECHO },
    ],
    ['a name with a dot', 'INVALID_FUNCTION_NAME', /"fetch\.flights" .* A-Z a-z 0-9 - _/, { 'fetch.flights.ts': ECHO }],
    ['a name that is too long', 'INVALID_FUNCTION_NAME', /1 to 64/, { [`${'a'.repeat(65)}.ts`]: ECHO }],
    ['a name of ours', 'RESERVED_FUNCTION_NAME', /"millrace-api"/, { 'millrace-api.ts': ECHO }],
    [
      'a file that does not build',
      'FUNCTION_BUILD_FAILED',
      /fetch\.ts:2:/,
      { 'fetch.ts': '\nexport const handler = async ( => 1;\n' },
    ],
    [
      'an import that is not there',
      'FUNCTION_BUILD_FAILED',
      /no-such-package/,
      { 'fetch.ts': `import 'no-such-package';\n${ECHO}` },
    ],
  ])('refuses %s', (_, code, message, files) => {
    const error = errorOf(() => functionNames(files));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  it('refuses a directory that is not there', () => {
    const error = errorOf(() => createStack(createApp(), { functionsDirectory: join(folderOf({}), 'absent') }));
    expect(error.code).toBe('FUNCTIONS_NOT_FOUND');
    expect(error.message).toContain('absent');
  });
});

describe('bundleFunctions', () => {
  it('bundles dependencies that call require, next to sources that declare their own', async () => {
    const folder = folderOf({
      'node_modules/old/package.json': '{"name":"old","main":"index.js"}',
      'node_modules/old/index.js': "module.exports = require('node:path').basename('/a/b');\n",
      'fetch.ts': [
        "import { createRequire } from 'node:module';",
        "import old from 'old';",
        'const require = createRequire(import.meta.url);',
        "export const handler = async () => [old, require('node:path').sep];",
      ].join('\n'),
    });
    const handler = await loadHandler(folder, 'fetch');
    expect(await handler({})).toEqual(['b', '/']);
  });

  it('puts the same companions beside each function', () => {
    const folder = folderOf({ 'one.ts': ECHO, 'two.ts': ECHO, 'worker.ts': 'console.log(1);\n' });
    const entry = (name: string) => ({ name, file: join(folder, `${name}.ts`) });
    const bundles = bundleFunctions([entry('one'), entry('two')], {
      root: folder,
      minify: true,
      companions: [entry('worker')],
    });
    const files = [...bundles].map(([name, bundle]) => [name, [...bundle.files.keys()].sort()]);
    expect(files).toEqual([
      ['one', ['index.mjs', 'one.mjs.map', 'worker.mjs', 'worker.mjs.map']],
      ['two', ['index.mjs', 'two.mjs.map', 'worker.mjs', 'worker.mjs.map']],
    ]);
    expect(textOf(bundles.get('two')?.files.get('worker.mjs'))).toContain('console.log(1)');
  });

  it('puts a companion that is imported just beside the functions that import it, and loads it when they ask', async () => {
    const folder = folderOf({
      'heavy.ts': 'export const loaded = [(globalThis as { heavy?: number }).heavy = 1];\n',
      'one.ts': "export const handler = async (event: unknown) => (event ? (await import('#heavy')).loaded : []);\n",
      'two.ts': ECHO,
    });
    const entry = (name: string) => ({ name, file: join(folder, `${name}.ts`) });
    const bundles = bundleFunctions([entry('one'), entry('two')], {
      root: folder,
      minify: true,
      companions: [{ ...entry('heavy'), importedAs: '#heavy' }],
    });
    const files = [...bundles].map(([name, bundle]) => [name, [...bundle.files.keys()].sort()]);
    expect(files).toEqual([
      ['one', ['heavy.mjs', 'heavy.mjs.map', 'index.mjs', 'one.mjs.map']],
      ['two', ['index.mjs', 'two.mjs.map']],
    ]);
    const code = [...(bundles.get('one')?.files ?? [])].filter(([name]) => name.endsWith('.mjs'));
    const out = folderOf(Object.fromEntries(code.map(([name, bytes]) => [name, withoutMap(textOf(bytes))])));
    const { handler } = (await import(pathToFileURL(join(out, 'index.mjs')).href)) as { handler: Handler };
    expect(await handler(undefined)).toEqual([]);
    expect(globalThis).not.toHaveProperty('heavy');
    expect(await handler({})).toEqual([1]);
  });

  it('keeps the names of error classes in minified code', async () => {
    const folder = folderOf({
      'fetch.ts':
        'class SourceGone extends Error {}\nexport const handler = async () => new SourceGone().constructor.name;\n',
    });
    const handler = await loadHandler(folder, 'fetch');
    expect(await handler({})).toBe('SourceGone');
  });

  it('names files from the root on in the trace of an error', async () => {
    const folder = folderOf({ 'fetch/index.ts': ECHO });
    const bundle = bundleFunctions([{ name: 'fetch', file: join(folder, 'fetch/index.ts') }], {
      root: folder,
      minify: true,
    });
    const files = bundle.get('fetch')?.files ?? new Map<string, Uint8Array>();
    const [, mapFile = ''] = /sourceMappingURL=(.*)\n$/.exec(textOf(files.get('index.mjs'))) ?? [];
    expect(JSON.parse(textOf(files.get(mapFile)))).toMatchObject({ sources: ['fetch/index.ts'] });
  });
});

type Handler = (event: unknown) => Promise<unknown>;

async function loadHandler(folder: string, name: string): Promise<Handler> {
  const bundle = bundleFunctions([{ name, file: join(folder, `${name}.ts`) }], { root: folder, minify: true }).get(
    name,
  );
  // Without its source map, which names files that are not there.
  const out = folderOf({
    'index.mjs': withoutMap(textOf(bundle?.files.get('index.mjs'))),
  });
  const module = (await import(pathToFileURL(join(out, 'index.mjs')).href)) as { handler: Handler };
  return module.handler;
}

function withoutMap(code: string): string {
  return code.replace(/\n\/\/# sourceMappingURL=.*/, '');
}

function functionNames(files: Record<string, string>): string[] {
  return [...createStack(createApp(), { functionsDirectory: folderOf(files) }).millrace.functions.keys()];
}

/** The code of the team's functions, by what it contains. */
function assetsOf(directory: string): unknown[] {
  const template = Template.fromStack(createStack(createApp(), { functionsDirectory: directory }));
  return [...resourcesOf(template, 'AWS::Lambda::Function').values()]
    .filter((each) => !String(propertyOf(each, 'FunctionName')).startsWith('millrace-'))
    .map((each) => propertyOf(each, 'Code', 'S3Key'));
}

function errorOf(act: () => unknown): SynthesisError {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(SynthesisError);
    return error as SynthesisError;
  }
  throw new Error('nothing was refused');
}

function textOf(contents: Uint8Array | undefined): string {
  return Buffer.from(contents ?? []).toString();
}
