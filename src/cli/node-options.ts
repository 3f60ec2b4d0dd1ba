import { InvalidArgumentError } from 'commander';
import { z } from 'zod';

/** Options whose values name nodes. An id may be any text, so a list of ids may be JSON too. */

const idsShape = z.array(z.string());
const MARK = /^(.+?)=(SUCCEEDED|FAILED|SKIPPED)(?::(.+))?$/isu;

/** Ids of nodes: `a,b`, or a JSON list of texts where an id has a comma. */
export function parseNodeIds(text: string): readonly string[] {
  if (!text.startsWith('[')) return text.split(',').map((id) => id.trim());
  try {
    return idsShape.parse(JSON.parse(text));
  } catch {
    throw new InvalidArgumentError('Ids of nodes are written a,b or ["a", "b"].');
  }
}

/** What a re-run begins from: `failed`, `all`, or ids of nodes. */
export function parseFrom(text: string): 'failed' | 'all' | readonly string[] {
  return text === 'failed' || text === 'all' ? text : parseNodeIds(text);
}

/** A node that is decided by hand, and the JSON of its output as it was given. */
export interface MarkOption {
  readonly node: string;
  readonly state: string;
  readonly output?: string;
}

/** Adds a `--mark`: `ID=STATE`, or `ID=SUCCEEDED:JSON`. */
export function collectMark(text: string, before: readonly MarkOption[] = []): readonly MarkOption[] {
  const [, node, state, output] = MARK.exec(text) ?? [];
  if (node === undefined || state === undefined) {
    throw new InvalidArgumentError('A mark is ID=SUCCEEDED, ID=SUCCEEDED:JSON, ID=FAILED or ID=SKIPPED.');
  }
  return [...before, { node, state: state.toUpperCase(), ...(output !== undefined && { output }) }];
}
