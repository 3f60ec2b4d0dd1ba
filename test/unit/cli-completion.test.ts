import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { COMPLETION_SCRIPTS } from '../../src/cli/completion-scripts.ts';
import { runHere } from './cli-capture.ts';
import { json, listen } from './client/listening-server.ts';

/** The words that are offered, and what else may come. */
async function offered(...words: string[]) {
  const { code, stdout, stderr } = await runHere(['complete', '--', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.split('\n');
  return [...lines.slice(0, -1).map((line) => line.split('\t')[0]), lines.at(-1)];
}

describe('millrace complete', () => {
  it.each([
    [['st'], ['status', 'stop', ':nothing']],
    [['comple'], ['completion', ':nothing']],
    [['--v'], ['--version', ':nothing']],
    [['run', ''], [':files']],
    [
      ['run', 'x', '--inp'],
      ['--input', ':nothing'],
    ],
    [['run', '--functions', ''], [':folders']],
    [['run', '--seed', ''], [':nothing']],
    [['validate', 'a.yaml', ''], [':files']],
    [
      ['import', 'wf'],
      ['wfcommons', ':nothing'],
    ],
    [['import', 'wfcommons', '--time-scale', '2', ''], [':files']],
    [
      ['mark', 'r', 'n', 'S'],
      ['SUCCEEDED', 'SKIPPED', ':nothing'],
    ],
    [
      ['mark', '--note', 'why', 'r', 'n', 'F'],
      ['FAILED', ':nothing'],
    ],
    [
      ['backfill', 'p', '--direction', 'f'],
      ['forward', ':nothing'],
    ],
    [
      ['engines', 'dr'],
      ['drain', ':nothing'],
    ],
    [
      ['engines', '--li'],
      ['--limit', ':nothing'],
    ],
    [
      ['engines', 'remove', '--j'],
      ['--json', ':nothing'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', ':nothing'],
    ],
    [['no', 'such', ''], [':nothing']],
  ])('offers after %j %j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  it('offers every command with what it does, and itself to nobody', async () => {
    const { stdout } = await runHere(['complete', '--', '']);
    const lines = stdout.split('\n');
    expect(lines).toContain('explain\tsay what a run waits for');
    expect(lines.map((line) => line.split('\t')[0])).not.toContain('complete');
  });

  it('offers names that the server knows', async () => {
    const at = '2026-11-30T12:00:00.000Z';
    const run = { id: 'rrr', pipeline: 'etl', revision: '1', state: 'FAILED', createdAt: at, trigger: { type: 'api' } };
    const { url, heard } = await listen(({ address }, response) => {
      if (address.startsWith('/v1/pools')) json(response, 200, { items: [{ name: 'db', slots: 3, held: 0 }] });
      else json(response, 200, { items: [{ ...run, tags: {} }] });
    });
    const { stdout } = await runHere(['complete', '--', 'status', '--url', url, 'r']);
    expect(stdout).toBe('rrr\tetl, FAILED\n:nothing');
    expect(await offered('stop', '--url', url, 'x')).toEqual([':nothing']);
    expect(await offered('pools', 'put', '--url', url, '')).toEqual(['db', ':nothing']);
    expect(heard[0]?.address).toBe('/v1/runs?limit=50');
  });

  it('offers nothing where there is no server', async () => {
    expect(await offered('status', '--url', 'http://127.0.0.1:1', '')).toEqual([':nothing']);
    expect(await offered('status', '--url', 'nonsense', '')).toEqual([':nothing']);
  });
});

describe('millrace completion', () => {
  it.each(Object.entries(COMPLETION_SCRIPTS))('prints the script of %s', async (shell, script) => {
    expect(await runHere(['completion', shell])).toEqual({ code: 0, stdout: script, stderr: '' });
    const folder = await mkdtemp(join(tmpdir(), 'cli-completion-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, shell), script);
    const check = spawnSync(shell, ['-n', join(folder, shell)], { encoding: 'utf8' });
    // Not every machine has every shell.
    if (check.error === undefined)
      expect({ status: check.status, stderr: check.stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('is wrong usage with another shell', async () => {
    expect(await runHere(['completion', 'cmd'])).toMatchObject({ code: 2, stdout: '' });
  });

  it.skipIf(spawnSync('bash', ['--version']).error !== undefined)('lets bash offer the words', () => {
    const program = [
      'millrace() { printf "%s\\n" "$*" >&2; printf "status\\tshow a run\\nstop\\tstop a run\\n:nothing\\n"; }',
      COMPLETION_SCRIPTS.bash,
      `COMP_WORDS=(millrace --url "a b" st); COMP_CWORD=3; _millrace; printf "%s|" "\${COMPREPLY[@]}"`,
    ].join('\n');
    expect(execFileSync('bash', ['-c', program], { encoding: 'utf8' })).toBe('status|stop|');
  });
});
