/** What is in the tarball, and what it needs. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CleanProject } from './clean-project.ts';

let project: CleanProject;
let root: string;
let files: string[];

beforeAll(async () => {
  project = await CleanProject.make();
  root = join(project.folder, 'node_modules/millrace');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
});

afterAll(() => project.remove());

const MEGABYTE = 1024 * 1024;

/** What a declaration imports: `from`, an import of a whole module, or one inside a type. */
const IMPORTED = /\bfrom ['"]([^'"\s]+)['"];?$|^import ['"]([^'"\s]+)['"];?$|\bimport\(['"]([^'"\s]+)['"]\)/gm;

/** `@scope/name/path` is of the package `@scope/name`. */
const packageOf = (specifier: string) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

const undeclared = (specifiers: Iterable<string>) => {
  const { dependencies, peerDependencies } = project.package;
  const declared = new Set(['millrace', ...Object.keys({ ...dependencies, ...peerDependencies })]);
  const bare = [...specifiers].filter((each) => !/^(?:[.#/]|node:)/.test(each) && !builtinModules.includes(each));
  return [...new Set(bare.map(packageOf))].filter((name) => !declared.has(name));
};

describe('the tarball', () => {
  it('is small', async () => {
    expect((await stat(inject('tarball'))).size).toBeLessThan(1.5 * MEGABYTE);
  });

  it('has nothing but what was built, the schemas, and what is to be read', () => {
    const tops = new Set(files.map((file) => file.split('/')[0]));
    expect([...tops].sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'cdk.json', 'dist', 'package.json', 'schemas'].sort(),
    );
    expect(files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([]);
    expect(files.filter((file) => /(?:^|\/)(?:test|bench|demo|examples)\/|\.(?:test|map)\b/.test(file))).toEqual([]);
  });

  it('has a declaration beside every module', () => {
    const modules = files.filter((file) => file.endsWith('.js') && !file.startsWith('dist/bin/'));
    expect(modules.length).toBeGreaterThan(200);
    expect(modules.filter((file) => !files.includes(file.replace(/\.js$/, '.d.ts')))).toEqual([]);
  });

  it('has what its package.json names', () => {
    const named = [project.package.bin.millrace, ...Object.values(project.package.exports)];
    expect(named.filter((path) => !files.includes(path.replace(/^\.\//, '')))).toEqual([]);
  });

  it('names no folder of the machine that packed it', async () => {
    const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
    expect(files.filter((_, at) => /\/(?:work|home|Users|tmp)\/\w+\//.test(texts[at] ?? ''))).toEqual([]);
  });

  it('is clean by publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: root, strict: true });
    // It holds that Node.js reads `imports` in the package.json of a package's root alone; Node.js reads those in the nearest one.
    const real = messages.filter(({ code }) => code !== 'NESTED_PACKAGE_JSON_FIELD_IGNORED');
    expect(real.map((message) => formatMessage(message, pkg ?? {}))).toEqual([]);
  });
});

describe('the client', () => {
  it('is bundled for browsers, without anything of Node.js', async () => {
    const { metafile } = await build({
      stdin: { contents: "export { createClient } from 'millrace/client';", resolveDir: project.folder },
      bundle: true,
      write: false,
      metafile: true,
      platform: 'browser',
      format: 'esm',
      logLevel: 'silent',
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.filter((input) => input.includes('/millrace/dist/src/client/')).length).toBeGreaterThan(5);
    expect(inputs.filter((input) => /^node:|\/dist\/src\/(?:adapters|local|cli|scheduler)\//.test(input))).toEqual([]);
  });
});

describe('what it needs', () => {
  it('is declared, of the code', async () => {
    const { metafile } = await build({
      entryPoints: files.filter((file) => file.endsWith('.js')).map((file) => join(root, file)),
      outdir: join(project.folder, 'not-written'),
      bundle: true,
      write: false,
      metafile: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
    });
    const imports = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
    const external = imports.filter((each) => each.external).map(({ path }) => path);
    expect(external.length).toBeGreaterThan(100);
    expect(undeclared(external)).toEqual([]);
  });

  it('is declared, of the types that users see', async () => {
    const seen = new Set<string>();
    const bare: string[] = [];
    const inner = JSON.parse(await readFile(join(root, 'dist/package.json'), 'utf8')).imports as Record<string, string>;
    const read = async (file: string) => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = await readFile(join(root, file), 'utf8');
      for (const [, from, whole, inline] of text.matchAll(IMPORTED)) {
        const target = from ?? whole ?? inline ?? '';
        if (target.startsWith('.')) await read(declarationOf(join(file, '..', target)));
        else if (target.startsWith('#')) await read(declarationOf(join('dist', aliased(target, inner))));
        else bare.push(target);
      }
    };
    for (const entry of Object.values(project.package.exports)) await read(declarationOf(entry));
    expect(seen.size).toBeGreaterThan(50);
    expect(undeclared(bare)).toEqual([]);
  });
});

function declarationOf(module: string): string {
  return join(module.replace(/\.[jt]s$/, '.d.ts'));
}

function aliased(specifier: string, imports: Readonly<Record<string, string>>): string {
  for (const [pattern, target] of Object.entries(imports)) {
    const [before = '', after = ''] = pattern.split('*');
    if (!specifier.startsWith(before) || !specifier.endsWith(after)) continue;
    return target.replace('*', specifier.slice(before.length, specifier.length - after.length));
  }
  throw new Error(`${specifier} is not among the imports of the package`);
}
