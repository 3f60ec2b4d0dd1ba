import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { definitionRevision, loadDefinition, type PipelineDefinition } from '#authoring/index.ts';
import { parseDefinition } from '#domain/definition-schema.ts';
import pipeline from '../../examples/typescript/pipeline.ts';
import { handler as work } from '../../examples/wfcommons/functions/work.ts';

const examples = new URL('../../examples/', import.meta.url);
const files = (await readdir(examples, { recursive: true })).filter((file) => file.endsWith('.yaml'));

describe('the examples', () => {
  it('are all there', () => {
    const folders = files.map((file) => file.split('/')[0]);
    expect(folders).toEqual(
      expect.arrayContaining([
        'branch',
        'expressions',
        'failure',
        'flight-delays',
        'map',
        'retry',
        'timeouts',
        'triggers',
        'when',
      ]),
    );
  });

  async function expectFunctions(file: string, { nodes }: PipelineDefinition) {
    const entries = await readdir(new URL('functions/', new URL(file, examples)));
    const functions = new Set(entries.map((entry) => entry.replace(/\.ts$/, '')));
    for (const { engine = 'lambda', params = {} } of nodes) {
      const { function: name } = params;
      if (engine === 'lambda') expect(functions).toContain(name);
    }
  }

  it.each(files)('%s is a valid pipeline whose functions are beside it', async (file) => {
    const result = parseDefinition(parse(await readFile(new URL(file, examples), 'utf8')));
    expect(result.ok ? [] : result.errors).toEqual([]);
    if (result.ok) await expectFunctions(file, result.definition);
  });

  it('typescript/pipeline.ts is the same revision as it would be in JSON', async () => {
    await expectFunctions('typescript/pipeline.ts', pipeline);
    const loaded = loadDefinition(JSON.stringify(pipeline), 'json');
    expect(loaded.ok && definitionRevision(loaded.definition)).toBe(definitionRevision(pipeline));
  });

  it('have a line each in the table of examples', async () => {
    const table = await readFile(new URL('README.md', examples), 'utf8');
    const folders = (await readdir(examples, { withFileTypes: true })).filter((entry) => entry.isDirectory());
    for (const { name } of folders) expect(table).toMatch(new RegExp(`^\\| \\[\`${name}\`\\]`, 'm'));
  });

  it('say in their first two lines what they show', async () => {
    for (const file of files) {
      const lines = (await readFile(new URL(file, examples), 'utf8')).split('\n');
      expect(lines.slice(0, 2)).toEqual([expect.stringMatching(/^# [A-Z]/i), expect.stringMatching(/^#/)]);
    }
  });
});

describe('work, the function behind imported workflows', () => {
  it('takes its time and names its task', async () => {
    expect(await work({ task: 'align_00000001', seconds: 0 })).toEqual({ task: 'align_00000001' });
  });

  it.each([
    ['longer than a Lambda function can run', { task: 'a', seconds: 901 }],
    ['a negative time', { task: 'a', seconds: -1 }],
    ['no task', { seconds: 1 }],
  ])('refuses %s', async (_, event) => {
    await expect(work(event)).rejects.toMatchObject({ name: 'ZodError' });
  });
});
