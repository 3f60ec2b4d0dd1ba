import type { ProjectNames } from './project-names.ts';

/** The files of a new project that say what runs: its pipeline, two functions and their test. */
export function pipelineFiles({ installation }: ProjectNames): readonly (readonly [path: string, text: string])[] {
  return [
    ['pipeline.yaml', pipeline(installation)],
    [`functions/${installation}-greet.ts`, GREET],
    [`functions/${installation}-shout.ts`, SHOUT],
    ['test/pipeline.test.ts', test(installation)],
  ];
}

const pipeline = (
  installation: string,
) => `# Each node calls a function of functions/. Check this file: npx millrace validate pipeline.yaml
name: hello
nodes:
  - id: greet
    params:
      function: ${installation}-greet
      payload: { name: '{% $run.input.name ?? "world" %}' }
  - id: shout
    dependsOn: [greet]
    params:
      function: ${installation}-shout
      payload: { text: "{% $nodes.greet.output %}" }
    retry: { maxAttempts: 3 }
    timeoutSeconds: 30
output: "{% $nodes.shout.output %}"
`;

const GREET = `/** What the node says in its payload comes in; what is returned is the node's output. */
export async function handler({ name }: { readonly name: string }): Promise<string> {
  return \`Hello, \${name}\`;
}
`;

const SHOUT = `export async function handler({ text }: { readonly text: string }): Promise<string> {
  return \`\${text.toUpperCase()}!\`;
}
`;

const test = (installation: string) => `import { type StubContext, testPipeline } from 'millrace/testing';
import 'millrace/testing/vitest';
import { expect, it } from 'vitest';
import { handler as greet } from '../functions/${installation}-greet.ts';
import { handler as shout } from '../functions/${installation}-shout.ts';

const pipeline = new URL('../pipeline.yaml', import.meta.url);
const functions = { '${installation}-greet': greet, '${installation}-shout': shout };

it('shouts a greeting', async () => {
  const outcome = await testPipeline(pipeline, { input: { name: 'Ada' }, functions });
  expect(outcome).toHaveSucceeded();
  expect(outcome.output).toBe('HELLO, ADA!');
});

it('shouts again after it was hoarse', async () => {
  const hoarse = (payload: { readonly text: string }, { attempt }: StubContext) => {
    if (attempt < 3) throw new Error('hoarse');
    return shout(payload);
  };
  const outcome = await testPipeline(pipeline, { functions: { ...functions, '${installation}-shout': hoarse } });
  expect(outcome).toHaveSucceeded();
  expect(outcome).toHaveStarted('shout', 3);
});

it('comes to the same whatever crashes', async () => {
  const outcome = await testPipeline(pipeline, { functions, faults: 'all' });
  expect(outcome.output).toBe('HELLO, WORLD!');
});
`;
