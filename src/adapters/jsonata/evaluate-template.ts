import type { JsonataError } from 'jsonata';
import { expressionText, isExpression } from '#domain/expression.ts';
import type { Evaluation } from '#domain/facts.ts';
import type { Json } from '#domain/json.ts';
import type { ErrorInfo } from '#domain/run.ts';
import type { Bindings, EvaluationRequest, Evaluator } from '#ports/index.ts';
import { type Compiler, createCompiler } from './compiled-expression.ts';
import { ExpressionFailure, expressionError, sizeError, timeError } from './expression-failure.ts';
import { EXPRESSION_SANDBOX_LIMITS, type ExpressionLimits } from './expression-limits.ts';
import { variablesOf } from './expression-variables.ts';
import { createJsonCopier, type JsonCopier } from './json-value.ts';
import { createSandboxFunctions } from './sandbox-functions.ts';

/** What a template came to: its JSON text, or why it has none. */
export type TemplateAnswer =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: ErrorInfo };

/** Evaluates one template; `begin` is told each expression's index before it starts. Never throws. */
export type TemplateEvaluator = (
  request: EvaluationRequest,
  begin?: (place: number) => void,
) => Promise<TemplateAnswer>;

/** How templates are evaluated. */
export interface TemplateEvaluatorOptions {
  /** @default EXPRESSION_SANDBOX_LIMITS */
  readonly limits?: Partial<ExpressionLimits>;
  /** Whether JSONata watches the time itself: for places where nobody else does. @default false */
  readonly watchTime?: boolean;
}

/** Makes the evaluator of templates that the worker and tests share. */
export async function createTemplateEvaluator(options: TemplateEvaluatorOptions = {}): Promise<TemplateEvaluator> {
  const limits = { ...EXPRESSION_SANDBOX_LIMITS, ...options.limits };
  const functions = await createSandboxFunctions(limits);
  const compiler = createCompiler({ limits, functions, watchTime: options.watchTime ?? false });
  return async ({ template, bindings }, begin) => {
    const evaluation = { bindings, limits, compiler, copier: createJsonCopier(limits), begin, place: 0 };
    try {
      const text = JSON.stringify(await fill(evaluation, template, 0));
      const bytes = Buffer.byteLength(text);
      return bytes > limits.valueBytes
        ? { ok: false, error: sizeError(limits.valueBytes, String(bytes)) }
        : { ok: true, text };
    } catch (error) {
      if (error instanceof ExpressionFailure) return { ok: false, error: error.info };
      throw error;
    }
  };
}

/**
 * An evaluator in the caller's own thread, for tests and simulations: it cannot interrupt a native call, such as a
 * regular expression gone wild, and knows no limit of memory.
 */
export function createInlineEvaluator(options: Pick<TemplateEvaluatorOptions, 'limits'> = {}): Evaluator {
  let evaluator: Promise<TemplateEvaluator> | undefined;
  return {
    async evaluate(requests, budgetMs) {
      evaluator ??= createTemplateEvaluator({ ...options, watchTime: true });
      const evaluate = await evaluator;
      const start = performance.now();
      const answers: (Evaluation | undefined)[] = requests.map(() => undefined);
      for (const [index, request] of requests.entries()) {
        if (performance.now() - start >= budgetMs) break;
        answers[index] = toEvaluation(await evaluate(request));
      }
      return answers;
    },
  };
}

/** An answer as the port gives it on. */
export function toEvaluation(answer: TemplateAnswer): Evaluation {
  return answer.ok ? { ok: true, value: JSON.parse(answer.text) as Json } : answer;
}

interface TemplateEvaluation {
  readonly bindings: Bindings;
  readonly limits: ExpressionLimits;
  readonly compiler: Compiler;
  readonly copier: JsonCopier;
  readonly begin: ((place: number) => void) | undefined;
  /** Index of the next expression. */
  place: number;
}

async function fill(evaluation: TemplateEvaluation, template: Json, depth: number): Promise<Json> {
  if (typeof template === 'string' && isExpression(template)) {
    return evaluateExpression(evaluation, expressionText(template), depth);
  }
  if (typeof template !== 'object' || template === null) return template;
  if (depth >= evaluation.limits.valueDepth) {
    const message = `the template is nested more than ${evaluation.limits.valueDepth} levels deep`;
    throw new ExpressionFailure({ name: 'Millrace.ExpressionError', message });
  }
  if (Array.isArray(template)) {
    const items: Json[] = [];
    for (const item of template) items.push(await fill(evaluation, item, depth + 1));
    return items;
  }
  const members: [string, Json][] = [];
  for (const [key, member] of Object.entries(template)) members.push([key, await fill(evaluation, member, depth + 1)]);
  return Object.fromEntries(members);
}

async function evaluateExpression(evaluation: TemplateEvaluation, text: string, depth: number): Promise<Json> {
  const { bindings, limits, copier } = evaluation;
  const place = evaluation.place++;
  evaluation.begin?.(place);
  try {
    const expression = evaluation.compiler(text);
    const value = await expression.evaluate(variablesOf(bindings, place));
    if (value === undefined) throw noValue(text, expression.describeMissingPath(variablesOf(bindings, place)));
    return copier.copy(text, value, depth);
  } catch (error) {
    if (error instanceof ExpressionFailure) throw error;
    throw new ExpressionFailure(describeError(text, error, limits));
  }
}

function noValue(text: string, missing: string | undefined): ExpressionFailure {
  return new ExpressionFailure(
    expressionError(text, missing === undefined ? 'gives no value' : `gives no value: ${missing}`),
  );
}

/** JSONata throws objects with a code, a place and a message; what else comes is JavaScript's own. */
function describeError(text: string, error: unknown, limits: ExpressionLimits): ErrorInfo {
  const { code, position, token, message } = (error ?? {}) as Partial<JsonataError>;
  if (code === 'D1012') return timeError(text, limits.expressionMs);
  const facts = [code, position !== undefined && `at position ${position}`, token && `near "${token}"`].filter(Boolean);
  const place = facts.length > 0 ? ` (${facts.join(' ')})` : '';
  return expressionError(text, `fails: ${message ?? 'unknown error'}${place}`);
}
