import type { DefinitionError } from '#domain/definition.ts';

/** A definition that was refused, with everything that is wrong with it. */
export class InvalidDefinitionError extends Error {
  readonly code = 'INVALID_DEFINITION';
  /** The same definition is refused again. */
  readonly retryable = false;
  readonly errors: readonly DefinitionError[];

  constructor(errors: readonly DefinitionError[]) {
    super(['the definition is not valid:', ...errors.map((error) => `  ${errorLine(error)}`)].join('\n'));
    this.name = 'InvalidDefinitionError';
    this.errors = errors;
  }
}

/** One error as one line for people: place, code, message and the value at fault. */
export function errorLine({ path, code, message, line, column }: DefinitionError): string {
  const place = line === undefined ? '' : `${line}:${column} `;
  return `${place}${path === '' ? '' : `${path}: `}${message} [${code}]`;
}
