import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The tests of the tarball; `npm test` leaves them out, since one of them asks the registry for another Node.js. */
export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  test: {
    name: 'package',
    include: ['test/package/**/*.test.ts'],
    globalSetup: ['test/package/set-up.ts'],
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
