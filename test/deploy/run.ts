/** `npm run test:deploy`: makes sure that what the emulator needs is there, then runs the tests of this folder. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PythonMissingError, pythonEnvironment } from './python-environment.ts';

try {
  await pythonEnvironment();
} catch (error) {
  if (!(error instanceof PythonMissingError)) throw error;
  console.error(error.message);
  process.exit(1);
}

const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');
const config = join(import.meta.dirname, 'vitest.config.ts');
const { status } = spawnSync(process.execPath, [vitest, 'run', '--config', config, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
