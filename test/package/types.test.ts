/** The types of the package, as compilers of users find them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CleanProject } from './clean-project.ts';

let project: CleanProject;

/** One use of each entry, and one misuse that must not compile. */
const USES = new Map([
  [
    'millrace',
    `import { definePipeline, type PipelineDefinition } from 'millrace';
export const pipeline: PipelineDefinition = definePipeline({ name: 'a', nodes: [{ id: 'b', params: { function: 'c' } }] });
// @ts-expect-error no node has this id
definePipeline({ name: 'a', nodes: [{ id: 'b', dependsOn: ['c'], params: {} }] });`,
  ],
  [
    'millrace/function',
    `import { defineFunction, type FunctionHandler, reportProgress } from 'millrace/function';
export const handler: FunctionHandler = defineFunction(async (payload: { n: number }, context) => {
  const taken: boolean = await reportProgress(context, 0.5, 'half of it');
  return { n: payload.n, attempt: context.attempt, taken };
});
// @ts-expect-error progress is a number
export const wrong = defineFunction((_, context) => reportProgress(context, 'half'));`,
  ],
  [
    'millrace/client',
    `import { createClient, isProblem, type MillraceClient } from 'millrace/client';
export const client: MillraceClient = createClient({ url: 'http://127.0.0.1:8787' });
export const state: Promise<'QUEUED' | 'RUNNING' | 'PAUSED' | string> = client.runs.get('r').then((run) => run.state);
export const gone = (error: unknown) => isProblem(error, 'RUN_NOT_FOUND');
// @ts-expect-error an address is needed
createClient({});`,
  ],
  [
    'millrace/client/sigv4',
    `import { createClient } from 'millrace/client';
import { signWithAws } from 'millrace/client/sigv4';
export const signed = createClient({ url: 'https://example.com', sign: signWithAws({ region: 'eu-central-1' }) });`,
  ],
  [
    'millrace/cdk',
    `import { App, Stack } from 'aws-cdk-lib';
import { Millrace, type MillraceProps } from 'millrace/cdk';
const props: MillraceProps = { installation: 'shop' };
export const url: string = new Millrace(new Stack(new App(), 'S'), 'Millrace', props).url;
// @ts-expect-error the name of an installation is a text
export const wrong: MillraceProps = { installation: 1 };`,
  ],
  [
    'millrace/testing',
    `import { hang, later, type Outcome, testPipeline } from 'millrace/testing';
const functions = { greet: ({ name }: { name: string }) => name, slow: later(1000, 'late'), never: hang() };
export const outcome: Promise<Outcome> = testPipeline('name: a', { functions, faults: 'all' });
// @ts-expect-error there is no such kind of faults
testPipeline('name: a', { faults: 'some' });`,
  ],
  [
    'millrace/testing/vitest',
    `import 'millrace/testing/vitest';
import type { Outcome } from 'millrace/testing';
import { expect } from 'vitest';
export const check = (outcome: Outcome) => expect(outcome).toHaveSucceeded();
// @ts-expect-error there is no such state
export const wrong = (outcome: Outcome) => expect(outcome).toHaveNodeStates({ a: 'DONE' });`,
  ],
]);

beforeAll(async () => {
  project = await CleanProject.make();
  await project.write('package.json', '{"type":"module"}');
  for (const [entry, text] of USES) await project.write(`${entry.replaceAll('/', '-')}.ts`, text);
});

afterAll(() => project.remove());

describe('types', () => {
  it('are tried of every entry', () => {
    const entries = Object.keys(project.package.exports).map((key) => key.replace(/^\./, 'millrace'));
    expect([...USES.keys()].sort()).toEqual(entries.sort());
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('are found with module %s and moduleResolution %s', async (module, moduleResolution) => {
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2024',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
    };
    const files = [...USES.keys()].map((entry) => `${entry.replaceAll('/', '-')}.ts`);
    const config = { compilerOptions: { ...compilerOptions, types: ['node'] }, files };
    await project.write(`tsconfig.${moduleResolution}.json`, JSON.stringify(config));
    const ended = await project.run(process.execPath, `tsc --project tsconfig.${moduleResolution}.json`);
    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
