import { createHash } from 'node:crypto';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';
import type { Json } from '#domain/json.ts';
import type { Bindings } from '#ports/index.ts';

/** Time and chance as one expression sees them: the same at every evaluation. */
export interface FixedSources {
  /** Ms since the epoch. */
  readonly now: number;
  /** From 0 up to 1, 1 not included. */
  random(): number;
}

/**
 * The variable under which our functions find {@link FixedSources}. No expression can name it: JSONata ends a variable's
 * name at a blank.
 */
export const SOURCES_VARIABLE = ' sources';

/** What an expression sees, by the names of its variables. */
export type ExpressionVariables = Record<string, unknown>;

/**
 * The variables of one expression. They are made anew for each, because JSONata changes what it is given: it adds items
 * to empty lists and marks to others, and a transform writes wherever its pattern points. Texts are parsed when they are
 * first read.
 *
 * @param place - index of the expression in its template, so that two expressions of one template draw different numbers
 */
export function variablesOf(bindings: Bindings, place: number): ExpressionVariables {
  const { input, ...plain } = bindings.run;
  const run = Object.assign(Object.create(null), plain);
  addLazily(run, 'input', input);
  const nodes = Object.create(null);
  for (const { id, state, output, error } of bindings.nodes) {
    const node = Object.assign(Object.create(null), { state, ...(error && { error: { ...error } }) });
    addLazily(node, 'output', output);
    nodes[id] = node;
  }
  const sources: FixedSources = { now: bindings.now, random: createRandom(`${bindings.seed}\n${place}`) };
  const { attempt, index } = bindings;
  const own = Object.assign(Object.create(null), { run, nodes, attempt, ...(index !== undefined && { index }) });
  addLazily(own, 'item', bindings.item);
  addLazily(own, 'output', bindings.output);
  return Object.assign(own, { [SOURCES_VARIABLE]: sources });
}

function addLazily(target: object, key: string, text: string | undefined) {
  if (text === undefined) return;
  const define = (descriptor: PropertyDescriptor) =>
    Object.defineProperty(target, key, { ...descriptor, enumerable: true, configurable: true });
  define({
    get() {
      const value = parseData(text);
      define({ value, writable: true });
      return value;
    },
  });
}

/** JSONata takes any object with one of these keys set to true for a function. */
const FUNCTION_MARKS = ['_jsonata_lambda', '_jsonata_function'] as const;

function parseData(text: string): Json {
  const value = JSON.parse(text) as Json;
  // A mark cannot hide from this: written without its plain name, it needs an escape.
  if (text.includes('_jsonata_') || text.includes('\\u')) refuseFunctionMarks(value);
  return value;
}

function refuseFunctionMarks(value: Json) {
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    for (const mark of FUNCTION_MARKS) {
      if ((next as Record<string, Json>)[mark] === true) {
        throw new Error(`it reads data with the key "${mark}", which JSONata keeps for itself`);
      }
    }
    for (const member of Object.values(next)) open.push(member);
  }
}

function createRandom(seed: string): () => number {
  let generator: ReturnType<typeof xoroshiro128plusFromState> | undefined;
  return () => {
    generator ??= xoroshiro128plusFromState(stateFrom(seed));
    return uniformFloat64(generator);
  };
}

function stateFrom(seed: string): number[] {
  const digest = createHash('sha256').update(seed).digest();
  return [0, 4, 8, 12].map((offset) => digest.readInt32LE(offset));
}
