import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ECHO, folderOf } from './synthesize.ts';

const PROJECT = join(import.meta.dirname, '../..');

describe('node infra/app.ts', () => {
  it('writes the template of the stack, with our own functions and the team’s, without an account', () => {
    const outdir = folderOf({});
    const { status, stderr } = run(outdir, { functions: folderOf({ 'fetch.ts': ECHO }), installation: 'second' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const files = readdirSync(outdir);
    expect(files).toContain('manifest.json');
    expect(files).toContain('Millrace.template.json');
    expect(files.filter((name) => name.startsWith('asset.')).length).toBe(5);
  });

  it.each([
    [{ installation: 'Mill-race' }, /^INVALID_INSTALLATION: .*"Mill-race".*lower-case letters and digits/],
    [{ installation: 'a'.repeat(21) }, /^INVALID_INSTALLATION: .*1 to 20/],
    [{ functions: '' }, /^INVALID_CONTEXT: .*"functions" is "".*directory/],
    [{ functions: 7 }, /^INVALID_CONTEXT: .*"functions" is 7/],
    [{ ephemeral: 'perhaps' }, /^INVALID_CONTEXT: .*"ephemeral" is "perhaps".*true or false/],
    [{ stateMachines: 'a,b c' }, /^INVALID_CONTEXT: .*"stateMachines" is "a,b c".*names of state machines/],
    [{ functions: 'no/such/directory' }, /^FUNCTIONS_NOT_FOUND: /],
  ])('refuses the context %j in one line, and writes nothing', (context, message) => {
    const outdir = folderOf({});
    const { status, stderr } = run(outdir, context);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(readdirSync(outdir)).not.toContain('manifest.json');
  });
});

function run(outdir: string, context: Record<string, unknown>) {
  return spawnSync(process.execPath, ['infra/app.ts'], {
    cwd: PROJECT,
    encoding: 'utf8',
    env: { ...process.env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) },
  });
}
