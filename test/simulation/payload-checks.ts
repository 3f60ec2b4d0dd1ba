/** Whether what nodes are given is what their upstreams gave, however large it is and whichever way it went. */
import { isDeepStrictEqual } from 'node:util';
import { parseExecutionName } from '#domain/execution-name.ts';
import { isJsonObject, type Json, type JsonObject } from '#domain/json.ts';
import { statusOf } from '#domain/node-status.ts';
import { PAYLOAD_LIMITS, replaceRefs } from '#domain/payload-ref.ts';
import { type PlayedRun, playedRun } from './chance.ts';
import { EARLY_RULES } from './final-invariants.ts';
import { require } from './invariant-error.ts';
import type { Plan, PlannedNode } from './plan.ts';
import { resultName } from './watched-runs.ts';
import type { World } from './world.ts';

/** Checks the inputs of all executions of a plan with large outputs. */
export function checkPayloads(plan: Plan, world: World): void {
  if (!plan.nodes.some(({ bulk }) => bulk)) return;
  const runs = new Map(world.runs.everAll().map((run) => [run.nonce, playedRun(world, plan, run)]));
  for (const [name, inputs] of world.trace.inputs) {
    const key = parseExecutionName('sim', name);
    const played = key && runs.get(key.nonce);
    if (!played) continue;
    const place = [...played.nodes.keys()].find((one) => played.indexOf(one) === key.node) as number;
    for (const input of inputs) checkInput(played, place, input);
  }
}

function checkInput(played: PlayedRun, place: number, input: string): void {
  const { world, nodes } = played;
  const bytes = Buffer.byteLength(input);
  require(world, bytes <= PAYLOAD_LIMITS.direct, () => `an input of n${place} is ${bytes} bytes long`);
  const { params } = JSON.parse(input) as { readonly params: JsonObject };
  const given = opened(world, params['payload'] as Json);
  const { upstreams, trigger } = nodes[place] as PlannedNode;
  const outputs = outputsIn(given, upstreams);
  for (const upstream of upstreams) {
    const expected = outputOf(played, upstream);
    const isEarly = EARLY_RULES.has(trigger) && !outputs.has(upstream);
    const found = outputs.get(upstream);
    require(world, isEarly || expected === undefined || isDeepStrictEqual(found, expected), () => {
      return `n${place} was given ${shown(found)} of n${upstream}, which gave ${shown(expected)}`;
    });
  }
}

function shown(value: Json | undefined): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}

/** A value with what is behind its envelopes in their place. */
function opened(world: World, value: Json): Json {
  return replaceRefs(value, ({ key }) => {
    const text = world.payloads.stored.get(key);
    require(world, text !== undefined, () => `${key} was handed on and is not there`);
    return opened(world, JSON.parse(text as string) as Json);
  });
}

/** The outputs in a payload: by upstream, in the bindings that an expression showed, or the payload itself. */
function outputsIn(given: Json, upstreams: readonly number[]): Map<number, Json> {
  if (isJsonObject(given) && isJsonObject(given['upstream'])) {
    return new Map(Object.entries(given['upstream']).map(([id, output]) => [placeOf(id), output as Json]));
  }
  if (isJsonObject(given) && Array.isArray(given['nodes'])) {
    const bound = given['nodes'] as { readonly id: string; readonly output?: string }[];
    return new Map(
      bound.flatMap(({ id, output }) => (output === undefined ? [] : [[placeOf(id), JSON.parse(output) as Json]])),
    );
  }
  return new Map(upstreams.map((upstream) => [upstream, given]));
}

const placeOf = (id: string) => Number(id.slice(1));

/** What a node gave that succeeded; nothing of a map, whose items are checked where they are put together. */
function outputOf({ world, run, nodes, indexOf }: PlayedRun, place: number): Json | undefined {
  const index = indexOf(place);
  const { map, retry } = nodes[place] as PlannedNode;
  if (map || statusOf(run.nodes.charCodeAt(index)).state !== 'SUCCEEDED') return undefined;
  for (let attempt = retry?.maxAttempts ?? 1; attempt > 0; attempt--) {
    const result = world.runs.results.get(resultName(run.nonce, { node: index, item: undefined, attempt }));
    if (result?.status === 'SUCCEEDED') return opened(world, JSON.parse(result.output ?? 'null') as Json);
  }
  return undefined;
}
