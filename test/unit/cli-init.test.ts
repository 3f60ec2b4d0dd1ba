import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import ownPackage from '../../package.json' with { type: 'json' };
import { millraceDependency } from '../../src/cli/init/millrace-dependency.ts';
import { DEV_DEPENDENCIES } from '../../src/cli/init/package-file.ts';
import { projectNames } from '../../src/cli/init/project-names.ts';
import { runHere } from './cli-capture.ts';
import { codeBlocks, readPage } from './docs-pages.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-init-'));
});

afterEach(() => rm(folder, { recursive: true }));

const init = (...words: string[]) => runHere(['init', ...words], { cwd: folder });
const read = (path: string) => readFile(join(folder, path), 'utf8');

describe('millrace init', () => {
  it('writes the project and says the next three commands', async () => {
    const { code, stdout, stderr } = await init('orders');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [files = '', next] = stdout.split('\n\nNext:\n');
    expect(files.split('\n')).toContain('orders/functions/orders-greet.ts');
    for (const file of files.split('\n')) expect(existsSync(join(folder, file)), file).toBe(true);
    expect(next).toBe('  cd orders && npm install\n  npx millrace run pipeline.yaml\n  npm test');
  });

  it('tells programs the same as JSON', async () => {
    const made = JSON.parse((await init('orders', '--json')).stdout);
    expect(made).toMatchObject({
      dir: join(folder, 'orders'),
      name: 'orders',
      millrace: expect.stringMatching(/^file:/),
    });
    expect(made.files).toContain('.gitignore');
    expect(made.next).toHaveLength(3);
  });

  it('writes a pipeline that is valid and calls the functions beside it', async () => {
    await init('orders');
    expect(await runHere(['validate', 'orders/pipeline.yaml'], { cwd: folder })).toMatchObject({ code: 0 });
    const called = [...(await read('orders/pipeline.yaml')).matchAll(/function: (\S+)/g)].map(([, name]) => name);
    expect(called).toEqual(['orders-greet', 'orders-shout']);
    for (const name of called) expect(existsSync(join(folder, `orders/functions/${name}.ts`))).toBe(true);
  });

  it('writes what the guide shows', async () => {
    await init('hello');
    const blocks = codeBlocks(readPage('docs/guide/first-pipeline.md'));
    const shown = new Map(blocks.map(({ language, text }) => [language, text.replace(/^\/\/ .*\n/, '')]));
    expect(await read('hello/pipeline.yaml')).toBe(shown.get('yaml'));
    expect(await read('hello/functions/hello-greet.ts')).toBe(shown.get('ts'));
  });

  it('goes into a folder that has other files', async () => {
    await writeFile(join(folder, 'notes.txt'), 'mine');
    expect(await init('.')).toMatchObject({ code: 0, stdout: expect.stringContaining('\n  npm install\n') });
    expect(await read('notes.txt')).toBe('mine');
  });

  it('writes nothing where a file of a name is there, until --force', async () => {
    await mkdir(join(folder, 'orders'));
    await writeFile(join(folder, 'orders/package.json'), '{"name":"mine"}');
    const refused = await init('orders');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^millrace: FILES_EXIST: orders has package\.json already; [^\n]*--force[^\n]*$/);
    expect(existsSync(join(folder, 'orders/pipeline.yaml'))).toBe(false);
    expect(await init('orders', '--force')).toMatchObject({ code: 0 });
    expect(JSON.parse(await read('orders/package.json'))).toMatchObject({ name: 'orders' });
  });

  it('completes what npm wrote into an empty folder', async () => {
    const dependencies = { millrace: 'file:../millrace-1.2.3.tgz', zod: '^4.0.0' };
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ dependencies, devDependencies: { vitest: '4.0.0' } }),
    );
    expect(await init('.')).toMatchObject({ code: 0 });
    const written = JSON.parse(await read('package.json'));
    expect(written).toMatchObject({ dependencies, devDependencies: { vitest: '4.0.0' }, type: 'module' });
    expect(Object.keys(written.devDependencies)).toEqual(Object.keys(DEV_DEPENDENCIES).sort());
  });

  it('says in one line what is in the way', async () => {
    await writeFile(join(folder, 'orders'), '');
    const { code, stderr } = await init('orders');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^millrace: (EEXIST|ENOTDIR): [^\n]+$/);
  });
});

describe('names of a project', () => {
  it.each([
    ['/x/orders', 'orders', 'orders'],
    ['/x/My Orders_2', 'my-orders-2', 'myorders2'],
    ['/x/2026-report', 'report', 'report'],
    ['/x/a-very-long-name-of-a-folder', 'a-very-long-name-of-a-folder', 'averylongnameofafold'],
    ['/x/millrace', 'millrace-project', 'millrace'],
    ['/x/vitest', 'vitest-project', 'vitest'],
    ['/x/日本', 'pipelines', 'pipelines'],
    ['/', 'pipelines', 'pipelines'],
  ])('%s', (path, project, installation) => {
    expect(projectNames(path)).toEqual({ project, installation });
  });
});

describe('what a project says of Millrace', () => {
  const installed = async (resolved?: string) => {
    const root = join(folder, 'app/node_modules/millrace');
    await mkdir(join(root, 'dist/src/cli/init'), { recursive: true });
    await writeFile(join(root, 'package.json'), '{"name":"millrace","version":"1.2.3","bin":{}}');
    await writeFile(join(root, 'dist/package.json'), '{"name":"millrace","version":"1.2.3"}');
    if (resolved !== undefined) {
      const lock = { packages: { 'node_modules/millrace': { version: '1.2.3', resolved } } };
      await writeFile(join(folder, 'app/node_modules/.package-lock.json'), JSON.stringify(lock));
    }
    return millraceDependency(join(folder, 'new'), join(root, 'dist/src/cli/init'));
  };

  it.each([
    ['a tarball', 'file:../millrace-1.2.3.tgz', 'file:../millrace-1.2.3.tgz'],
    ['a registry', 'https://registry.npmjs.org/millrace/-/millrace-1.2.3.tgz', '^1.2.3'],
    ['an address', 'https://example.com/millrace.tgz', 'https://example.com/millrace.tgz'],
    ['a package manager that leaves no notes', undefined, '^1.2.3'],
  ])('%s', async (_, resolved, expected) => {
    expect(await installed(resolved)).toBe(expected);
  });

  it('a checkout', async () => {
    const root = join(folder, 'checkout');
    await mkdir(join(root, 'src/cli'), { recursive: true });
    await writeFile(join(root, 'package.json'), '{"name":"millrace","version":"1.2.3","bin":{}}');
    expect(await millraceDependency(join(folder, 'new'), join(root, 'src/cli'))).toBe('file:../checkout');
  });

  it('asks for what Millrace itself is tested with', () => {
    const tested = new Map(Object.entries(ownPackage.devDependencies));
    for (const [name, range] of Object.entries(DEV_DEPENDENCIES)) expect(range, name).toBe(`^${tested.get(name)}`);
  });
});
