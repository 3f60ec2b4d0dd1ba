/** What can keep the development host from starting, apart from its disk, tables and rules, which have errors of their own. */
export type HostErrorCode =
  /** The cloud assembly or a resource in it is not of the shape that the host reads. */
  | 'TEMPLATE_INVALID'
  /** A resource, or a property of it, that the host does not run. */
  | 'UNSUPPORTED_RESOURCE'
  /** An intrinsic function of CloudFormation that the host does not resolve. */
  | 'UNSUPPORTED_INTRINSIC'
  /** Somebody else listens on the port. */
  | 'PORT_IN_USE'
  /** A `--chaos` text that is not understood. */
  | 'INVALID_CHAOS'
  /** An engine of the template could not be registered. */
  | 'ENGINE_NOT_REGISTERED'
  /** `secrets.json` of the data folder is not of names and texts. */
  | 'INVALID_SECRETS'
  /** The text of a secret that the template refers to and does not make is missing. */
  | 'SECRET_NOT_GIVEN'
  /** A pipeline of the template could not be put. */
  | 'PIPELINE_NOT_PUT'
  /** The CDK app ended with an error. */
  | 'SYNTH_FAILED';

/** An error that the person who starts the host can do something about; `message` says what. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: HostErrorCode;

  constructor(code: HostErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Refuses a resource that the host cannot run, by its logical id and type. */
export function unsupportedResource(resource: { logicalId: string; type: string }, what?: string): HostError {
  const reason = what === undefined ? 'the development host does not run resources of this type' : what;
  return new HostError('UNSUPPORTED_RESOURCE', `${resource.logicalId} (${resource.type}): ${reason}`);
}
