#!/usr/bin/env node
// Plain JavaScript that any Node can read: it only finds a Node that runs the TypeScript sources as they are.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(import.meta.url);

if (process.features.typescript) {
  nodeModule.enableCompileCache?.();
  const { restartAsHost } = await import('../src/cli/host-process.ts');
  restartAsHost(process);
  await import('../src/cli/main.ts');
} else {
  const node = ownNode();
  if (node === undefined) {
    process.stderr.write(
      `millrace: NODE_TOO_OLD: this is Node.js ${process.version}, and Millrace needs 22.18 or newer. ` +
        'Run `npm ci` in the checkout, which brings a Node.js of its own, or put a newer one on the PATH.\n',
    );
    process.exitCode = 2;
  } else {
    runWith(node);
  }
}

/** The Node of the npm package `node`, if it is installed. */
function ownNode() {
  try {
    const node = join(dirname(createRequire(script).resolve('node/package.json')), 'bin', 'node');
    return existsSync(node) && node !== process.execPath ? node : undefined;
  } catch {
    return undefined;
  }
}

/** Runs this script again with another Node, which ends when this process does, however this one ends. */
function runWith(node) {
  const child = spawn(node, [script, ...process.argv.slice(2)], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`millrace: NODE_TOO_OLD: ${node} does not start: ${error.message}. Run \`npm ci\` again.\n`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
    if (child.connected) child.disconnect();
  });
}
