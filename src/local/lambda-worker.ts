import { enableCompileCache, flushCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { type RuntimeInvocation, type RuntimeSettings, serveInvocations } from '#local/lambda-runtime.ts';

/** The entry of a worker thread that is a Lambda environment of one of our own functions. */
const port = parentPort;
if (port === null) throw new Error('this file is the entry of a worker thread');

// A function is a megabyte of code, and every thread compiles it anew: a fifth of the time that it takes to load.
enableCompileCache();

await serveInvocations(workerData as RuntimeSettings, {
  report(report) {
    port.postMessage(report);
    // A thread is ended without a last word, so what it compiled is kept now.
    if (report.kind === 'ready') flushCompileCache();
  },
  onInvocation: (take) => port.on('message', (invocation: RuntimeInvocation) => take(invocation)),
  exit: (code) => process.exit(code),
});
