/** The entry of the evaluator's worker thread. In bundles it is a file of its own, `evaluator-worker.mjs`. */
import { parentPort, workerData } from 'node:worker_threads';
import { createTemplateEvaluator } from './evaluate-template.ts';
import {
  createWorkerProgress,
  type EvaluationBatch,
  type WorkerMessage,
  type WorkerSettings,
} from './evaluator-messages.ts';

const port = parentPort;
if (port === null) throw new Error('this file is the entry of a worker thread');
const { limits, progress: memory } = workerData as WorkerSettings;
const progress = createWorkerProgress(memory);
const evaluate = await createTemplateEvaluator({ limits });
const say = (message: WorkerMessage) => port.postMessage(message);

async function work({ batch, requests }: EvaluationBatch) {
  for (const [request, { template, bindings }] of requests.entries()) {
    if (progress.isDropped(batch)) break;
    progress.begin(batch, request, 0);
    const answer = await evaluate({ template, bindings }, (place) => progress.begin(batch, request, place));
    say({ kind: 'answer', batch, request, answer });
  }
  progress.rest();
  say({ kind: 'done', batch });
}

// One batch after the other: a message that comes while one is worked on waits for it.
let last = Promise.resolve();
port.on('message', (batch: EvaluationBatch) => {
  last = last.then(() => work(batch));
});
say({ kind: 'ready' });
