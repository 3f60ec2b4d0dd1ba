/**
 * The built-in `lambda` engine: one state that invokes the function named in `params.function`.
 *
 * The language is JSONPath, which the development host can run too. Only throttling is retried, because then nothing was invoked;
 * after any other error the function may have run, and whether to run it again is the pipeline's decision.
 * The waits grow to a minute; 5,000 of them stay below the 25,000 events that an execution's history may have.
 */
export const LAMBDA_ENGINE_DEFINITION = {
  Comment: 'Millrace: the engine "lambda"',
  QueryLanguage: 'JSONPath',
  StartAt: 'Invoke',
  States: {
    Invoke: {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke',
      Parameters: {
        'FunctionName.$': '$.params.function',
        'Payload.$': '$.params.payload',
        'ClientContext.$': 'States.Base64Encode(States.JsonToString($.millrace))',
      },
      TimeoutSecondsPath: '$.millrace.timeoutSeconds',
      OutputPath: '$.Payload',
      Retry: [
        {
          ErrorEquals: ['Lambda.TooManyRequestsException'],
          IntervalSeconds: 1,
          BackoffRate: 2,
          MaxDelaySeconds: 60,
          MaxAttempts: 5000,
          JitterStrategy: 'FULL',
        },
      ],
      End: true,
    },
  },
} as const;
