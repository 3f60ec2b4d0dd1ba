import { parentPort, workerData } from 'node:worker_threads';
import { type RuntimeInvocation, type RuntimeSettings, serveInvocations } from '#local/lambda-runtime.ts';

/** The entry of a worker thread that is a Lambda environment of one of our own functions. */
const port = parentPort;
if (port === null) throw new Error('this file is the entry of a worker thread');

await serveInvocations(workerData as RuntimeSettings, {
  report: (report) => port.postMessage(report),
  onInvocation: (take) => port.on('message', (invocation: RuntimeInvocation) => take(invocation)),
  exit: (code) => process.exit(code),
});
