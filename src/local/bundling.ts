import type { BuildOptions, BuildResult } from 'esbuild';

let underWay = 0;

/**
 * Runs esbuild. Its service is a process that would stay as long as this one and wake both every second, so it ends with
 * the last build under way.
 * @throws what esbuild throws: a `BuildFailure` for sources that do not build
 */
export async function bundle<Options extends BuildOptions>(options: Options): Promise<BuildResult<Options>> {
  const { build, stop } = await import('esbuild');
  underWay += 1;
  try {
    return await build<Options>(options as Parameters<typeof build<Options>>[0]);
  } finally {
    underWay -= 1;
    if (underWay === 0) await stop();
  }
}
