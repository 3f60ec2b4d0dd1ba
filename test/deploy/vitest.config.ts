import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The tests that need Python beside Node.js; `npm test` leaves them out. */
export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  test: {
    name: 'deploy',
    include: ['test/deploy/**/*.test.ts'],
    // Most of the time goes by waiting for ticks, so there are more emulators at once than processors.
    maxWorkers: 4,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
