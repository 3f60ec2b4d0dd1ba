import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const CLIENT = join(import.meta.dirname, '../../../src/client');

function bundle(entry: string, platform: 'browser' | 'node') {
  return build({
    entryPoints: [join(CLIENT, entry)],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform,
    logLevel: 'silent',
  });
}

describe('the client in a browser', () => {
  it('is bundled without anything of Node.js or of a server, and is small', async () => {
    const { outputFiles, metafile } = await bundle('index.ts', 'browser');
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.filter((input) => /^node:|#?(?:scheduler|adapters|ports|local|function)\//.test(input))).toEqual([]);
    const [file] = outputFiles;
    expect(file?.text).not.toMatch(/\bprocess\.env\b|\bBuffer\./);
    expect(file?.contents.length).toBeLessThan(150_000);
    expect(gzipSync(file?.contents ?? '').length).toBeLessThan(45_000);
  });

  it('would not be bundled with what needs Node.js', async () => {
    await expect(bundle('sigv4.ts', 'browser')).rejects.toThrow('Could not resolve "node:');
  });
});
