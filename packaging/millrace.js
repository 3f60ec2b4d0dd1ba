#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

const LEAST_MAJOR = 22;

if (Number(process.versions.node.split('.')[0]) < LEAST_MAJOR) {
  process.stderr.write(
    `millrace: NODE_TOO_OLD: this is Node.js ${process.version}, and Millrace needs ${LEAST_MAJOR} or newer.\n`,
  );
  process.exitCode = 2;
} else {
  enableCompileCache();
  const { restartAsHost } = await import('../src/cli/host-process.js');
  restartAsHost(process);
  await import('../src/cli/main.js');
}
