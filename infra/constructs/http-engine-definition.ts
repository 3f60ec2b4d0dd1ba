/** A path that does not lead out of the base address, in whatever way its dots and slashes are written. */
const BELOW_BASE = '^(?!(.*/)?\\.\\.?(/|$))(?!.*%(2[eEfF]|5[cC]))[^?#\\\\\\s]*$';

/** JSON Schema of the params of a node that calls an HTTP API. */
export const HTTP_PARAMS_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    method: { enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] },
    path: { type: 'string', pattern: BELOW_BASE, maxLength: 1024 },
    query: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    body: {},
  },
} as const;

/** What cannot have reached the API: its connection was not ready. */
const NEVER_SENT = ['Events.ConnectionResource.AuthInProgress', 'Events.ConnectionResource.ConcurrentModification'];

/**
 * The definition of an HTTP engine: one state that makes one request. The language is JSONata, since JSONPath cannot leave
 * out of a request what a node does not say.
 *
 * Only what was never sent is tried again; after any other error the API may have done its part, and whether to ask again is the
 * pipeline's decision.
 */
export function httpEngineDefinition(baseUrl: string, connectionArn: string): object {
  return {
    Comment: 'Millrace: one HTTP request',
    QueryLanguage: 'JSONata',
    StartAt: 'Call',
    States: {
      Call: {
        Type: 'Task',
        Resource: 'arn:aws:states:::http:invoke',
        Arguments: argumentsFrom(baseUrl, connectionArn),
        TimeoutSeconds: '{% $states.input.millrace.timeoutSeconds %}',
        Output: `{% (
          $result := $states.result;
          { 'status': $result.StatusCode, 'headers': $result.Headers, 'body': $result.ResponseBody }
        ) %}`,
        Retry: [
          {
            ErrorEquals: NEVER_SENT,
            IntervalSeconds: 1,
            BackoffRate: 2,
            MaxDelaySeconds: 60,
            MaxAttempts: 100,
            JitterStrategy: 'FULL',
          },
        ],
        End: true,
      },
    },
  };
}

function argumentsFrom(baseUrl: string, connectionArn: string): string {
  return `{% (
    $params := $states.input.params;
    $path := $replace($params.path & '', /^\\/+/, '');
    $merge([
      {
        'ApiEndpoint': '${baseUrl}/' & $path,
        'Method': $exists($params.method) ? $params.method : 'GET',
        'Authentication': { 'ConnectionArn': '${connectionArn}' }
      },
      $exists($params.query) ? { 'QueryParameters': $params.query } : {},
      $exists($params.headers) ? { 'Headers': $params.headers } : {},
      $exists($params.body) ? { 'RequestBody': $params.body } : {}
    ])
  ) %}`;
}
