import { describe, expect, it } from 'vitest';
import type { CommandAnswer, Explanation, HistoryEntry, Pipeline, Run, RunLine, RunNode } from '#client/index.ts';
import { planLines } from '../../src/cli/backfill-command.ts';
import { commandLine } from '../../src/cli/control-commands.ts';
import { explanationLines } from '../../src/cli/explain-command.ts';
import { historyLines } from '../../src/cli/history-command.ts';
import { nodeTable } from '../../src/cli/node-table.ts';
import { pipelineLines, pipelineTable } from '../../src/cli/pipelines-command.ts';
import { runTable } from '../../src/cli/runs-command.ts';
import { statusLines } from '../../src/cli/status-command.ts';
import { as, screen } from './cli-capture.ts';

const START = Date.parse('2026-11-30T12:00:00.000Z');
const at = (ms: number) => new Date(START + ms).toISOString();

const run = {
  id: '4nwee6vv6paa4bafu3kgiuidb3',
  pipeline: 'etl',
  revision: '36dae392cd88deeb',
  state: 'RUNNING',
  reason: 'Executing',
  message: '1 of 3 nodes are over.',
  since: at(0),
  input: {},
  createdAt: at(0),
  startedAt: at(5),
  trigger: { type: 'api', by: 'ada' },
  tags: { team: 'data' },
  progress: 0.3,
  counts: { SUCCEEDED: 1, RUNNING: 1, PENDING: 1 },
  rev: 3,
  somethingNew: 'of a later version',
};
const node = { reason: 'Completed', message: 'Succeeded.', since: at(0), attempt: 1, engine: 'lambda' };
const nodes = [
  { ...node, id: 'extract', state: 'SUCCEEDED', startedAt: at(10), endedAt: at(250) },
  {
    ...node,
    id: 'load',
    state: 'RUNNING',
    reason: 'Executing',
    message: 'Attempt 2 runs.',
    attempt: 2,
    startedAt: at(260),
  },
  {
    ...node,
    id: 'tidy',
    state: 'PENDING',
    reason: 'UpstreamPending',
    message: 'Waits for its upstream "load".',
    attempt: 0,
  },
].map((one) => as<RunNode>(one));

describe('statusLines', () => {
  it('shows a run under way with its nodes', () => {
    const lines = statusLines(as<Run>(run), nodes, screen(START + 3_260));
    expect(lines).toEqual([
      'etl  run 4nwee6vv6paa4bafu3kgiuidb3  revision 36dae392cd88deeb',
      '  RUNNING for 3 s: 1 of 3 nodes are over.',
      expect.stringMatching(/^ {2}started 3 s ago \(.+\), trigger api by ada$/),
      '  tags team:data',
      '  3 nodes: 1 SUCCEEDED, 1 RUNNING, 1 PENDING',
      '',
      '  node      state       attempts     took',
      '  extract   SUCCEEDED          1   240 ms',
      '  load      RUNNING            2   3.00 s   Attempt 2 runs.',
      '  tidy      PENDING                         Waits for its upstream "load".',
      '',
      '  `millrace explain 4nwee6vv6paa4bafu3kgiuidb3` says what each unfinished node waits for',
    ]);
  });

  it('shows the end of a run and its output, whatever is in it', () => {
    const over = {
      ...run,
      state: 'FAILED',
      message: 'Node "x" failed: \u001B[31mError\nat line 2',
      endedAt: at(62_000),
      output: { a: 'b\u0007' },
    };
    const lines = statusLines(as<Run>(over), [], screen(START + 90_000));
    expect(lines).toContain('  FAILED after 1 min 2 s: Node "x" failed: Error at line 2');
    expect(lines.at(-1)).toBe('  output {"a":"b\\u0007"}');
    expect(lines.join('')).not.toMatch(/explain/);
  });
});

describe('nodeTable', () => {
  it('shows of a wide run what is bad, what is under way and what took longest', () => {
    const many = Array.from({ length: 1000 }, (_, index) => {
      const state = index === 500 ? 'FAILED' : index === 700 ? 'RUNNING' : index < 900 ? 'SUCCEEDED' : 'PENDING';
      const times =
        index < 900 ? { startedAt: at(0), ...(state !== 'RUNNING' && { endedAt: at(index === 5 ? 9000 : 10) }) } : {};
      return as<RunNode>({ ...node, id: `n${index}`, state, ...times });
    });
    const lines = nodeTable(many, screen(START + 100));
    expect(lines.length).toBeLessThan(25);
    for (const id of ['n5', 'n500', 'n700']) expect(lines.join('\n')).toMatch(new RegExp(`^ {2}${id} `, 'm'));
    expect(lines.at(-1)).toMatch(/^ {2}and \d+ more; --json has them all$/);
  });
});

describe('maps', () => {
  const mapNode = (state: string, counts: Record<string, number>, more: object = {}) =>
    as<RunNode>({ ...node, id: 'm', attempt: 0, state, map: { total: 100, counts }, ...more });
  const rowOf = (shape: ReturnType<typeof mapNode>) => nodeTable([shape], screen(START + 5_000)).at(-1);

  it('are one row each, with how far they are', () => {
    const counts = { SUCCEEDED: 36, FAILED: 2, RUNNING: 20, PENDING: 42 };
    expect(rowOf(mapNode('RUNNING', counts, { startedAt: at(0) }))).toBe(
      '  m      RUNNING              5.00 s   38/100 items, 2 failed',
    );
    expect(rowOf(mapNode('SUCCEEDED', { SUCCEEDED: 100 }))).toBe(
      '  m      SUCCEEDED                     100/100 items',
    );
    const error = { name: 'Millrace.ItemsFailed', message: 'item 2: Broken: told so (1 of 100 items failed, 0 may)' };
    expect(rowOf(mapNode('FAILED', { SUCCEEDED: 2, FAILED: 1, ABORTED: 97 }, { error }))).toBe(
      '  m      FAILED                     3/100 items, 1 failed: Millrace.ItemsFailed: item 2: Broken: told so (1 of 100 items failed, 0 may)'
        .slice(0, 119)
        .concat('…'),
    );
  });

  it('name their items by ranges in the history', () => {
    const entries = [
      { at: at(0), rev: 2, node: 'm', state: 'RUNNING', reason: 'Executing', attempt: 1, items: [0, 1, 2, 5] },
      { at: at(9), rev: 3, node: 'm', state: 'SUCCEEDED', reason: 'Completed', attempt: 1, items: [1] },
      { at: at(9), rev: 3, node: 'm', state: 'SUCCEEDED', reason: 'Completed', attempt: 1, items: [0, 2, 4, 6, 8, 10] },
      { at: at(9), rev: 3, node: 'b', state: 'SUCCEEDED', reason: 'Completed', attempt: 1, branch: { chosen: ['c'] } },
    ].map((entry) => as<HistoryEntry>(entry));
    const lines = historyLines(entries, screen());
    expect(lines.slice(2).map((line) => line.slice(line.indexOf('1   ', 30) + 4))).toEqual([
      'items 0–2, 5',
      'item 1',
      'items 0, 2, 4, 6, 8, … 6 in all',
      'chose c',
    ]);
  });
});

describe('runTable', () => {
  it('lists runs with their age and who started them', () => {
    const line = { ...run, startedAt: at(500), endedAt: at(62_500), state: 'SUCCEEDED' };
    expect(runTable([as<RunLine>(line)], screen(START + 120_000))).toEqual([
      '  run                          pipeline   state       started          took   by',
      '  4nwee6vv6paa4bafu3kgiuidb3   etl        SUCCEEDED   2 min ago   1 min 2 s   api ada team:data',
    ]);
    expect(runTable([], screen())).toEqual(['No runs.']);
  });
});

describe('pipelineTable and pipelineLines', () => {
  const pipeline = as<Pipeline>({
    name: 'etl',
    revision: '36dae392cd88deeb',
    paused: false,
    createdAt: at(-60_000),
    updatedAt: at(0),
    definition: { description: 'Nightly\nload', nodes: [{ id: 'a' }, { id: 'b', engine: 'spark', dependsOn: ['a'] }] },
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason: 'NoEngine',
        message: 'no engines available to handle pipeline: b needs spark',
        lastTransitionTime: at(0),
        observedRevision: '36dae392cd88deeb',
      },
    ],
  });

  it('lists pipelines', () => {
    expect(pipelineTable([pipeline, { ...pipeline, name: 'other', paused: true }], screen(START + 1500))).toEqual([
      '  pipeline   revision           changed   made',
      '  etl        36dae392cd88deeb   1 s ago   1 min 1 s ago   NoEngine',
      '  other      36dae392cd88deeb   1 s ago   1 min 1 s ago   paused, NoEngine',
    ]);
    expect(pipelineTable([], screen())).toEqual([expect.stringMatching(/^No pipelines\. `millrace run FILE/)]);
  });

  it('says whether a pipeline is ready, and why not', () => {
    expect(pipelineLines(pipeline, screen(START + 1500))).toEqual([
      'etl  revision 36dae392cd88deeb',
      '  Nightly load',
      '  2 nodes, 1 edge, engines lambda, spark',
      expect.stringMatching(/^ {2}changed 1 s ago \(.+\)$/),
      '  Ready=False (NoEngine): no engines available to handle pipeline: b needs spark',
    ]);
  });

  it('says when a pipeline runs next, what it refused and which backfills are under way', () => {
    const instant = new Date(START).toISOString();
    const range = { from: instant, to: instant, direction: 'forward', maxActiveRuns: 2, total: 6, started: 1 };
    const scheduled = as<Pipeline>({
      ...pipeline,
      paused: true,
      pausedBy: 'ann',
      createdAt: at(0),
      updatedAt: at(0),
      conditions: [],
      nextInstants: [{ entry: 'nightly', instant }],
      rejectedStarts: [{ entry: 'weekly', instant, message: 'no day' }],
      backfills: [{ id: '0123456789abcdef', ...range }],
    });
    expect(pipelineLines(scheduled, screen()).slice(4)).toEqual([
      expect.stringMatching(/^ {2}next .+ \(nightly\)$/),
      expect.stringMatching(/^ {2}refused .+ \(weekly\): no day$/),
      `  backfill 0123456789abcdef: 1 of 6 runs started, ${instant} to ${instant}, forward, 2 at once`,
    ]);
    expect(pipelineLines(scheduled, screen())[0]).toContain('paused by ann');
    expect(planLines({ instants: [{ entry: 'nightly', instant }] })[1]).toBe(`  ${instant} (nightly)`);
  });
});

describe('explanationLines', () => {
  const head = { id: run.id, state: 'RUNNING', reason: 'Executing', message: '1 of 3 nodes are over.', since: at(0) };

  it('says of each unfinished node why, since when and what moves it', () => {
    const item = {
      id: 'load',
      state: 'RETRY_WAIT',
      reason: 'RetryScheduled',
      message: 'Attempt 1 failed.',
      since: at(0),
      movedBy: 'Its next attempt.',
    };
    const explanation = as<Explanation>({ run: head, items: [item], nextCursor: 'abc' });
    expect(explanationLines(explanation, screen(START + 2000))).toEqual([
      'Run 4nwee6vv6paa4bafu3kgiuidb3 is RUNNING (Executing): 1 of 3 nodes are over.',
      '',
      '  load  RETRY_WAIT (RetryScheduled) for 2 s',
      '    Attempt 1 failed.',
      '    → Its next attempt.',
      '',
      '  There are more: add --cursor abc',
    ]);
  });

  it('says what moves a run that waits as a whole', () => {
    const waits = { ...head, state: 'QUEUED', reason: 'ActiveRunsLimit', movedBy: 'The end of a run.' };
    const explanation = as<Explanation>({ run: waits, items: [] });
    expect(explanationLines(explanation, screen())[1]).toBe('  → The end of a run.');
  });

  it('says of a finished run that nothing waits', () => {
    const explanation = as<Explanation>({ run: { ...head, state: 'SUCCEEDED' }, items: [] });
    expect(explanationLines(explanation, screen())).toContain('  It is over; nothing waits.');
  });
});

describe('historyLines', () => {
  it('tells what happened in order', () => {
    const entries = [
      { at: at(0), rev: 1, state: 'QUEUED', reason: 'Starting', by: 'ada' },
      {
        at: at(1234),
        rev: 2,
        node: 'load',
        state: 'FAILED',
        reason: 'NodeFailed',
        attempt: 2,
        error: { name: 'E', message: 'no\nway' },
      },
    ].map((entry) => as<HistoryEntry>(entry));
    expect(historyLines(entries, screen())).toEqual([
      expect.stringMatching(/^From .+:$/),
      '    after   rev   node        state    reason       attempt',
      '  0.000 s     1   (the run)   QUEUED   Starting               by ada',
      '  1.234 s     2   load        FAILED   NodeFailed         2   E: no way',
    ]);
    expect(historyLines([], screen())).toEqual(['Nothing has happened yet.']);
  });
});

describe('commandLine', () => {
  it('says what became of the stop', () => {
    const stopped = as<CommandAnswer>({
      outcome: 'ACCEPTED',
      message: 'Nothing of the run starts from now on.',
      run: { ...run, state: 'STOPPING' },
    });
    expect(commandLine(stopped, screen().style)).toBe(
      'Run 4nwee6vv6paa4bafu3kgiuidb3 is STOPPING: Nothing of the run starts from now on.',
    );
  });
});
