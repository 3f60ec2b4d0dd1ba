/** `millrace/function`: what the code of a node's Lambda function uses. */
export { defineFunction, type FunctionCode, type FunctionHandler } from './define-function.ts';
export { reportProgress } from './report-progress.ts';
export type { LambdaContext, RunContext } from './run-context.ts';
