import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importWfCommons, loadDefinition } from '#authoring/index.ts';
import { runHere } from './cli-capture.ts';

const diamond = join(import.meta.dirname, '../fixtures/wfformat/diamond.json');
const authoring = join(import.meta.dirname, '../../src/authoring/index.ts');

const files = {
  'ok.yaml':
    'name: ok\nnodes:\n  - id: a\n    params: { function: f }\n  - id: b\n    dependsOn: [a]\n    params: { function: f }\n',
  'bad.yaml':
    'name: bad\nnodes:\n  - id: a\n    param: {}\n  - id: b\n    dependsOn: [extrac]\n    retry: { maxAttempts: 0 }\n    engine: task\n',
  'bad.json': '{"name": "x",}',
  'ok.ts': `import { definePipeline } from ${JSON.stringify(authoring)};\nexport default definePipeline({ name: 'typed', nodes: [{ id: 'a', params: { function: 'f' } }] });\n`,
  'bad.ts': "export default { name: 'typed', nodes: [{ id: 'a', engine: 'task', paramz: {} }] };\n",
  'empty.ts': 'export const pipeline = {};\n',
  'broken.ts': "throw new Error('no such luck');\n",
  'notes.txt': 'name: x\n',
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await writeFile(join(folder, 'latin1.yaml'), Buffer.from('name: caf\xe9\n', 'latin1'));
});

afterAll(() => rm(folder, { recursive: true }));

describe('validate', () => {
  it('says of valid files how large they are', async () => {
    expect(await runHere(['validate', 'ok.yaml', 'ok.ts'], { cwd: folder })).toEqual({
      code: 0,
      stdout: 'ok.yaml: valid: ok, 2 nodes, 1 edge\nok.ts: valid: typed, 1 node, 0 edges',
      stderr: '',
    });
  });

  it('tells every error with file, line, column and code', async () => {
    const { code, stdout } = await runHere(['validate', 'ok.yaml', 'bad.yaml', 'bad.json'], { cwd: folder });
    expect(code).toBe(2);
    expect(stdout.split('\n')).toEqual([
      'ok.yaml: valid: ok, 2 nodes, 1 edge',
      'bad.yaml:4:5 UNKNOWN_FIELD nodes[0].param: "param" is no field of node "a"; did you mean "params"?',
      'bad.yaml:7:27 INVALID_LIMIT nodes[1].retry.maxAttempts: retry.maxAttempts of node "b" must be a whole number from 1 to 10000',
      'bad.yaml:6:17 UNKNOWN_DEPENDENCY nodes[1].dependsOn[0]: node "b" depends on "extrac", which is no node of this pipeline',
      'bad.yaml:3:5 INVALID_TYPE nodes[0].params.function: params.function of node "a" is missing; it must be the name or ARN of a Lambda function: a text, or an expression between {% and %} (its engine is lambda, as it names no other)',
      'bad.json:1:14 INVALID_JSON "}" is no valid JSON here',
    ]);
  });

  it.each([
    ['nowhere.yaml', 'nowhere.yaml FILE_NOT_FOUND there is no such file'],
    ['.', '. UNKNOWN_FORMAT a definition is a .yaml, .yml, .json or .ts file, and this is none of them'],
    [
      'notes.txt',
      'notes.txt UNKNOWN_FORMAT a definition is a .yaml, .yml, .json or .ts file, and this is none of them',
    ],
    ['latin1.yaml', 'latin1.yaml INVALID_UNICODE the file is not UTF-8 text'],
    ['bad.ts', 'bad.ts UNKNOWN_FIELD nodes[0].paramz: "paramz" is no field of node "a"; did you mean "params"?'],
    ['empty.ts', 'empty.ts NO_DEFINITION the module has no default export; it should be a definition'],
    ['broken.ts', 'broken.ts MODULE_FAILED the module does not load: Error: no such luck'],
  ])('tells of %s what keeps it from being checked', async (file, line) => {
    expect(await runHere(['validate', file], { cwd: folder })).toEqual({ code: 2, stdout: line, stderr: '' });
  });

  it('prints one JSON document with --json', async () => {
    const { code, stdout } = await runHere(['validate', '--json', 'ok.yaml', 'bad.json'], { cwd: folder });
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      files: [
        { file: 'ok.yaml', valid: true, name: 'ok', nodes: 2, edges: 1 },
        { file: 'bad.json', valid: false, errors: [{ code: 'INVALID_JSON', line: 1, column: 14 }] },
      ],
    });
  });
});

describe('run with an invalid definition', () => {
  it('tells all errors on standard error and starts nothing', async () => {
    const { code, stdout, stderr } = await runHere(['run', 'bad.yaml', '--json'], { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const lines = stderr.split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(/^bad\.yaml:4:5 UNKNOWN_FIELD /);
    expect(lines.at(-1)).toBe('millrace: INVALID_DEFINITION: 4 errors in bad.yaml; nothing was started.');
  });
});

describe('import wfcommons', () => {
  it('prints a pipeline as YAML that says what the importer says', async () => {
    const { code, stdout, stderr } = await runHere([
      'import',
      'wfcommons',
      diamond,
      '--time-scale',
      '.01',
      '--function',
      'sleep',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const definition = importWfCommons(await readFile(diamond, 'utf8'), { timeScale: 0.01, functionName: 'sleep' });
    expect(loadDefinition(stdout, 'yaml')).toEqual({ ok: true, definition });
    expect(definition.nodes[1]?.params).toEqual({ function: 'sleep', payload: { seconds: 0.2, task: 'left_2' } });
  });

  it.each(['out.yaml', 'out.json'])('writes %s, which is valid', async (out) => {
    const imported = await runHere(['import', 'wfcommons', diamond, '-o', out], { cwd: folder });
    expect(imported).toEqual({ code: 0, stdout: `${out}: Diamond-4-tasks-, 4 nodes`, stderr: '' });
    const { stdout } = await runHere(['validate', out], { cwd: folder });
    expect(stdout).toBe(`${out}: valid: Diamond-4-tasks-, 4 nodes, 4 edges`);
  });

  it('tells what is wrong with a file and writes nothing', async () => {
    const text = await readFile(diamond, 'utf8');
    await writeFile(
      join(folder, 'one-sided.json'),
      text.replace('"children": ["left_2", "right_3"]', '"children": ["left_2"]'),
    );
    const { code, stdout, stderr } = await runHere(['import', 'wfcommons', 'one-sided.json', '-o', 'never.yaml'], {
      cwd: folder,
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^one-sided\.json:11:\d+ EDGE_MISMATCH /);
    expect(stderr).toMatch(/\nmillrace: INVALID_WFFORMAT: 1 error in one-sided\.json; nothing was written\.$/);
    await expect(readFile(join(folder, 'never.yaml'))).rejects.toThrow('ENOENT');
  });

  it('refuses a file that is not there', async () => {
    const { code, stderr } = await runHere(['import', 'wfcommons', 'nowhere.json'], { cwd: folder });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'millrace: FILE_NOT_FOUND: nowhere.json: there is no such file.',
    });
  });
});
