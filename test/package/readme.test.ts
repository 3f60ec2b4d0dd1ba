/** Every command of the README is run by a test. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import ownPackage from '../../package.json' with { type: 'json' };
import { codeBlocks, readPage } from '../unit/docs-pages.ts';
import { CHECKOUT } from './tarball.ts';

const blocks = codeBlocks(readPage('README.md')).filter(({ language }) => language === 'sh');
const commands = blocks.flatMap(({ text }) =>
  text.split('\n').flatMap((line) =>
    line
      .replace(/ +# .*$/, '')
      .split(' && ')
      .map((command) => command.trim())
      .filter((command) => command !== ''),
  ),
);

/** Where each is run: a file, and what stands there for it. */
const RUN_BY: ReadonlyMap<string, readonly [file: string, text: string]> = new Map([
  ['mkdir hello', ['test/package/clean-project.ts', 'mkdtemp(']],
  ['cd hello', ['test/package/clean-project.ts', 'cwd: this.folder']],
  [`npm install ../millrace-${ownPackage.version}.tgz`, ['test/package/clean-project.ts', "inject('tarball')"]],
  ['npx millrace init .', ['test/package/init.test.ts', 'millrace init .']],
  ['npm install', ['test/package/clean-project.ts', 'symlink(']],
  [
    `npx millrace run pipeline.yaml --input '{"name":"Ada"}'`,
    ['test/package/init.test.ts', `npx --no-install millrace run pipeline.yaml --input '{"name":"Ada"}'`],
  ],
  [
    `npx millrace run hello.yaml --input '{"name":"Ada"}'`,
    ['test/package/entries.test.ts', `millrace run hello.yaml --input '{"name":"Ada"}'`],
  ],
  // In the project of `init` first, then in the checkout.
  ['npm test', ['test/package/init.test.ts', "run('npm test')"]],
  ['npm ci', ['.ci/run', 'npm ci ']],
  ['npm run demo', ['test/integration/demo.test.ts', 'demo']],
  [
    'npx millrace run examples/retry/pipeline.yaml',
    ['test/integration/examples.test.ts', "file: 'retry/pipeline.yaml'"],
  ],
  ['npm pack', ['test/package/tarball.ts', "'pack'"]],
  ['npm run verify', ['.ci/run', 'npm run checks']],
  ['npm run test:package', ['.ci/run', 'tests test:package']],
  ['npm run test:deploy', ['.ci/run', 'tests test:deploy']],
  ['npm run simulate -- --runs 10000', ['test/simulation/random.sim.test.ts', '']],
  ['npm run mutations', ['test/mutations/mutations.ts', '']],
  ['npm run bench', ['bench/run.ts', '']],
]);

describe('commands of the README', () => {
  it('are all in the table, and no others are', () => {
    expect([...new Set(commands)].sort()).toEqual([...RUN_BY.keys()].sort());
  });

  it.each([...RUN_BY])('%s is run', (_, [file, text]) => {
    expect(readFileSync(join(CHECKOUT, file), 'utf8')).toContain(text);
  });

  it('call scripts that there are', () => {
    const scripts = commands.flatMap((command) => /^npm run (\S+)/.exec(command)?.[1] ?? []);
    expect(scripts.length).toBeGreaterThan(4);
    expect(scripts.filter((script) => !Object.hasOwn(ownPackage.scripts, script))).toEqual([]);
    const files = Object.values(ownPackage.scripts).flatMap((script) => script.match(/(?<=\bnode )\S+/g) ?? []);
    expect(files.filter((file) => !existsSync(join(CHECKOUT, file)))).toEqual([]);
  });
});
