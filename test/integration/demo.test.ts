import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../../', import.meta.url));

let data: string;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'millrace-demo-test-'));
});
afterAll(() => rm(data, { recursive: true, force: true }));

function demo(...options: string[]) {
  return run(process.execPath, ['demo/run.ts', '--data', data, ...options], {
    cwd: checkout,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
  });
}

describe('the demo', () => {
  it('runs the flight delays pipeline to right figures, with a retry, a skipped node and a report', async () => {
    const { stdout, stderr } = await demo();
    expect(stderr).toBe('');
    expect(stdout).toMatch(/fetch-airports +RETRY_WAIT +attempt 1 failed: SourceUnavailable/);
    expect(stdout).toMatch(/fetch-airports +SUCCEEDED +after .*, at attempt 2/);
    expect(stdout).toMatch(/all-clear +SKIPPED/);
    expect(stdout).toMatch(/\d+ hops .* median \d+ ms/);
    expect(stdout).toMatch(/Step Functions state transitions, Standard +\d+/);
    expect(stdout).toMatch(/✓ [\d,]+ numbers and facts agree with the source/);
    const report = /report {2}(\S+\.html)/.exec(stdout)?.[1] ?? '';
    expect(await readFile(report, 'utf8')).toContain('<h1>U.S. flight delays, January to March 2001</h1>');
  });

  it('says what is wrong with its options, and exits with 2', async () => {
    await expect(demo('--limit', '3')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "option '--limit <share>' argument '3' is invalid. A number from 0 to 1 is right.",
      ),
    });
  });
});
