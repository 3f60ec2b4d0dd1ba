import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import type { HistoryEntry, Run, RunNode } from '#client/index.ts';
import type { CliContext } from '../../src/cli/context.ts';
import { hopFigures, hopsOf } from '../../src/cli/hops.ts';
import { liveView } from '../../src/cli/live-view.ts';
import { progressLines } from '../../src/cli/plain-progress.ts';
import { applyHistory, blankPicture } from '../../src/cli/run-picture.ts';
import { createProgress } from '../../src/cli/run-progress.ts';
import { summaryLines } from '../../src/cli/run-summary.ts';
import { as, captureOutput, screen } from './cli-capture.ts';

const START = Date.parse('2026-11-30T12:00:00.000Z');
const at = (ms: number) => new Date(START + ms).toISOString();

function runIn(state: string, counts: Record<string, number>, more: object = {}) {
  return as<Run>({
    id: 'r',
    pipeline: 'etl',
    revision: '1',
    state,
    reason: 'Executing',
    message: 'So it is.',
    since: at(0),
    createdAt: at(0),
    trigger: { type: 'api' },
    tags: {},
    counts,
    rev: 1,
    ...more,
  });
}

function entry(ms: number, node: string | undefined, state: string, more: object = {}): HistoryEntry {
  return as<HistoryEntry>({
    at: at(ms),
    rev: 1,
    ...(node !== undefined && { node }),
    state,
    reason: 'Completed',
    ...more,
  });
}

const definition = [
  { id: 'a' },
  { id: 'b', dependsOn: ['a'] },
  { id: 'c', dependsOn: ['a', 'b'] },
  { id: 'd', dependsOn: ['c'] },
];
const failure = { error: { name: 'Boom', message: 'no\nway' } };
const happened = [
  entry(0, undefined, 'RUNNING'),
  entry(20, 'a', 'RUNNING', { attempt: 1 }),
  entry(120, 'a', 'RETRY_WAIT', { attempt: 1, reason: 'RetryScheduled', ...failure }),
  entry(1120, 'a', 'RUNNING', { attempt: 2 }),
  entry(1220, 'a', 'SUCCEEDED', { attempt: 2 }),
  entry(1220, 'b', 'RUNNING', { attempt: 1 }),
];

describe('progressLines', () => {
  it('writes a line for what is worth telling', () => {
    const picture = blankPicture(definition, START);
    applyHistory(picture, [...happened, entry(1230, 'd', 'SKIPPED', { reason: 'ConditionFalse' })]);
    const told = [...happened, entry(1225, 'c', 'QUEUED'), entry(1230, 'd', 'SKIPPED', { reason: 'ConditionFalse' })];
    expect(progressLines(told, picture, { begun: START, style: screen().style }).map((line) => line.trimEnd())).toEqual(
      [
        '   0.02 s  a  RUNNING',
        '   0.12 s  a  RETRY_WAIT  attempt 1 failed: Boom: no way',
        '   1.12 s  a  RUNNING     attempt 2',
        '   1.22 s  a  SUCCEEDED   1.20 s, attempt 2',
        '   1.22 s  b  RUNNING',
        '   1.23 s  d  SKIPPED     ConditionFalse',
      ],
    );
  });
});

describe('a run that waits as a whole', () => {
  const message = 'Waits for a slot of engine "slow": the only one is taken by run x.';
  const waiting = { reason: 'EngineFull', message };

  it('says so above its bar, in one line', () => {
    const run = runIn('RUNNING', { QUEUED: 4 }, waiting);
    const lines = liveView(run, blankPicture(definition, START), screen(START, { columns: 40 })).split('\n');
    expect(lines.at(-2)).toBe('  Waits for a slot of engine "slow": t…');
    expect(liveView(runIn('RUNNING', {}), blankPicture([], START), screen())).not.toContain('So it is.');
  });

  it('tells of the nodes that wait for a limit, and not of those that wait for their turn in the run', () => {
    const picture = blankPicture(definition, START);
    const told = [
      entry(5, 'a', 'QUEUED', { reason: 'RunLimit' }),
      entry(10, 'b', 'QUEUED', { reason: 'PoolFull', attempt: 0 }),
    ];
    expect(progressLines(told, picture, { begun: START, style: screen().style })).toEqual([
      '   0.01 s  b  QUEUED      PoolFull',
    ]);
  });
});

describe('liveView', () => {
  it('shows each node with what it does or waits for', () => {
    const picture = blankPicture(definition, START);
    applyHistory(picture, happened);
    const run = runIn('RUNNING', { SUCCEEDED: 1, RUNNING: 1, PENDING: 2 });
    expect(liveView(run, picture, screen(START + 2220)).split('\n')).toEqual([
      '  node   state',
      '  a      ✔ SUCCEEDED   1.20 s, attempt 2',
      '  b      ● RUNNING     1.00 s',
      '  c      · PENDING     waits for b',
      '  d      · PENDING     waits for c',
      '  ━━━━━━━━━━━━━━━━━━━━━━━━ 1/4  1 SUCCEEDED, 1 RUNNING, 2 PENDING  2.22 s',
    ]);
  });

  it('fits on the screen: what is under way or failed comes first, in the order of the definition', () => {
    const wide = Array.from({ length: 150 }, (_, index) => ({ id: `n${index}` }));
    const picture = blankPicture(wide, START);
    applyHistory(picture, [
      ...Array.from({ length: 100 }, (_, index) => entry(index, `n${index}`, 'SUCCEEDED')),
      entry(200, 'n120', 'RUNNING', { attempt: 1 }),
      entry(150, 'n110', 'FAILED', { attempt: 1, ...failure }),
    ]);
    const lines = liveView(runIn('RUNNING', { RUNNING: 1 }), picture, screen(START, { columns: 40, rows: 10 })).split(
      '\n',
    );
    expect(lines).toHaveLength(9);
    expect(lines.slice(1, 7).map((line) => line.trim().split(' ')[0])).toEqual([
      'n96',
      'n97',
      'n98',
      'n99',
      'n110',
      'n120',
    ]);
    expect(lines.at(-2)).toBe('  and 144 more');
    for (const line of lines.slice(0, -1)) expect(line.length).toBeLessThan(40);
  });
});

describe('a narrow terminal', () => {
  it.each([8, 12, 20, 30, 36, 50, 79])('of %i columns is not left by any line', (columns) => {
    const wide = [{ id: 'a-node-with-a-name-that-is-rather-long' }, { id: '名前の長いノード', dependsOn: ['a'] }];
    const picture = blankPicture(wide, START);
    applyHistory(picture, [entry(5, wide[0]?.id, 'RETRY_WAIT', { attempt: 3, reason: 'RetryScheduled', ...failure })]);
    const counts = { SUCCEEDED: 1000, FAILED: 20, RUNNING: 300, RETRY_WAIT: 4, QUEUED: 5, PENDING: 6000 };
    const waiting = { reason: 'EngineFull', message: 'Waits for a slot of engine "slow": the only one is taken.' };
    const shown = liveView(
      runIn('RUNNING', counts, waiting),
      picture,
      screen(START + 3_600_000, { columns, rows: 10 }),
    );
    for (const line of shown.split('\n')) expect(stringWidth(line), line).toBeLessThan(columns);
  });
});

describe('createProgress', () => {
  const contextOf = (captured: ReturnType<typeof captureOutput>, clock: { now: number }): CliContext => ({
    output: captured.output,
    env: {},
    cwd: '/',
    now: () => clock.now,
    exit: () => {},
  });

  it('tells a wide run by its counts now and then, and asks for no history', () => {
    const captured = captureOutput();
    const clock = { now: START };
    const picture = blankPicture(
      Array.from({ length: 1000 }, (_, index) => ({ id: `n${index}` })),
      START,
    );
    const progress = createProgress(picture, contextOf(captured, clock));
    expect(progress.history).toBe(false);
    for (let look = 0; look < 40; look++) {
      progress.look(runIn('RUNNING', { SUCCEEDED: 10 * look, PENDING: 1000 - 10 * look }), [], new Map());
      clock.now += 250;
    }
    progress.end();
    expect(captured.out).toHaveLength(5);
    expect(captured.out.at(-1)).toContain('320/1,000  320 SUCCEEDED, 680 PENDING');
  });

  it('draws on a terminal, and leaves it clean', () => {
    const drawn: string[] = [];
    let cleared = 0;
    const captured = captureOutput({
      live: { draw: (text) => void drawn.push(text), clear: () => void cleared++ },
    });
    const progress = createProgress(blankPicture(definition, START), contextOf(captured, { now: START + 100 }));
    expect(progress.history).toBe(true);
    progress.look(runIn('RUNNING', { RUNNING: 1, PENDING: 3 }), happened.slice(0, 2), new Map());
    progress.end();
    expect(drawn).toHaveLength(1);
    expect(drawn[0]).toContain('  a      ● RUNNING   80 ms');
    expect({ cleared, out: captured.out }).toEqual({ cleared: 1, out: [] });
  });
});

describe('a map under way', () => {
  const map = { total: 10_000, counts: { SUCCEEDED: 36, FAILED: 2, RETRY_WAIT: 1, RUNNING: 100, PENDING: 9_861 } };
  const maps = new Map([['m', map]]);
  const begun = [entry(20, 'm', 'RUNNING'), entry(30, 'm', 'RUNNING', { attempt: 1, items: [0, 1, 2] })];
  const run = runIn('RUNNING', { RUNNING: 1, PENDING: 1 });
  const clock = { now: START + 2_500 };
  const contextOf = (captured: ReturnType<typeof captureOutput>): CliContext => ({
    output: captured.output,
    env: {},
    cwd: '/',
    now: () => clock.now,
    exit: () => {},
  });
  const picture = () => blankPicture([{ id: 'm' }, { id: 'z', dependsOn: ['m'] }], START);

  it('is one line now and then where there is no terminal, whatever its items do', () => {
    const captured = captureOutput();
    const progress = createProgress(picture(), contextOf(captured));
    progress.look(run, begun, maps);
    for (let look = 0; look < 8; look++) {
      clock.now += 250;
      progress.look(run, [entry(2_000, 'm', 'SUCCEEDED', { attempt: 1, items: [look] })], maps);
    }
    expect(captured.out.map((line) => line.trimEnd())).toEqual([
      '   0.02 s  m  RUNNING',
      '   2.50 s  m  RUNNING     38/10,000 items, 2 failed, 1 to be tried again',
      '   4.50 s  m  RUNNING     38/10,000 items, 2 failed, 1 to be tried again',
    ]);
  });

  it('is one line on a terminal', () => {
    const drawn: string[] = [];
    const captured = captureOutput({ live: { draw: (text) => void drawn.push(text), clear: () => {} } });
    clock.now = START + 1_020;
    createProgress(picture(), contextOf(captured)).look(run, begun, maps);
    expect(drawn[0]?.split('\n').slice(1, 3)).toEqual([
      '  m      ● RUNNING   38/10,000 items, 2 failed, 1 to be tried again, 1.00 s',
      '  z      · PENDING   waits for m',
    ]);
  });
});

describe('hopsOf', () => {
  const node = (id: string, startedAt?: number, endedAt?: number) => ({
    id,
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
  });
  const upstreams = new Map([
    ['b', ['a']],
    ['c', ['a', 'b']],
    ['d', ['c']],
  ]);

  it('measures from the end of the last upstream to the start', () => {
    const hops = hopsOf([node('a', 0, 100), node('b', 107, 200), node('c', 230, 240), node('d')], upstreams);
    expect(hops).toEqual([
      { node: 'b', milliseconds: 7 },
      { node: 'c', milliseconds: 30 },
    ]);
    expect(hopFigures(hops)).toEqual({ count: 2, medianMs: 7, longestMs: 30 });
  });

  it('has none for nodes that ran before an upstream ended', () => {
    expect(hopsOf([node('a', 0), node('b', 5, 6)], upstreams)).toEqual([]);
    expect(hopFigures([])).toBeUndefined();
  });
});

describe('summaryLines', () => {
  it('ends with the output and the verdict', () => {
    const run = runIn(
      'SUCCEEDED',
      { SUCCEEDED: 2 },
      { endedAt: at(1500), output: { rows: 3 }, message: 'All 2 nodes are over.' },
    );
    const nodes = ['a', 'b'].map((id, index) =>
      as<RunNode>({
        id,
        state: 'SUCCEEDED',
        reason: 'Completed',
        message: 'Succeeded.',
        since: at(0),
        attempt: 1,
        startedAt: at(index * 110),
        endedAt: at(index * 110 + 100),
      }),
    );
    const lines = summaryLines(run, nodes, new Map([['b', ['a']]]), { screen: screen(START), counters: undefined });
    expect(lines).toEqual([
      '',
      '  node   state       attempts     took     hop',
      '  a      SUCCEEDED          1   100 ms',
      '  b      SUCCEEDED          1   100 ms   10 ms',
      '',
      '  2 nodes: 2 SUCCEEDED',
      '  1 hop (end of the last upstream to the start of the node): median 10 ms, longest 10 ms',
      '',
      'Output',
      '{\n  "rows": 3\n}',
      '',
      'SUCCEEDED after 1.50 s: All 2 nodes are over.  run r',
    ]);
  });

  it('cuts an output that nobody would read', () => {
    const run = runIn('SUCCEEDED', {}, { output: 'x'.repeat(10_000) });
    const text = summaryLines(run, [], new Map(), { screen: screen(START), counters: undefined }).join('\n');
    expect(text.length).toBeLessThan(4500);
    expect(text).toContain('10002 characters in all; --json prints them');
  });
});
