import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import { createWorkerEvaluator } from '#adapters/jsonata/worker-evaluator.ts';
import { describeEvaluator } from './evaluator.contract.ts';

describeEvaluator('in the same thread', () => ({ evaluator: createInlineEvaluator(), close: async () => {} }));

describeEvaluator('in a worker', () => {
  const evaluator = createWorkerEvaluator();
  return { evaluator, close: () => evaluator.close() };
});
