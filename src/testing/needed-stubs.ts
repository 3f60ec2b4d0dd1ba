/** Whether everything that pipelines name is there, before anything runs. */
import { ENGINES_WITHOUT_CODE } from '#domain/built-in-engines.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import { isExpression } from '#domain/expression.ts';
import type { Json } from '#domain/json.ts';
import { listInWords } from '#domain/names-in-words.ts';
import type { Stubs } from './stub-calls.ts';

/** A pipeline names what nothing stands for. */
export class MissingStubError extends Error {
  /** What is missing, by what it is: `function "greet"`, `engine "spark"`, `pipeline "child"`. */
  readonly missing: readonly string[];

  constructor(missing: ReadonlyMap<string, readonly string[]>) {
    const lines = [...missing].map(([what, nodes]) => `  ${what}, needed by ${listInWords(nodes)}`);
    super(['nothing stands for:', ...lines].join('\n'));
    this.name = 'MissingStubError';
    this.missing = [...missing.keys()];
  }
}

/**
 * Checks that a stub stands for each function and engine that pipelines name, and that pipelines that they start are
 * there. What only an expression names is known when it is called.
 * @throws MissingStubError
 */
export function checkStubs(pipelines: readonly PipelineDefinition[], stubs: Stubs): void {
  const names = new Set(pipelines.map(({ name }) => name));
  const missing = new Map<string, string[]>();
  for (const { name, nodes } of pipelines) {
    for (const { id, engine = 'lambda', params = {} } of nodes) {
      const what = missingOf(engine, params['function'], params['pipeline'], { names, stubs });
      if (what !== undefined) missing.set(what, [...(missing.get(what) ?? []), names.size > 1 ? `${name}/${id}` : id]);
    }
  }
  if (missing.size > 0) throw new MissingStubError(missing);
}

function missingOf(
  engine: string,
  functionName: Json | undefined,
  pipeline: Json | undefined,
  { names, stubs }: { readonly names: ReadonlySet<string>; readonly stubs: Stubs },
): string | undefined {
  if (engine === 'pipeline') {
    const isThere = typeof pipeline !== 'string' || isExpression(pipeline) || names.has(pipeline);
    return isThere ? undefined : `pipeline ${JSON.stringify(pipeline)} (option children)`;
  }
  if (ENGINES_WITHOUT_CODE.has(engine) || stubs.engines.has(engine)) return undefined;
  if (engine !== 'lambda') return `engine ${JSON.stringify(engine)} (option engines)`;
  if (typeof functionName !== 'string' || isExpression(functionName) || stubs.functions.has(functionName))
    return undefined;
  return `function ${JSON.stringify(functionName)} (option functions)`;
}
