import type { DueThing } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';

/** The pass over what is no run: a limit or a pipeline. */
export async function workThing(_deps: PassDeps, _thing: DueThing): Promise<void> {}
