/**
 * Expressions that only name a value, `{% $nodes.a.output %}` or `{% $run.input %}`, where the value may be of any size: in
 * the parameters of a node with `byReference`, and in the output of the run. They are not evaluated: the value as it
 * is stored, envelopes and all, takes their place afterwards, so that nothing of it has to be read.
 */

import type { PathSegment } from '#domain/definition-path.ts';
import { expressionsIn } from '#domain/expression.ts';
import type { Wanted } from '#domain/facts.ts';
import type { CompiledNode, CompiledPipeline } from '#domain/graph.ts';
import type { Json } from '#domain/json.ts';
import { PAYLOAD_LIMITS } from '#domain/payload-ref.ts';
import type { Binder } from './bindings.ts';
import { OutputUnavailable, readTooMuch } from './payloads.ts';

/** A template with nulls at the places of such expressions, and the JSON texts that belong there. */
export interface Placed {
  readonly template: Json;
  readonly places: readonly { readonly path: readonly PathSegment[]; readonly text: string }[];
}

const OUTPUT = /^\$nodes\.(?:`([^`]*)`|([A-Za-z_]\w*))\.output$/;
const INPUT = '$run.input';

/** Whether the function of a node takes large payloads by reference. */
export function takesReferences({ engine, params }: CompiledNode): boolean {
  return engine === 'lambda' && params['byReference'] === true;
}

/**
 * Takes such expressions out of a template, where that is allowed.
 * @throws OutputUnavailable where the texts themselves, references apart, are more than a pass can hold
 */
export async function placeReferences(
  binder: Binder,
  pipeline: CompiledPipeline,
  wanted: Wanted,
  template: Json,
): Promise<Placed> {
  const isRunOutput = wanted.what === 'output';
  const isAllowed =
    isRunOutput || (wanted.what === 'params' && takesReferences(pipeline.nodes[wanted.node] as CompiledNode));
  if (!isAllowed) return { template, places: [] };
  const places: { path: readonly PathSegment[]; text: string }[] = [];
  let length = 0;
  for (const { path, text: expression } of expressionsIn(template)) {
    const text = await namedValue(binder, pipeline, expression);
    if (text === undefined) continue;
    places.push({ path, text });
    length += text.length;
    if (length > PAYLOAD_LIMITS.read) throw new OutputUnavailable(readTooMuch('what is put together of outputs'));
  }
  return { template: places.reduce((value, { path }) => withValueAt(value, path, null), template), places };
}

async function namedValue(binder: Binder, pipeline: CompiledPipeline, expression: string): Promise<string | undefined> {
  if (expression === INPUT) return binder.input();
  const [, quoted, plain] = OUTPUT.exec(expression) ?? [];
  const index = pipeline.indexOf.get(quoted ?? plain ?? '');
  if (index === undefined) return undefined;
  const [node] = await binder.nodes([index]);
  return node?.output;
}

/** Puts the values in their places. */
export function putPlaced(value: Json, { places }: Placed): Json {
  return places.reduce((whole, { path, text }) => withValueAt(whole, path, JSON.parse(text) as Json), value);
}

function withValueAt(whole: Json, path: readonly PathSegment[], value: Json): Json {
  const [segment, ...rest] = path;
  if (segment === undefined) return value;
  const below = (member: Json | undefined) => withValueAt(member as Json, rest, value);
  if (Array.isArray(whole)) return whole.map((item, at) => (at === segment ? below(item) : item));
  const members = Object.entries(whole as { readonly [key: string]: Json });
  return Object.fromEntries(members.map(([key, member]) => [key, key === segment ? below(member) : member]));
}
