import { idOf } from './definition-checks.ts';
import { type ErrorList, nearMiss, quoted } from './definition-errors.ts';
import { memberOf } from './definition-json.ts';
import { isExpression } from './expression.ts';
import { isJsonObject, type Json } from './json.ts';

const FIELDS = ['pipeline', 'input', 'revision'] as const;

/**
 * Checks the nodes of the engine `pipeline`: which pipeline they start, and that it is not their own. One that starts
 * itself by an expression, or through others, is ended by the limit of depth.
 */
export function checkPipelineNodes(definition: Json, nodes: readonly Json[], errors: ErrorList): void {
  const own = memberOf(definition, 'name');
  for (const [position, node] of nodes.entries()) {
    if (memberOf(node, 'engine') === 'pipeline') checkPipelineNode(node, position, own, errors);
  }
}

function checkPipelineNode(node: Json, position: number, own: Json | undefined, errors: ErrorList): void {
  const params = memberOf(node, 'params');
  const at = ['nodes', position, 'params'];
  const owner = `node ${quoted(idOf(node) ?? '')}`;
  const name = memberOf(params, 'pipeline');
  if (typeof name !== 'string') {
    const message = `params.pipeline of ${owner} must name the pipeline that it starts`;
    errors.add({ at: [...at, 'pipeline'], code: 'INVALID_TYPE', message, value: name, allowed: 'text' });
  } else if (name === own && !isExpression(name)) {
    const message = `${owner} starts its own pipeline ${quoted(name)}`;
    errors.add({ at: [...at, 'pipeline'], code: 'SELF_START', message, value: name, allowed: 'another pipeline' });
  }
  for (const key of isJsonObject(params) ? Object.keys(params) : []) {
    if ((FIELDS as readonly string[]).includes(key)) continue;
    const suggestion = nearMiss(key, FIELDS);
    const hint = suggestion === undefined ? '' : `; did you mean ${quoted(suggestion)}?`;
    const message = `${quoted(key)} is no parameter of the engine pipeline, in ${owner}${hint}`;
    const allowed = FIELDS.join(' | ');
    errors.add({
      at: [...at, key],
      code: 'UNKNOWN_FIELD',
      message,
      allowed,
      ...(suggestion !== undefined && { suggestion }),
    });
  }
}
