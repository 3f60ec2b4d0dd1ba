/** Where an attempt of a node may start: on which engine, and with which slots. */
import type { Draft } from './draft.ts';
import type { CompiledNode } from './graph.ts';
import { limitName } from './limit.ts';
import type { NodeCode } from './node-status.ts';
import { keepSlots, limitFact, limitsOfNode, type Slots, slotsOf, wantSlots } from './run-limits.ts';

/** Where attempts of a node start. */
export interface Place {
  readonly machineArn: string;
  /** The limits that an attempt needs a slot of, in the order in which they are taken. */
  readonly slots: readonly Slots[];
  /** The status of a node that cannot start on it at all, whatever is free. */
  readonly closed?: undefined;
}

/** Whether a node needs anything that others may want too: a slot, or an engine that is not built in. */
export function needsPlace(draft: Draft, node: CompiledNode): boolean {
  return !draft.facts.engines.has(node.engine) || node.pool !== undefined;
}

/**
 * The place of a node. Nothing where a limit has to be read first; then the step is made again. A node whose engine
 * takes no work waits as one that wants a slot of it, and so is rung when that changes.
 */
export function findPlace(draft: Draft, node: CompiledNode): Place | { readonly closed: NodeCode } | undefined {
  const [, ...pools] = limitsOfNode(node);
  const engine = findEngine(draft, node);
  const isRead = pools.every((pool) => limitFact(draft, pool));
  if (!engine || !isRead) return undefined;
  if (engine.closed) return { closed: engine.closed };
  return { machineArn: engine.machineArn, slots: [...engine.slots, ...pools.map((pool) => slotsOf(draft, pool))] };
}

function findEngine(draft: Draft, node: CompiledNode): Place | { readonly closed: NodeCode } | undefined {
  const builtIn = draft.facts.engines.get(node.engine);
  if (builtIn) return { machineArn: builtIn.stateMachineArn, slots: [] };
  const limit = limitName('engine', node.engine);
  const fact = limitFact(draft, limit);
  if (!fact) return undefined;
  if (fact.status === 'open' && fact.stateMachineArn !== undefined) {
    return { machineArn: fact.stateMachineArn, slots: fact.isUnlimited ? [] : [slotsOf(draft, limit)] };
  }
  wantSlots(slotsOf(draft, limit), 1, node.priority);
  return { closed: fact.status === 'draining' ? 'g' : 'n' };
}

/**
 * Tells by its status what an attempt lacks to start, and asks for as many slots of it as could be used; slots of the
 * limits before it are kept, so that what waits for two limits is not overtaken for ever. Nothing where it may start.
 */
export function lackSlots(node: CompiledNode, { slots }: Place, count: number): NodeCode | undefined {
  const lacking = slots.findIndex(({ spare }) => spare <= 0);
  if (lacking < 0) return undefined;
  const wanted = slots[lacking] as Slots;
  for (const before of slots.slice(0, lacking)) keepSlots(before, count);
  wantSlots(wanted, count, node.priority);
  return wanted.limit.startsWith('pool/') ? 'o' : 'e';
}
