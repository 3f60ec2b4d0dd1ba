import { defineConfig } from 'vitest/config';

/** One project a kind of test, so that `vitest run --project unit` runs just that kind. */
function project(name: string, testTimeout = 10_000) {
  return {
    extends: true as const,
    test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout },
  };
}

export default defineConfig({
  test: {
    // By default one processor is left out, which is half of a small machine.
    maxWorkers: '100%',
    projects: [
      project('unit', 60_000),
      project('contract', 60_000),
      project('simulation', 300_000),
      project('replay', 120_000),
      project('functions', 60_000),
      project('infra', 120_000),
      project('integration', 300_000),
    ],
  },
});
