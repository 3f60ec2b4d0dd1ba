import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
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

  it('works where there is nothing but what browsers have', async () => {
    const { outputFiles } = await build({
      stdin: { contents: `export { createClient } from './index.ts'`, resolveDir: CLIENT },
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'millrace',
      platform: 'browser',
    });
    const asked: string[] = [];
    const browser = {
      AbortController,
      AbortSignal,
      Headers,
      TextDecoder,
      TextEncoder,
      URL,
      btoa,
      clearTimeout,
      crypto,
      performance,
      setTimeout,
      fetch: async (url: URL) => {
        asked.push(url.href);
        return new Response('{"status":"ok","installation":"millrace","time":"2026-11-30T12:00:00.000Z"}');
      },
    };
    runInNewContext(outputFiles[0]?.text ?? '', browser);
    const { createClient } = (browser as unknown as { millrace: typeof import('../../../src/client/index.ts') })
      .millrace;
    const client = createClient({ url: 'https://example.test' });
    expect(await client.health()).toMatchObject({ status: 'ok' });
    await expect(client.nodes.get('r', 'größe')).rejects.toMatchObject({ code: 'NOT_MILLRACE' });
    expect(asked).toEqual(['https://example.test/v1/health', 'https://example.test/v1/runs/r/nodes/b64.Z3LDtsOfZQ']);
  });

  it('would not be bundled with what needs Node.js', async () => {
    await expect(bundle('sigv4.ts', 'browser')).rejects.toThrow('Could not resolve "node:');
  });
});
