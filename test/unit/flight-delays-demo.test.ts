import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Node } from '../../demo/api.ts';
import { hops, median } from '../../demo/hops.ts';
import { changes } from '../../demo/progress.ts';
import type { Truth } from '../../demo/truth.ts';
import { type FlightsOutput, judge } from '../../demo/verdict.ts';

function node(id: string, state: string, more: Partial<Node> = {}): Node {
  return { id, state, reason: 'Completed', since: 0, attempt: 0, ...more };
}

describe('changes', () => {
  it('tells a start and an end that fell between two looks, and everything in order of time', () => {
    const told = changes(
      new Map([['a', node('a', 'PENDING')]]),
      [
        node('a', 'SUCCEEDED', { attempt: 1, startedAt: 20, endedAt: 50 }),
        node('b', 'RUNNING', { attempt: 1, startedAt: 30 }),
      ],
      100,
    );
    expect(told.map(({ at, node: id, state }) => [at, id, state])).toEqual([
      [20, 'a', 'RUNNING'],
      [30, 'b', 'RUNNING'],
      [50, 'a', 'SUCCEEDED'],
    ]);
    expect(told[2]?.note).toBe('after 30 ms');
  });

  it('says nothing about a node that is as it was', () => {
    const running = node('a', 'RUNNING', { attempt: 1, startedAt: 20 });
    expect(changes(new Map([['a', running]]), [running], 100)).toEqual([]);
  });

  it('shows a failed attempt with its error and the time of the next, then the next', () => {
    const first = node('a', 'RUNNING', { attempt: 1, startedAt: 20 });
    const waiting = node('a', 'RETRY_WAIT', {
      attempt: 1,
      startedAt: 20,
      nextAttemptAt: 1100,
      error: { name: 'SourceUnavailable', message: 'down' },
    });
    expect(changes(new Map([['a', first]]), [waiting], 100)).toMatchObject([
      { state: 'RETRY_WAIT', note: 'attempt 1 failed: SourceUnavailable: down, tries again in 1.00 s' },
    ]);
    const second = node('a', 'RUNNING', { attempt: 2, startedAt: 20, since: 1105 });
    expect(changes(new Map([['a', waiting]]), [second], 1200)).toMatchObject([
      { at: 1105, state: 'RUNNING', note: 'attempt 2' },
    ]);
  });
});

describe('hops', () => {
  it('runs from the end of the last upstream to the start, and leaves out skipped and first nodes', () => {
    const nodes = [
      node('a', 'SUCCEEDED', { attempt: 1, startedAt: 0, endedAt: 10 }),
      node('b', 'SUCCEEDED', { attempt: 1, startedAt: 0, endedAt: 40 }),
      node('c', 'SUCCEEDED', { attempt: 1, startedAt: 47, endedAt: 60 }),
      node('d', 'SUCCEEDED', { attempt: 2, startedAt: 62, endedAt: 1070 }),
      node('e', 'SKIPPED', { endedAt: 60 }),
    ];
    const upstreams = new Map([
      ['c', ['a', 'b']],
      ['d', ['c']],
      ['e', ['c']],
    ]);
    expect(hops(nodes, upstreams)).toEqual([
      { node: 'c', milliseconds: 7 },
      { node: 'd', milliseconds: 2 },
    ]);
  });

  it('has a median', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([])).toBeUndefined();
  });
});

describe('judge', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flight-delays-demo-'));
    await writeFile(join(folder, 'report.html'), '<html></html>');
    await writeFile(join(folder, 'by-hour.json'), JSON.stringify([{ key: '0 7', flights: 3 }]));
    await writeFile(join(folder, 'by-route.json'), JSON.stringify([{ key: 'LAX SFO', flights: 3 }]));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const nodes = [
    node('fetch-airports', 'SUCCEEDED', { attempt: 2 }),
    node('alert', 'SUCCEEDED', { attempt: 1 }),
    node('all-clear', 'SKIPPED'),
  ];
  function output(): FlightsOutput {
    return {
      figures: {
        flights: 3,
        late: 1,
        delaySum: 30,
        distanceSum: 900,
        lateShare: 1 / 3,
        averageDelay: 10,
        comparisons: 1,
        months: [{ month: '2001-01', flights: 3 }],
      },
      report: join(folder, 'report.html'),
    };
  }
  function truth(more: Partial<Truth> = {}): Truth {
    return {
      flights: 3,
      late: 1,
      delaySum: 30,
      distanceSum: 900,
      months: new Map([['2001-01', 3]]),
      hours: new Map([['07', 3]]),
      routes: new Map([['LAX SFO', 3]]),
      ...more,
    };
  }

  it('finds nothing wrong where nothing is', async () => {
    expect(await judge(output(), truth(), nodes, 0.2)).toMatchObject({ wrong: [] });
  });

  it.each<[string, Partial<Truth>, string]>([
    ['a sum', { delaySum: 31 }, 'sum of delays: 30, but 31 is right'],
    ['an hour', { hours: new Map([['07', 2]]) }, 'flights at hour 07: 3, but 2 is right'],
    ['a missing route', { routes: new Map([['LAX SFO', 3], ['SFO LAX', 1]]) }, 'flights of route SFO LAX: nothing, but 1 is right'], // biome-ignore format: one case a line
  ])('names %s that is wrong', async (_, more, message) => {
    expect((await judge(output(), truth(more), nodes, 0.2)).wrong).toEqual([message]);
  });

  it('sees that the wrong branch was taken', async () => {
    const { wrong } = await judge(output(), truth(), nodes, 0.5);
    expect(wrong).toEqual([
      'state of alert: SUCCEEDED, but SKIPPED is right',
      'state of all-clear: SKIPPED, but SUCCEEDED is right',
    ]);
  });
});
