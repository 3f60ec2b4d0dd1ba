/** The pipelines that the tests deploy; their functions are in `functions/`. */

const RETRY = { maxAttempts: 3, intervalSeconds: 1 };

/** A node of the built-in engine. */
function lambda(id: string, functionName: string, payload: unknown = {}, more: object = {}) {
  return { id, engine: 'lambda', params: { function: functionName, payload }, ...more };
}

/** A map, expressions, an output that goes by way of S3, and an attempt that fails. */
export const everything = {
  name: 'everything',
  nodes: [
    lambda('list', 'deploy-list', { count: '{% $run.input.count %}' }),
    lambda(
      'double',
      'deploy-double',
      { number: '{% $item %}' },
      { dependsOn: ['list'], map: { items: '{% $nodes.list.output.numbers %}', maxConcurrency: 3 } },
    ),
    lambda('large', 'deploy-large', { length: 400_000 }),
    {
      id: 'measure',
      dependsOn: ['large'],
      engine: 'lambda',
      params: { function: 'deploy-measure', byReference: true, payload: '{% $nodes.large.output %}' },
    },
    lambda('flaky', 'deploy-flaky', { attempt: '{% $attempt %}' }, { retry: RETRY }),
  ],
  output: {
    sum: '{% $sum($nodes.double.output) %}',
    length: '{% $nodes.measure.output.length %}',
    attempt: '{% $nodes.flaky.output.attempt %}',
  },
};

/** What `everything` gives for the input `{count}`. */
export function everythingGives(count: number) {
  return { sum: count * (count + 1), length: 400_000, attempt: 2 };
}

/** One node alone. */
export const single = {
  name: 'single',
  nodes: [lambda('list', 'deploy-list', { count: '{% $run.input.count %}' })],
  output: '{% $nodes.list.output.numbers %}',
};

/** A node whose function takes as many seconds as the input says, beside an answer of a person, and a function after both. */
export function gated(label: string) {
  return {
    name: 'gated',
    nodes: [
      lambda('before', 'deploy-version'),
      lambda(
        'slow',
        'deploy-slow',
        { seconds: '{% $run.input.seconds %}', attempt: '{% $attempt %}' },
        { retry: RETRY },
      ),
      { id: 'gate', dependsOn: ['before'], engine: 'approval', params: { prompt: 'Go on?' } },
      lambda('after', 'deploy-version', {}, { dependsOn: ['gate', 'slow'] }),
    ],
    output: {
      label,
      before: '{% $nodes.before.output.version %}',
      after: '{% $nodes.after.output.version %}',
      attempts: '{% $nodes.slow.output.attempt %}',
    },
  };
}

/** An engine of another team: a state machine that hands the whole input of its executions to the function named there. */
export const TEAM_ENGINE = {
  name: 'team',
  stateMachine: 'millrace-team',
  definition: {
    StartAt: 'Invoke',
    States: {
      Invoke: {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke',
        Parameters: { 'FunctionName.$': '$.params.name', 'Payload.$': '$' },
        OutputPath: '$.Payload',
        End: true,
      },
    },
  },
};

/** A node that only that engine can run; its function calls the API back. */
export const reporting = {
  name: 'reporting',
  nodes: [{ id: 'report', engine: TEAM_ENGINE.name, params: { name: 'deploy-report' } }],
  output: '{% $nodes.report.output.told %}',
};
