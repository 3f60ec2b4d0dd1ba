import type { Chaos } from '#local/chaos.ts';
import type { LoopbackAnswer, LoopbackRequest } from '#local/loopback-server.ts';
import { type WireAnswer, WireError, wireFailure } from '#local/wire-answer.ts';

/** A hosted service that speaks an AWS JSON protocol. */
type WireHandler = { handle(target: string, body: Buffer): Promise<WireAnswer> };

/** The services by what their requests' `X-Amz-Target` begins with. */
export type WireServices = {
  readonly AmazonSQS: WireHandler;
  readonly AWSEvents: WireHandler;
  readonly AWSStepFunctions: WireHandler;
  readonly DynamoDB_20120810: WireHandler;
  readonly Logs_20140328: WireHandler;
  /** S3 speaks a protocol of its own, which names no target. */
  readonly objects: { handle(request: LoopbackRequest): Promise<LoopbackAnswer> };
};

/** Hands each request to the service that its target names. */
export function createWireDispatch(
  { objects, ...services }: WireServices,
  chaos?: Chaos,
): (request: LoopbackRequest) => Promise<LoopbackAnswer> {
  const byPrefix = new Map<string, WireHandler>(Object.entries(services));
  return async (request) => {
    const { headers, body } = request;
    const target = headers['x-amz-target'];
    if (typeof target !== 'string') return objects.handle(request);
    const [prefix = '', api = ''] = target.split('.');
    const service = byPrefix.get(prefix);
    if (service === undefined)
      return failure('UnknownOperationException', `The development host does not know ${target}`);
    if (chaos?.throttles(api) === true) return failure('ThrottlingException', 'Rate exceeded');
    return service.handle(target, body);
  };
}

function failure(code: string, message: string): LoopbackAnswer {
  return wireFailure('1.0', new WireError(code, message));
}
