import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { synthesizeApp } from '#local/host.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-synthesis-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** An app that writes down how it was called. */
const recordingApp = `
import { mkdirSync, writeFileSync } from 'node:fs';
const { CDK_OUTDIR, CDK_CONTEXT_JSON } = process.env;
mkdirSync(CDK_OUTDIR, { recursive: true });
writeFileSync(CDK_OUTDIR + '/manifest.json', JSON.stringify({ context: JSON.parse(CDK_CONTEXT_JSON), node: process.version }));`;

describe('synthesizeApp', () => {
  it("runs the app with the host's Node.js, its context and the functions' directory", async () => {
    await writeFile(path.join(folder, 'app.mjs'), recordingApp);
    await writeFile(path.join(folder, 'cdk.json'), '{"context":{"flag":true}}');
    const options = { app: 'node app.mjs', projectDir: folder, outDir: path.join(folder, 'out'), functionsDir: 'fns' };
    const cdkOut = await synthesizeApp(options);
    expect(JSON.parse(await readFile(path.join(cdkOut, 'manifest.json'), 'utf8'))).toEqual({
      context: { flag: true, functions: path.resolve('fns') },
      node: process.version,
    });
    expect(await synthesizeApp(options)).not.toBe(cdkOut);
  });

  it('fails with what the app said, and leaves nothing behind', async () => {
    const outDir = path.join(folder, 'out');
    await expect(
      synthesizeApp({ app: 'echo no such stack >&2; exit 3', projectDir: folder, outDir }),
    ).rejects.toMatchObject({
      code: 'SYNTH_FAILED',
      message: expect.stringMatching(/^`echo no such stack .*` failed:\nno such stack$/s),
    });
    await expect(synthesizeApp({ app: 'true', projectDir: folder, outDir })).rejects.toThrow('wrote no cloud assembly');
    expect(await readdir(outDir)).toEqual([]);
  });

  it('keeps the last few assemblies, and never touches what is not its own', async () => {
    await writeFile(path.join(folder, 'app.mjs'), recordingApp);
    const outDir = path.join(folder, 'out');
    await mkdir(path.join(outDir, 'mine'), { recursive: true });
    const options = { app: 'node app.mjs', projectDir: folder, outDir };
    for (let times = 0; times < 6; times++) await synthesizeApp(options);
    const left = await readdir(outDir);
    expect(left).toContain('mine');
    expect(left).toHaveLength(6);
  });
});
