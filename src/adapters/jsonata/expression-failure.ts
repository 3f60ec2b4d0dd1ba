import type { ErrorInfo } from '#domain/run.ts';

const SHOWN_EXPRESSION = 200;
const SHOWN_PROBLEM = 800;

/** An expression or a template that has no value. Never leaves this folder: what is given on is its `info`. */
export class ExpressionFailure extends Error {
  readonly info: ErrorInfo;

  constructor(info: ErrorInfo) {
    super(info.message);
    this.name = 'ExpressionFailure';
    this.info = info;
  }
}

/** The error of an expression (without its `{% %}`): the expression, cut where it is long, and what is wrong with it. */
export function expressionError(text: string, problem: string): ErrorInfo {
  return {
    name: 'Millrace.ExpressionError',
    message: `{% ${cut(text, SHOWN_EXPRESSION)} %} ${cut(problem, SHOWN_PROBLEM)}`,
  };
}

/** The error of an expression that ran for too long. */
export function timeError(text: string, limitMs: number): ErrorInfo {
  return expressionError(text, `took longer than ${limitMs} ms`);
}

/** The error of an expression that used too much memory. */
export function memoryError(text: string, limitMebibytes: number): ErrorInfo {
  return expressionError(text, `needed more than ${limitMebibytes} MiB of memory`);
}

/** The error of a template whose value is too large; `size` says how large, as far as it is known. */
export function sizeError(limitBytes: number, size: string): ErrorInfo {
  return {
    name: 'Millrace.PayloadTooLarge',
    message: `the value is ${size} bytes of JSON; at most ${limitBytes} are possible`,
  };
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
