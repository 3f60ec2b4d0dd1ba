import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from './cli-capture.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  await writeFile(join(folder, 'ok.yaml'), 'name: ok\nnodes:\n  - id: a\n    params: { function: f }\n');
  await writeFile(join(folder, 'twice.json'), '{"day": 1, "day": 2}');
});

afterAll(() => rm(folder, { recursive: true }));

describe('help', () => {
  it('lists the commands', async () => {
    const { code, stdout } = await runHere(['--help']);
    expect(code).toBe(0);
    const listed = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    const commands = ['dev', 'run', 'validate', 'import', 'pipelines', 'runs', 'status', 'explain', 'history', 'stop'];
    expect(listed).toEqual(expect.arrayContaining(commands));
  });

  it('shows examples of every command', async () => {
    const pages = new Map<string, string>();
    const read = async (words: readonly string[]) => {
      const { code, stdout, stderr } = await runHere([...words, '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      pages.set(words.join(' '), stdout);
      const [list = ''] = stdout.split(/^Commands:\n/m)[1]?.split('\n\n') ?? [];
      const names = Array.from(list.matchAll(/^ {2}([a-z]+)(?= )/gm), ([, name = '']) => name);
      for (const name of names) if (name !== 'help') await read([...words, name]);
    };
    await read([]);
    expect(pages.size).toBeGreaterThan(25);
    const isGroup = (name: string) => name === '' || name === 'import';
    const without = [...pages].filter(
      ([name, page]) => !isGroup(name) && !new RegExp(`Examples?:\\n {2}millrace ${name}`).test(page),
    );
    expect(without.map(([name]) => name)).toEqual([]);
  });

  it('is wrong usage where a command is missing', async () => {
    expect(await runHere([])).toMatchObject({ code: 2, stdout: '' });
    expect(await runHere(['import'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('tells the version', async () => {
    expect(await runHere(['--version'])).toMatchObject({ code: 0, stdout: '1.2.3\n' });
  });
});

describe('wrong usage', () => {
  it.each([
    [['frobnicate'], "unknown command 'frobnicate'. See `millrace --help`."],
    [['rnu'], "unknown command 'rnu' (Did you mean run?) See `millrace --help`."],
    [['run'], "missing required argument 'file|name'. See `millrace run --help`."],
    [
      ['status', 'a', 'b'],
      "too many arguments for 'status'. Expected 1 argument but got 2. See `millrace status --help`.",
    ],
    [
      ['import', 'wfcommons', 'x', '--time-scale=-1'],
      'A factor is a number from 0 up, such as 0.001. See `millrace import wfcommons --help`.',
    ],
    [['dev', '--port', '65536'], 'A port is a whole number from 0 to 65535.'],
    [['dev', '--port', '80.5'], 'A port is a whole number from 0 to 65535.'],
    [['dev', '--tick', '2'], 'A tick is a number with ms, s or m, from 100ms to 60m, such as 2s.'],
    [['dev', '--tick', '1ms'], 'A tick is a number with ms, s or m, from 100ms to 60m, such as 2s.'],
    [['dev', '--seed', 'x'], 'A seed is a whole number from 0 to 2147483647.'],
    [['runs', '--limit', '1001'], 'A limit is a whole number from 1 to 1000.'],
    [['run', 'etl', '--data', 'x'], '--data is for a host that this command starts, but "etl" is no file.'],
    [
      ['run', 'ok.yaml', '--chaos', 'x', '--url', 'http://127.0.0.1:1'],
      '--chaos is for a host that this command starts, but a server is named by --url or MILLRACE_URL.',
    ],
  ])('%j is told in one line', async (argv, message) => {
    const { code, stdout, stderr } = await runHere(argv, { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^millrace: USAGE: [^\n]+$/);
    expect(stderr).toContain(message);
  });
});

describe('input of a run', () => {
  it.each([
    ['{"a": 1,}', '--input: line 1, column 9: "}" is no valid JSON here.'],
    ['@missing.json', '--input @missing.json: there is no such file.'],
    ['@twice.json', '--input @twice.json: line 1, column 12:'],
    ['{"n": 12345678901234567890}', '--input: line 1, column 7:'],
  ])('%s is refused before anything starts', async (input, message) => {
    const { code, stdout, stderr } = await runHere(['run', 'ok.yaml', '--input', input], { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`millrace: INVALID_INPUT: ${message}`);
    expect(stderr).not.toContain('\n');
  });
});

describe('settings of a host', () => {
  it.each([
    [
      ['dev', '--chaos', 'kill=scheduler'],
      'INVALID_CHAOS: --chaos: "kill=scheduler" is not understood: it takes FUNCTION:P',
    ],
    [
      ['run', 'ok.yaml', '--chaos', 'drop-events=2'],
      'INVALID_CHAOS: --chaos: "drop-events=2" is not understood: a chance is a number from 0 to 1',
    ],
    [['dev', '--functions', 'nowhere'], 'nowhere: there is no such folder. It takes a folder with'],
    [['run', 'ok.yaml', '--functions', 'ok.yaml'], 'ok.yaml: this is a file, not a folder. It takes a folder with'],
  ])('%j is refused before anything starts', async (argv, message) => {
    const { code, stdout, stderr } = await runHere(argv, { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('\n');
  });
});
