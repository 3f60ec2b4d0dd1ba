import { toText } from '#testing/faults.ts';
import type { World } from './world.ts';

/** A broken promise, with the schedule that broke it. */
export class InvariantError extends Error {
  constructor(world: World, what: string) {
    const faults = [...(world.faults.at ?? [])].map(([at, fault]) => `${at} ${toText(fault)}`).join(', ');
    const operations = world.trace.operations.map((operation, at) => `${at} ${operation}`).join('\n');
    super(`${world.scenario.name}: ${what}\nfaults: ${faults}\n${operations}`);
    this.name = 'InvariantError';
  }
}

/**
 * Asks for what must hold.
 * @throws InvariantError where it does not
 */
export function require(world: World, holds: boolean, what: () => string): void {
  if (!holds) throw new InvariantError(world, what());
}
