/**
 * The intrinsic functions of the Amazon States Language that give text. aws-local-stepfunctions has them too, but drops every
 * backslash from their results and cannot encode most of Unicode, so a task's parameters are computed here where they use them.
 */

/** A call such as `States.Base64Encode(States.JsonToString($.a))`. */
export type IntrinsicCall = { readonly name: string; readonly args: readonly IntrinsicArgument[] };

/** An argument: a nested call, a path into the state's input or context, or a value. */
type IntrinsicArgument =
  | { readonly kind: 'call'; readonly call: IntrinsicCall }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'value'; readonly value: unknown };

/** An intrinsic function was called with something that it does not take. */
class IntrinsicError extends Error {
  override readonly name = 'States.IntrinsicFailure';
}

const functions: ReadonlyMap<string, (...args: readonly unknown[]) => unknown> = new Map([
  ['States.JsonToString', (value: unknown) => JSON.stringify(value)],
  ['States.StringToJson', (value: unknown) => parseJson(textOf('States.StringToJson', value))],
  ['States.Base64Encode', (value: unknown) => Buffer.from(shortText('States.Base64Encode', value)).toString('base64')],
  [
    'States.Base64Decode',
    (value: unknown) => Buffer.from(shortText('States.Base64Decode', value), 'base64').toString(),
  ],
  ['States.Format', format],
]);

/** The most characters that AWS encodes or decodes at a time. */
const maxBase64Length = 10_000;

/** Reads an expression if every function in it is one of those above; undefined otherwise. */
export function parseIntrinsic(expression: string): IntrinsicCall | undefined {
  const reader = new Reader(expression);
  const call = reader.call();
  return call !== undefined && reader.isAtEnd() && isKnown(call) ? call : undefined;
}

/** The paths of a call, in the order in which {@link evaluateIntrinsic} wants their values. */
export function pathsOf(call: IntrinsicCall): string[] {
  return call.args.flatMap((argument) => {
    if (argument.kind === 'path') return [argument.path];
    return argument.kind === 'call' ? pathsOf(argument.call) : [];
  });
}

/**
 * The value of a call.
 * @param pathValues values of {@link pathsOf}, in that order; they are taken from its front
 * @throws {IntrinsicError}
 */
export function evaluateIntrinsic(call: IntrinsicCall, pathValues: unknown[]): unknown {
  const args = call.args.map((argument) => {
    if (argument.kind === 'value') return argument.value;
    return argument.kind === 'path' ? pathValues.shift() : evaluateIntrinsic(argument.call, pathValues);
  });
  const run = functions.get(call.name);
  if (run === undefined) throw new IntrinsicError(`${call.name} is not known`);
  return run(...args);
}

function isKnown(call: IntrinsicCall): boolean {
  return functions.has(call.name) && call.args.every((each) => each.kind !== 'call' || isKnown(each.call));
}

function format(template: unknown, ...values: readonly unknown[]): string {
  const rest = [...values];
  const text = textOf('States.Format', template).replaceAll(/\\([{}'\\])|\{\}/g, (_, escaped: string | undefined) => {
    if (escaped !== undefined) return escaped;
    if (rest.length === 0) throw new IntrinsicError('States.Format has more {} than arguments');
    const value = rest.shift();
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
  if (rest.length > 0) throw new IntrinsicError('States.Format has more arguments than {}');
  return text;
}

function shortText(name: string, value: unknown): string {
  const text = textOf(name, value);
  if (text.length <= maxBase64Length) return text;
  throw new IntrinsicError(`${name} takes at most ${maxBase64Length} characters`);
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new IntrinsicError(`${name} takes text`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new IntrinsicError('States.StringToJson was given text that is not JSON', { cause });
  }
}

/** Reads from the front of an expression; each method takes what it knows, or nothing. */
class Reader {
  #rest: string;

  constructor(expression: string) {
    this.#rest = expression.trim();
  }

  isAtEnd(): boolean {
    return this.#rest === '';
  }

  call(): IntrinsicCall | undefined {
    const name = this.#take(/^(States\.\w+)\s*\(\s*/);
    if (name === undefined) return undefined;
    const args: IntrinsicArgument[] = [];
    while (this.#take(/^(\))\s*/) === undefined) {
      const argument = this.#argument();
      if (argument === undefined) return undefined;
      args.push(argument);
      if (this.#take(/^(,)\s*/) === undefined && !this.#rest.startsWith(')')) return undefined;
    }
    return { name, args };
  }

  #argument(): IntrinsicArgument | undefined {
    if (this.#rest.startsWith('States.')) {
      const call = this.call();
      return call === undefined ? undefined : { kind: 'call', call };
    }
    const path = this.#take(/^(\$(?:\[(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\]'"])*\]|[^[\],)\s])*)\s*/);
    if (path !== undefined) return { kind: 'path', path };
    const text = this.#take(/^'((?:[^'\\]|\\.)*)'\s*/);
    // States.Format needs to tell an escaped brace from a place, so its own escapes stay.
    if (text !== undefined) return { kind: 'value', value: text.replaceAll(/\\(['\\])/g, '$1') };
    const literal = this.#take(/^(null|true|false|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*/);
    return literal === undefined ? undefined : { kind: 'value', value: JSON.parse(literal) };
  }

  #take(pattern: RegExp): string | undefined {
    const match = pattern.exec(this.#rest);
    if (match === null) return undefined;
    this.#rest = this.#rest.slice(match[0].length);
    return match[1];
  }
}
