/** What can be wrong with what a user gave to the CDK app. */
export type SynthesisErrorCode =
  | 'INVALID_INSTALLATION'
  | 'INVALID_CONTEXT'
  | 'INVALID_PROPS'
  | 'INVALID_FILTER'
  | 'INVALID_TRIGGER'
  | 'INVALID_WEBHOOK'
  | 'INVALID_ENGINE'
  | 'INVALID_DEFINITION'
  | 'FUNCTIONS_NOT_FOUND'
  | 'NO_FUNCTIONS'
  | 'INVALID_FUNCTION_NAME'
  | 'RESERVED_FUNCTION_NAME'
  | 'DUPLICATE_FUNCTION_NAME'
  | 'FUNCTION_BUILD_FAILED';

/** A mistake in a prop, a context value, a trigger, a webhook, an engine, a pipeline or a folder of functions; the message is complete without a stack trace. */
export class SynthesisError extends Error {
  override readonly name = 'SynthesisError';
  /** Stable code to switch on. */
  readonly code: SynthesisErrorCode;

  constructor(code: SynthesisErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
