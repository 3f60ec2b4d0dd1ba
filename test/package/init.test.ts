/** What `millrace init` of the package writes is a project that works. */

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CleanProject } from './clean-project.ts';

let project: CleanProject;

beforeAll(async () => {
  project = await CleanProject.make();
  await project.write('package.json', JSON.stringify({ dependencies: { millrace: `file:${inject('tarball')}` } }));
  const made = await project.run(process.execPath, 'millrace init . --json');
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(made.stdout).millrace).toMatch(/^file:.*\.tgz$/);
});

afterAll(() => project.remove());

const run = (command: string) => project.run(process.execPath, command);

describe('a project that init wrote', () => {
  it('runs its pipeline', async () => {
    const { code, stdout, stderr } = await run(`npx --no-install millrace run pipeline.yaml --input '{"name":"Ada"}'`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('"HELLO, ADA!"');
  });

  it('passes its own test', async () => {
    const { code, stdout, stderr } = await run('npm test');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Tests +3 passed/);
  });

  it('compiles', async () => {
    expect(await run('npm run --silent types')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('synthesizes with the CDK command line', async () => {
    const { code, stderr } = await run('npm run --silent synth');
    expect(code, stderr).toBe(0);
    const { FunctionName } = (await project.evaluate(
      process.execPath,
      `import { readdirSync, readFileSync } from 'node:fs';
      const file = readdirSync('cdk.out').find((each) => each.endsWith('.template.json'));
      const { Resources } = JSON.parse(readFileSync('cdk.out/' + file, 'utf8'));
      console.log(JSON.stringify({ FunctionName: Object.values(Resources).flatMap(({ Properties }) => Properties?.FunctionName ?? []) }));`,
    )) as { readonly FunctionName: readonly unknown[] };
    const installation = FunctionName.find((name) => typeof name === 'string' && name.endsWith('-scheduler'));
    const name = String(installation).replace(/-scheduler$/, '');
    expect(FunctionName).toEqual(expect.arrayContaining([`${name}-greet`, `${name}-shout`]));
  });
});
