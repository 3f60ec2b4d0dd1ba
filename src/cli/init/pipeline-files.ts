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

const test = (installation: string) => `import { testPipeline } from 'millrace/testing';
import { expect, it } from 'vitest';
import { handler as greet } from '../functions/${installation}-greet.ts';
import { handler as shout } from '../functions/${installation}-shout.ts';

const pipeline = new URL('../pipeline.yaml', import.meta.url);

it('shouts a greeting', async () => {
  const functions = { '${installation}-greet': greet, '${installation}-shout': shout };
  const outcome = await testPipeline(pipeline, { input: { name: 'Ada' }, functions });
  expect(outcome).toMatchObject({ state: 'SUCCEEDED', output: 'HELLO, ADA!' });
});

it('tries a shout again that failed', async () => {
  let calls = 0;
  const hoarse = async (payload: { readonly text: string }) => {
    calls += 1;
    if (calls < 3) throw new Error('hoarse');
    return shout(payload);
  };
  const functions = { '${installation}-greet': greet, '${installation}-shout': hoarse };
  const outcome = await testPipeline(pipeline, { functions });
  expect(outcome).toMatchObject({ state: 'SUCCEEDED', output: 'HELLO, WORLD!' });
  expect(calls).toBe(3);
});
`;
