import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import { updateLines, watchedRun } from '../../src/cli/watched-run.ts';
import {
  ConnectionError,
  type MillraceClient,
  type NodeState,
  problems,
  type RunChange,
  type RunSnapshot,
} from '../../src/client/index.ts';

const snapshot = (state: string, nodes: Readonly<Record<string, NodeState>>) =>
  ({
    type: 'Snapshot',
    run: { state, reason: '' },
    nodes: Object.entries(nodes).map(([id, state]) => ({ id, state, reason: '' })),
  }) as unknown as RunSnapshot;
const change = (state: string, id: string, of: NodeState) =>
  ({ type: 'RunChanged', state, reason: '', nodes: [{ id, state: of, reason: 'X' }] }) as unknown as RunChange;

/** A client whose live updates end with an error, and that finds a run that is over when it looks. */
function clientRefusing(error: Error): MillraceClient {
  const run = { state: 'SUCCEEDED', reason: '' };
  return {
    live: {
      // biome-ignore lint/correctness/useYield: it is refused before it tells anything
      async *subscribe() {
        throw error;
      },
    },
    runs: {
      async *follow() {
        yield { run, entries: [] };
      },
    },
    nodes: { list: () => ({ all: async () => [{ id: 'a', state: 'SUCCEEDED', reason: '', attempt: 1 }] }) },
  } as unknown as MillraceClient;
}

async function told(error: Error): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const update of watchedRun(clientRefusing(error), 'r', new AbortController().signal)) all.push(update);
  return all;
}

const problem = { type: '', title: '', status: 503, detail: 'no', requestId: '' };

describe('a run that is watched', () => {
  it.each([
    ['the server has no live updates', new problems.LIVE_UPDATES_OFF({ ...problem, code: 'LIVE_UPDATES_OFF' })],
    ['no WebSocket comes through', new ConnectionError('nothing answers')],
  ])('is looked at where %s', async (_name, error) => {
    expect(await told(error)).toMatchObject([{ type: 'Snapshot', nodes: [{ id: 'a', state: 'SUCCEEDED' }] }]);
  });

  it('is refused as it would be elsewhere', async () => {
    const refusal = new problems.RUN_NOT_FOUND({ ...problem, status: 404, code: 'RUN_NOT_FOUND' });
    await expect(told(refusal)).rejects.toBe(refusal);
  });

  it('is shown by what is new alone', () => {
    const linesOf = updateLines(pc.createColors(false));
    expect(linesOf(snapshot('RUNNING', { a: 'RUNNING', b: 'PENDING' as NodeState }))).toEqual([
      '  RUNNING           a',
      '  PENDING           b',
      '  RUNNING           the run',
    ]);
    expect(linesOf(change('RUNNING', 'a', 'FAILED'))).toEqual(['  FAILED            a  X']);
    expect(linesOf(change('RUNNING', 'a', 'FAILED'))).toEqual([]);
    expect(linesOf(snapshot('FAILED', { b: 'PENDING' as NodeState }))).toEqual(['  FAILED            the run']);
  });
});
