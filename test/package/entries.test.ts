/** What users import and call, from the tarball, with each Node.js that the package is for. */
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CleanProject, ended } from './clean-project.ts';
import { writeHello } from './hello.ts';

describe.each(inject('nodes'))('the package with %s', (_, node) => {
  let project: CleanProject;

  beforeAll(async () => {
    project = await CleanProject.make();
    await writeHello(project);
  });

  afterAll(() => project.remove());

  it('has a command line', async () => {
    const version = await project.run(node, 'millrace --version');
    expect(version).toEqual({ code: 0, stdout: `${project.package.version}\n`, stderr: '' });
    const valid = await project.run(node, 'millrace validate hello.yaml');
    expect(valid).toEqual({ code: 0, stdout: 'hello.yaml: valid: hello, 2 nodes, 1 edge\n', stderr: '' });
  });

  it('runs a pipeline on a host of its own', async () => {
    const { code, stdout, stderr } = await project.run(node, `millrace run hello.yaml --input '{"name":"Ada"}' --json`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ state: 'SUCCEEDED', output: 'HELLO, ADA!' });
  });

  it('has a client that calls a host', async () => {
    const host = project.start(node, 'millrace dev --port 0 --tick 500ms --functions functions --json');
    const over = ended(host);
    try {
      const { value } = await createInterface({ input: host.stdout as NodeJS.ReadableStream })
        [Symbol.asyncIterator]()
        .next();
      const { url } = JSON.parse(value ?? '') as { readonly url: string };
      const told = await project.evaluate(
        node,
        `import { readFile } from 'node:fs/promises';
        import { createClient, isProblem } from 'millrace/client';
        const client = createClient({ url: ${JSON.stringify(url)} });
        await client.pipelines.put('hello', await readFile('hello.yaml', 'utf8'));
        const { id } = await client.runs.start('hello', { input: { name: 'Ada' } });
        const { state } = await client.runs.untilOver(id);
        const gone = await client.runs.get('a'.repeat(26)).catch((error) => isProblem(error, 'RUN_NOT_FOUND'));
        console.log(JSON.stringify({ state, output: await client.runs.output(id), gone }));`,
      );
      expect(told).toEqual({ state: 'SUCCEEDED', output: 'HELLO, ADA!', gone: true });
    } finally {
      host.kill('SIGTERM');
      await over;
    }
  });

  it('defines pipelines, and signs requests', async () => {
    const told = await project.evaluate(
      node,
      `import { definePipeline } from 'millrace';
      import { signWithAws } from 'millrace/client/sigv4';
      const { name } = definePipeline({ name: 'etl', nodes: [{ id: 'a', params: { function: 'f' } }] });
      let code;
      try { definePipeline({ name: 'etl', nodes: [] }); } catch ({ errors }) { code = errors[0].code; }
      console.log(JSON.stringify({ name, code, sign: typeof signWithAws() }));`,
    );
    expect(told).toEqual({ name: 'etl', code: 'EMPTY_PIPELINE', sign: 'function' });
  });

  it('wraps functions', async () => {
    const told = await project.evaluate(
      node,
      `import { defineFunction } from 'millrace/function';
      class BadInput extends Error {}
      const handler = defineFunction(({ n }) => { if (n < 0) throw new BadInput('less than nothing'); return n + 1; });
      const { name } = await handler({ n: -1 }).catch((error) => error);
      console.log(JSON.stringify({ output: await handler({ n: 1 }), name }));`,
    );
    expect(told).toEqual({ output: 2, name: 'BadInput' });
  });

  it('tests pipelines', async () => {
    const told = await project.evaluate(
      node,
      `import { fails, testPipeline } from 'millrace/testing';
      const pipeline = new URL('hello.yaml', import.meta.url);
      const greet = ({ name }) => 'Hello, ' + name;
      const { state, output } = await testPipeline(pipeline, { input: { name: 'Ada' }, functions: { greet, shout: 'HEY' } });
      const { error } = await testPipeline(pipeline, { input: { name: 'Ada' }, functions: { greet, shout: fails('Hoarse') } });
      console.log(JSON.stringify({ state, output, name: error.name }));`,
    );
    expect(told).toEqual({ state: 'SUCCEEDED', output: 'HEY', name: 'Hoarse' });
  });

  it('synthesizes a CDK app', async () => {
    const told = await project.evaluate(
      node,
      `import { App, Stack } from 'aws-cdk-lib';
      import { Template } from 'aws-cdk-lib/assertions';
      import { Millrace } from 'millrace/cdk';
      const stack = new Stack(new App(), 'Shop');
      const millrace = new Millrace(stack, 'Millrace', { installation: 'shop', functionsDirectory: 'functions' });
      millrace.addPipeline('hello.yaml');
      const resources = Object.values(Template.fromStack(stack).toJSON().Resources);
      const functions = resources.filter(({ Type }) => Type === 'AWS::Lambda::Function');
      console.log(JSON.stringify(functions.map(({ Properties }) => Properties.FunctionName)));`,
    );
    expect(told).toEqual(expect.arrayContaining(['shop-api', 'shop-scheduler', 'greet', 'shout']));
  });
});
