import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { CfnParameter } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { PipelineSource } from '../../infra/index.ts';
import { createApp, createStack, ECHO, folderOf, propertyOf, type Resource, resourcesOf } from './synthesize.ts';

const ETL = { name: 'etl', nodes: [{ id: 'only', engine: 'pass' }] } as const;

function pipelinesOf(template: Template): Resource[] {
  return [...resourcesOf(template, 'Custom::MillracePipeline').values()];
}

function refusal(source: PipelineSource): { code?: string; message: string } {
  try {
    createStack(createApp()).millrace.addPipeline(source);
    return { message: 'taken' };
  } catch (error) {
    return error as Error;
  }
}

describe('addPipeline', () => {
  it('puts the definition by a resource, after functions and engines, and keeps the pipeline when that goes', () => {
    const stack = createStack(createApp(), { functionsDirectory: folderOf({ 'one.ts': ECHO }) });
    const pipeline = stack.millrace.addPipeline(ETL);
    stack.millrace.addFunctionsFromDirectory(folderOf({ 'two.ts': ECHO }));
    stack.millrace.addStateMachineEngine('nightly', {
      stateMachineArn: 'arn:aws:states:eu-central-1:111122223333:stateMachine:nightly',
    });
    expect(pipeline.pipelineName).toBe('etl');
    const template = Template.fromStack(stack);
    const [made] = pipelinesOf(template);
    expect(propertyOf(made, 'Name')).toBe('etl');
    expect(propertyOf(made, 'OnRemoval')).toBe('keep');
    expect(propertyOf(made, 'ServiceTimeout')).toBe('300');
    expect(JSON.parse(String(propertyOf(made, 'Definition')))).toEqual(ETL);
    const needed = (made as unknown as { DependsOn: string[] }).DependsOn.join(' ');
    for (const id of ['UserFunctionsoneFunction', 'UserFunctionstwoFunction', 'Enginesnightly', 'Registrar']) {
      expect(needed, id).toContain(id);
    }
  });

  it('reads files, YAML and JSON alike, and deletes the pipeline where that is said', () => {
    const folder = folderOf({
      'etl.yaml': 'name: etl\nnodes:\n  - id: only\n    engine: pass\n',
      'more.json': JSON.stringify({ ...ETL, name: 'more' }),
    });
    const stack = createStack(createApp());
    stack.millrace.addPipeline(join(folder, 'etl.yaml'), { onRemoval: 'delete' });
    stack.millrace.addPipeline(join(folder, 'more.json'), { onRemoval: 'stopAndDelete' });
    const made = pipelinesOf(Template.fromStack(stack));
    expect(made.map((each) => [propertyOf(each, 'Name'), propertyOf(each, 'OnRemoval')])).toEqual([
      ['etl', 'delete'],
      ['more', 'stopAndDelete'],
    ]);
    expect(JSON.parse(String(propertyOf(made[0], 'Definition')))).toEqual(ETL);
  });

  it('may name what only the deployment knows', () => {
    const stack = createStack(createApp());
    const bucket = new CfnParameter(stack, 'Bucket').valueAsString;
    stack.millrace.addPipeline({ name: 'etl', nodes: [{ id: 'a', engine: 'pass', params: { output: { bucket } } }] });
    const [made] = pipelinesOf(Template.fromStack(stack));
    expect(JSON.stringify(propertyOf(made, 'Definition'))).toContain('{"Ref":"Bucket"}');
  });

  it('carries a large definition deflated, the same on every machine', () => {
    const nodes = Array.from({ length: 5_000 }, (_, at) => ({ id: `node-${at}`, engine: 'pass' }));
    const stack = createStack(createApp());
    stack.millrace.addPipeline({ name: 'etl', nodes });
    const [made] = pipelinesOf(Template.fromStack(stack));
    const text = String(propertyOf(made, 'DefinitionDeflated'));
    expect(text.length).toBeLessThan(60_000);
    expect(JSON.parse(inflateRawSync(Buffer.from(text, 'base64')).toString()).nodes).toHaveLength(5_000);
  });

  it('refuses what a deployment cannot carry', () => {
    const digest = (at: number) => createHash('sha256').update(`${at}`).digest('hex');
    const nodes = Array.from({ length: 10_000 }, (_, at) => ({ id: digest(at), engine: 'pass' }));
    expect(refusal({ name: 'etl', nodes })).toMatchObject({
      code: 'INVALID_DEFINITION',
      message: expect.stringMatching(/"etl" has \d+ bytes deflated; a deployment carries 200000. Put it over the API/),
    });
  });

  it('says everything that is wrong with a definition, by line in a file', () => {
    const file = join(folderOf({ 'bad.yaml': 'name: etl\nnodes:\n  - id: a\n    dependsOn: [b, c]\n' }), 'bad.yaml');
    const { code, message } = refusal(file);
    expect(code).toBe('INVALID_DEFINITION');
    expect(message.split('\n')[0]).toBe(`The definition is not valid: ${file}`);
    expect(message).toMatch(/4:17 nodes\[0\]\.dependsOn\[0\]: .*\[UNKNOWN_DEPENDENCY\]/);
    expect(message.match(/UNKNOWN_DEPENDENCY/g)).toHaveLength(2);
  });

  it.each<[string, () => PipelineSource, RegExp]>([
    ['no such file', () => 'no/such/file.yaml', /no\/such\/file\.yaml cannot be read: .*ENOENT/],
    ['another ending', () => join(folderOf({ 'a.toml': '' }), 'a.toml'), /is no \.yaml, \.yml or \.json file/],
    ['bytes', () => join(folderOf({ 'a.json': new Uint8Array([0xff, 0xfe]) }), 'a.json'), /it is not UTF-8 text/],
    ['no nodes', () => ({ name: 'etl', nodes: [] }), /pipeline "etl"\n {2}nodes: /],
    ['a name that is none', () => ({ ...ETL, name: 'a b' }), /name: /],
  ])('refuses %s', (_name, source, message) => {
    expect(refusal(source())).toMatchObject({ code: 'INVALID_DEFINITION', message: expect.stringMatching(message) });
  });

  it('refuses a pipeline the second time', () => {
    const { millrace } = createStack(createApp());
    millrace.addPipeline(ETL);
    expect(() => millrace.addPipeline(ETL)).toThrow('etl');
  });
});
