import jsonata from 'jsonata';
import { referencesOf } from '#domain/expression.ts';
import { ExpressionFailure, expressionError } from './expression-failure.ts';
import type { ExpressionLimits } from './expression-limits.ts';
import { describeMissingPath, variableNamesIn } from './expression-tree.ts';
import type { ExpressionVariables } from './expression-variables.ts';
import type { FunctionRecord, SandboxFunctions } from './sandbox-functions.ts';

/** An expression that was parsed once and can be evaluated often. */
export interface CompiledExpression {
  /** Gives whatever JSONata gives: `undefined`, lists with marks, functions. Fails with whatever JSONata throws. */
  evaluate(variables: ExpressionVariables): Promise<unknown>;
  /** Says which path leads nowhere; for an expression that gave `undefined`. */
  describeMissingPath(variables: ExpressionVariables): string | undefined;
}

/** How the evaluation of an expression is guarded, beside its limits. */
export interface CompilerOptions {
  readonly limits: ExpressionLimits;
  readonly functions: SandboxFunctions;
  /** Whether JSONata itself watches the time. It cannot where it is busy in one native call. */
  readonly watchTime: boolean;
}

/** Compiles expressions and keeps the most recent ones. */
export type Compiler = (text: string) => CompiledExpression;

const KEPT_EXPRESSIONS = 1000;

/** Makes a compiler; a syntax error is an {@link ExpressionFailure}. */
export function createCompiler(options: CompilerOptions): Compiler {
  const kept = new Map<string, CompiledExpression>();
  return (text) => {
    const known = kept.get(text);
    const expression = known ?? compile(text, options);
    if (known) kept.delete(text);
    else if (kept.size >= KEPT_EXPRESSIONS) kept.delete(kept.keys().next().value as string);
    kept.set(text, expression);
    return expression;
  };
}

function compile(text: string, { limits, functions, watchTime }: CompilerOptions): CompiledExpression {
  const { syntaxError } = referencesOf(text);
  if (syntaxError) {
    const { message, position } = syntaxError;
    const place = position > 0 ? ` (at position ${position})` : '';
    throw new ExpressionFailure(expressionError(text, `cannot be evaluated: ${message}${place}`));
  }
  const expression = jsonata(text, { stack: limits.callDepth, ...(watchTime && { timeout: limits.expressionMs }) });
  for (const name of functions.replaced) expression.assign(name, functions.find(name));
  assignHook(expression, AFTER_EACH_STEP, (_node, _input, _environment, result) => refuseLarge(result, limits));
  const tree = expression.ast();
  const called = [...variableNamesIn(tree)].map(functions.find).filter((found) => found !== undefined);
  return {
    evaluate(variables) {
      forgetCallers(called);
      return expression.evaluate(undefined, variables);
    },
    describeMissingPath: (variables) =>
      describeMissingPath(tree, variables, (name) => functions.find(name) !== undefined),
  };
}

/** JSONata calls what is bound to this symbol after each step of an evaluation. */
const AFTER_EACH_STEP = Symbol.for('jsonata.__evaluate_exit');

type StepHook = (node: unknown, input: unknown, environment: unknown, result: unknown) => void;

function assignHook(expression: jsonata.Expression, symbol: symbol, hook: StepHook) {
  // JSONata binds names and symbols alike, its types know names only.
  expression.assign(symbol as unknown as string, hook);
}

function refuseLarge(result: unknown, limits: ExpressionLimits) {
  if (typeof result === 'string' && result.length > limits.textLength) {
    throw new Error(`it makes a text of ${result.length} characters; at most ${limits.textLength} are possible`);
  }
  if (Array.isArray(result) && result.length > limits.listLength) {
    throw new Error(`it makes a list of ${result.length} items; at most ${limits.listLength} are possible`);
  }
}

/** JSONata's functions outlive an evaluation and remember who called them, which would show in the next one's errors. */
function forgetCallers(functions: readonly FunctionRecord[]) {
  for (const called of functions) {
    called.position = undefined;
    called.token = undefined;
  }
}
