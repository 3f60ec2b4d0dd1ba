import { MAX_PROMPT_LENGTH } from './built-in-engines.ts';
import { ownerOf } from './definition-checks.ts';
import { type ErrorList, unknownParameter } from './definition-errors.ts';
import { memberOf } from './definition-json.ts';
import type { PathSegment } from './definition-path.ts';
import { expressionsIn } from './expression.ts';
import { checkJsonSchema } from './input-schema.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

const PASS_FIELDS = ['output'] as const;
const APPROVAL_FIELDS = ['prompt', 'output'] as const;
const PROMPT_ALLOWED = `a text of 1 to ${MAX_PROMPT_LENGTH} characters, or an expression between {% and %}`;
const SCHEMA_ALLOWED = 'a JSON Schema (2020-12): an object without expressions';

/**
 * Checks the parameters of the nodes that the scheduler decides itself: engines `pass` and `approval`.
 * What the shape check refused already (nodes and `params` that are no objects) is passed over.
 */
export function checkEnginelessNodes(nodes: readonly Json[], errors: ErrorList): void {
  for (const [position, node] of nodes.entries()) {
    if (!isJsonObject(node)) continue;
    const engine = memberOf(node, 'engine');
    if (engine !== 'pass' && engine !== 'approval') continue;
    const params = Object.hasOwn(node, 'params') ? memberOf(node, 'params') : {};
    if (!isJsonObject(params)) continue;
    const at = ['nodes', position, 'params'];
    const owner = ownerOf(node, position);
    if (engine === 'approval') checkApproval(params, owner, at, errors);
    const known = engine === 'pass' ? PASS_FIELDS : APPROVAL_FIELDS;
    for (const key of Object.keys(params)) {
      if ((known as readonly string[]).includes(key)) continue;
      errors.add(unknownParameter({ at, owner, engine, key, value: params[key], known }));
    }
  }
}

function checkApproval(params: JsonObject, owner: string, at: readonly PathSegment[], errors: ErrorList): void {
  const prompt = memberOf(params, 'prompt');
  const must = `must be ${PROMPT_ALLOWED}`;
  if (typeof prompt !== 'string') {
    const what = prompt === undefined ? 'is missing; it' : 'is no text; it';
    const message = `params.prompt of ${owner} ${what} ${must}`;
    errors.add({ at: [...at, 'prompt'], code: 'INVALID_TYPE', message, value: prompt, allowed: PROMPT_ALLOWED });
  } else if (prompt.trim() === '' || (prompt.length > MAX_PROMPT_LENGTH && expressionsIn(prompt).length === 0)) {
    const message = `params.prompt of ${owner} ${must}`;
    errors.add({ at: [...at, 'prompt'], code: 'INVALID_FIELD', message, value: prompt, allowed: PROMPT_ALLOWED });
  }
  const schema = memberOf(params, 'output');
  if (schema === undefined) return;
  if (!isJsonObject(schema)) {
    const message = `params.output of ${owner} must be ${SCHEMA_ALLOWED}`;
    errors.add({ at: [...at, 'output'], code: 'INVALID_TYPE', message, value: schema, allowed: SCHEMA_ALLOWED });
    return;
  }
  const [expression] = expressionsIn(schema);
  if (expression) {
    const message = `params.output of ${owner} is a schema that is taken as it stands; there is an expression in it`;
    const where = [...at, 'output', ...expression.path];
    errors.add({ at: where, code: 'INVALID_SCHEMA', message, allowed: SCHEMA_ALLOWED });
    return;
  }
  checkJsonSchema(schema, [...at, 'output'], `the schema of the answer to ${owner}`, errors);
}
