/**
 * Matchers for vitest, on import: `import 'millrace/testing/vitest'`. Where one does not match, its message says what
 * happened in the run.
 */
import { expect } from 'vitest';
import { countInWords } from '#domain/names-in-words.ts';
import type { NodeState } from '#domain/node-status.ts';
import type { Outcome } from './outcome.ts';

/** What may be expected of an outcome of `testPipeline`. */
export interface PipelineMatchers<R = void> {
  /** The run SUCCEEDED. */
  toHaveSucceeded(): R;
  /** The run FAILED; with a node id, it is that node's failure that failed it; with an error name, with that error. */
  toHaveFailed(node?: string, error?: string): R;
  /** The nodes that are named are in these states; the others in any. */
  toHaveNodeStates(states: Readonly<Record<string, NodeState>>): R;
  /** The node's stub was called so often, at least once where no number is given; items of a map count each. */
  toHaveStarted(node: string, times?: number): R;
}

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends PipelineMatchers<R> {}
}

interface Answer {
  readonly pass: boolean;
  readonly message: () => string;
}

function answer(outcome: Outcome, pass: boolean, expected: string): Answer {
  return { pass, message: () => `expected ${expected}${pass ? ' not to be so' : ''}\n\n${outcome.explain()}` };
}

expect.extend({
  toHaveSucceeded: (outcome: Outcome) => answer(outcome, outcome.state === 'SUCCEEDED', 'that the run succeeds'),
  toHaveFailed(outcome: Outcome, node?: string, error?: string) {
    const { state, error: told } = outcome;
    const isNode = node === undefined || told?.node === node;
    const isError = error === undefined || told?.name === error;
    const of = node === undefined ? '' : ` for its node ${JSON.stringify(node)}`;
    const by = error === undefined ? '' : ` with ${error}`;
    return answer(outcome, state === 'FAILED' && isNode && isError, `that the run fails${of}${by}`);
  },
  toHaveNodeStates(outcome: Outcome, states: Readonly<Record<string, NodeState>>) {
    const others = Object.entries(states).filter(([id, state]) => outcome.nodes[id]?.state !== state);
    const list = (others.length > 0 ? others : Object.entries(states)).map(([id, state]) => {
      return `${id} ${state}${outcome.nodes[id] ? '' : ' (there is no such node)'}`;
    });
    return answer(outcome, others.length === 0, `the nodes ${list.join(', ')}`);
  },
  toHaveStarted(outcome: Outcome, node: string, times?: number) {
    const count = outcome.starts.filter((start) => start.node === node).length;
    const isRight = times === undefined ? count > 0 : count === times;
    const wanted = times === undefined ? '' : ` ${countInWords(times, 'time')}`;
    return answer(
      outcome,
      isRight,
      `that node ${JSON.stringify(node)} starts${wanted} (it started ${countInWords(count, 'time')})`,
    );
  },
});
