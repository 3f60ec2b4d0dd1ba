import { ownerOf } from './definition-checks.ts';
import { type ErrorList, type FoundError, quoted, shownValue, unknownParameter } from './definition-errors.ts';
import { memberOf } from './definition-json.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

const FIELDS = ['function', 'payload', 'byReference'] as const;
const FUNCTION_ALLOWED = 'the name or ARN of a Lambda function: a text, or an expression between {% and %}';

/**
 * Checks the parameters of the nodes of the engine `lambda`, which is that of every node that names none: without a
 * function the attempt could only fail, and a parameter that nobody reads is a mistyped one.
 * What the shape check refused already (nodes and `params` that are no objects) is passed over.
 */
export function checkLambdaNodes(nodes: readonly Json[], errors: ErrorList): void {
  for (const [position, node] of nodes.entries()) {
    if (!isJsonObject(node) || !isLambdaNode(node)) continue;
    const params = Object.hasOwn(node, 'params') ? memberOf(node, 'params') : {};
    if (isJsonObject(params)) checkParams({ node, position, params }, errors);
  }
}

function isLambdaNode(node: JsonObject): boolean {
  const engine = memberOf(node, 'engine');
  return engine === undefined || engine === 'lambda';
}

interface LambdaNode {
  readonly node: JsonObject;
  readonly position: number;
  readonly params: JsonObject;
}

function checkParams({ node, position, params }: LambdaNode, errors: ErrorList): void {
  const at = ['nodes', position, 'params'];
  const owner = ownerOf(node, position);
  const strangers = Object.keys(params)
    .filter((key) => !(FIELDS as readonly string[]).includes(key))
    .map((key) => unknownParameter({ at, owner, engine: 'lambda', key, value: params[key], known: FIELDS }));
  const name = memberOf(params, 'function');
  // One mistake is one error: the mistyped key says already where the function is.
  const isMistyped = name === undefined && strangers.some(({ suggestion }) => suggestion === 'function');
  const problem = isMistyped ? undefined : functionProblem(name, owner, memberOf(node, 'engine') === undefined);
  if (problem !== undefined) errors.add({ at: [...at, 'function'], ...problem });
  const byReference = memberOf(params, 'byReference');
  if (byReference !== undefined && typeof byReference !== 'boolean') {
    const message = `params.byReference of ${owner} must be true or false; it is read before expressions are`;
    const allowed = 'true or false';
    errors.add({ at: [...at, 'byReference'], code: 'INVALID_TYPE', message, value: byReference, allowed });
  }
  for (const stranger of strangers) errors.add(stranger);
}

function functionProblem(
  name: Json | undefined,
  owner: string,
  isByDefault: boolean,
): Omit<FoundError, 'at'> | undefined {
  const must = `must be ${FUNCTION_ALLOWED}`;
  const allowed = FUNCTION_ALLOWED;
  if (name === undefined) {
    const engine = isByDefault ? 'its engine is lambda, as it names no other' : 'its engine is lambda';
    const message = `params.function of ${owner} is missing; it ${must} (${engine})`;
    return { code: 'INVALID_TYPE', message, allowed };
  }
  if (typeof name !== 'string') {
    const found = JSON.stringify(shownValue(name));
    return {
      code: 'INVALID_TYPE',
      message: `params.function of ${owner} is ${found}; it ${must}`,
      value: name,
      allowed,
    };
  }
  if (name.trim() !== '') return undefined;
  const message = `params.function of ${owner} is ${quoted(name)}, a blank text; it ${must}`;
  return { code: 'INVALID_FIELD', message, value: name, allowed };
}
