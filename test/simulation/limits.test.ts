/** Engines with a limit, pools, and limits of active runs: slots are never used twice, and never lost. */
import { describe, expect, it } from 'vitest';
import type { NodeDefinition, PipelineDefinition } from '#domain/definition.ts';
import { deleteRun, markNode } from '#scheduler/ask-run.ts';
import { chooser } from '#testing/chooser.ts';
import { type OperationFault, toText } from '#testing/faults.ts';
import type { Scenario, Script } from './scenario.ts';
import type { UserAct } from './users.ts';
import { type Faults, World } from './world.ts';

const FULL = 'slow';

function node(id: string, more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, engine: FULL, params: { n: id }, ...more };
}

function ok(durationMs = 10_000): Script {
  return { durationMs, end: { status: 'SUCCEEDED', output: '{}' } };
}

function bad(durationMs = 1_000): Script {
  return { durationMs, end: { status: 'FAILED', error: { name: 'Broken', message: 'told so' } } };
}

function pipeline(name: string, nodes: NodeDefinition[], more: Partial<PipelineDefinition> = {}): PipelineDefinition {
  return { name, nodes, ...more };
}

function starts(pipelineName: string, count: number, atMs = 100): UserAct[][] {
  return Array.from({ length: count }, (_, at) => [
    { atMs: atMs + at, kind: 'start', pipeline: pipelineName, key: `k${at}` },
  ]);
}

async function play(scenario: Scenario, faults: Faults = {}): Promise<World> {
  const world = new World(scenario, faults);
  await world.play();
  return world;
}

/** Most attempts that were under way at once on an engine. */
function mostAtOnce(world: World, engine = FULL): number {
  const all = [...world.executions.started.values()].filter(({ stateMachineArn }) => stateMachineArn.endsWith(engine));
  const at = (time: number) => all.filter(({ startedAt, endedAt = 0 }) => startedAt <= time && time < endedAt).length;
  return Math.max(0, ...all.map(({ startedAt }) => at(startedAt)));
}

function states(world: World): string[] {
  return world.runs.all().map(({ state }) => state);
}

const BREAKS: readonly OperationFault[] = [
  { kind: 'kill', when: 'before' },
  { kind: 'kill', when: 'after' },
  { kind: 'freeze', when: 'before', forMs: 100_000 },
  { kind: 'freeze', when: 'after', forMs: 100_000 },
];

const FIVE = ['a', 'b', 'c', 'd', 'e'];

const SCENARIOS: readonly (Scenario & { readonly expected: readonly string[] })[] = [
  {
    name: 'one run, one slot',
    definition: pipeline(
      'one',
      FIVE.slice(0, 3).map((id) => node(id)),
    ),
    script: () => ok(),
    slots: [[`engine/${FULL}`, 1]],
    expected: ['SUCCEEDED'],
  },
  {
    name: 'three runs, two slots, a failure that is tried again',
    definition: pipeline('many', [node('a', { retry: { maxAttempts: 2, intervalSeconds: 5 } }), node('b')]),
    script: (id, attempt) => (id === 'a' && attempt === 1 ? bad() : ok()),
    slots: [[`engine/${FULL}`, 2]],
    users: starts('many', 2),
    expected: ['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'],
  },
  {
    name: 'an engine and a pool',
    definition: pipeline('both', [node('a', { pool: 'db' }), node('b', { pool: 'db' }), node('c')]),
    script: () => ok(),
    slots: [
      [`engine/${FULL}`, 2],
      ['pool/db', 1],
    ],
    users: starts('both', 1),
    expected: ['SUCCEEDED', 'SUCCEEDED'],
  },
  {
    name: 'a map through a limited engine',
    definition: pipeline('items', [node('m', { map: { items: [1, 2, 3, 4, 5] } })]),
    script: () => ok(2_000),
    slots: [[`engine/${FULL}`, 2]],
    expected: ['SUCCEEDED'],
  },
  {
    name: 'active runs',
    definition: pipeline('turns', [node('a')], { concurrency: { maxActiveRuns: 1 } }),
    script: () => ok(),
    slots: [[`engine/${FULL}`, 5]],
    users: starts('turns', 2),
    expected: ['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'],
  },
  {
    name: 'a timeout and a stop',
    definition: pipeline('ends', [node('a', { timeoutSeconds: 5 }), node('b')]),
    script: (id) => (id === 'a' ? ok(600_000) : ok()),
    slots: [[`engine/${FULL}`, 1]],
    users: [
      [
        { atMs: 100, kind: 'start', pipeline: 'ends', key: 'k' },
        { atMs: 30_000, kind: 'stop', run: 1 },
      ],
    ],
    expected: [],
  },
];

describe('runs that share slots', () => {
  for (const scenario of SCENARIOS) {
    describe(scenario.name, () => {
      const check = (world: World, what: string) => {
        if (scenario.expected.length > 0) expect(states(world), what).toEqual(scenario.expected);
      };

      it('end right, and no slot stays held', async () => {
        const world = await play(scenario);
        check(world, '');
        const slots = new Map(scenario.slots).get(`engine/${FULL}`) ?? 0;
        expect(mostAtOnce(world)).toBeLessThanOrEqual(slots);
      });

      it('end right by ticks alone', async () => {
        check(await play(scenario, { drop: true }), 'ticks alone');
      });

      it('C106 end right after a crash at every await', { timeout: 120_000 }, async () => {
        const length = (await play(scenario)).trace.operations.length;
        for (let at = 0; at < length + 5; at++) {
          for (const when of ['before', 'after'] as const) {
            check(await play(scenario, { at: new Map([[at, { kind: 'kill', when }]]) }), `${when} ${at}`);
          }
        }
      });

      it('end right with passes at once in any order, copies, lost messages and answers', {
        timeout: 120_000,
      }, async () => {
        for (let seed = 1; seed <= 60; seed++) {
          const faults = { choose: chooser(seed), copies: 2, loseOneIn: 10, skewMs: 1_000 };
          check(await play(scenario, faults), `seed ${seed}`);
        }
      });
    });
  }
});

describe('who is served', () => {
  it('C109 keeps to its slots however wide the graph is', async () => {
    const nodes = Array.from({ length: 40 }, (_, at) => node(`n${at}`));
    const world = await play({
      name: 'wide',
      definition: pipeline('wide', nodes),
      script: () => ok(1_000),
      slots: [[`engine/${FULL}`, 7]],
    });
    expect([states(world), mostAtOnce(world)]).toEqual([['SUCCEEDED'], 7]);
  });

  it('pipelines in turn, so that ten thousand nodes of one do not hold up ten of another', async () => {
    const many = Array.from({ length: 60 }, (_, at) => node(`n${at}`));
    const few = Array.from({ length: 4 }, (_, at) => node(`f${at}`));
    const world = await play({
      name: 'fair',
      definition: pipeline('big', many),
      children: [pipeline('small', few)],
      script: () => ok(1_000),
      slots: [[`engine/${FULL}`, 2]],
      users: starts('small', 1, 500),
    });
    const [big, small] = world.runs.all();
    expect(states(world)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    // Of two slots one in two goes to the small one: four nodes take some four seconds, not thirty.
    expect(((small?.endedAt ?? 0) - (small?.createdAt ?? 0)) / 1000).toBeLessThan(12);
    expect((big?.endedAt ?? 0) - (small?.endedAt ?? 0)).toBeGreaterThan(15_000);
  });

  it('the highest priority first within a pipeline', async () => {
    const nodes = [node('low'), node('mid', { priority: 5 }), node('high', { priority: 10 })];
    const world = await play({
      name: 'priority',
      definition: pipeline('p', nodes),
      script: () => ok(1_000),
      slots: [[`engine/${FULL}`, 1]],
    });
    const order = world.trace.starts.map(({ name }) => world.pipeline.nodes[Number(name.split('-')[3])]?.id);
    expect(order).toEqual(['high', 'mid', 'low']);
  });
});

describe('slots that come back', () => {
  it('C103 after a timeout, for its own next attempt and for others', async () => {
    const nodes = [node('a', { timeoutSeconds: 5, retry: { maxAttempts: 2, intervalSeconds: 1 } }), node('b')];
    const world = await play({
      name: 'C103',
      definition: pipeline('leak', nodes),
      script: (id, attempt) => (id === 'a' && attempt === 1 ? ok(10_000_000) : ok(1_000)),
      slots: [[`engine/${FULL}`, 1]],
    });
    expect(states(world)).toEqual(['SUCCEEDED']);
  });

  it('C104 after a stop: the next run starts within one pass', async () => {
    const world = await play({
      name: 'C104',
      definition: pipeline('stopped', [node('a')]),
      script: () => ok(600_000),
      slots: [[`engine/${FULL}`, 1]],
      stopAtMs: 20_000,
      users: [
        [{ atMs: 100, kind: 'start', pipeline: 'stopped', key: 'second' }],
        [{ atMs: 90_000, kind: 'stop', run: 1 }],
      ],
    });
    expect(states(world)).toEqual(['ABORTED', 'ABORTED']);
    const second = world.trace.starts[1]?.at ?? 0;
    expect(second - world.beganAt).toBeLessThan(25_000);
  });

  it('C106 as fewer or more are in force: fewer stop nobody', async () => {
    const world = await play({
      name: 'C106',
      definition: pipeline(
        'changed',
        FIVE.map((id) => node(id, { pool: 'db', engine: 'lambda', params: { function: 'f' } })),
      ),
      script: () => ok(20_000),
      slots: [['pool/db', 3]],
      users: [
        [
          { atMs: 1_000, kind: 'pool', name: 'db', slots: 1 },
          { atMs: 10_000, kind: 'pool', name: 'db', slots: 0 },
          { atMs: 100_000, kind: 'pool', name: 'db', slots: 2 },
        ],
      ],
    });
    expect(states(world)).toEqual(['SUCCEEDED']);
    const late = world.trace.starts.map(({ at }) => at - world.beganAt).filter((at) => at > 1_000);
    expect(late.every((at) => at >= 100_000)).toBe(true);
  });
});

describe('a row that comes late', () => {
  const scenario: Scenario = {
    name: 'late rows',
    definition: pipeline('turns', [node('a', { engine: 'lambda', params: { function: 'f' } })], {
      concurrency: { maxActiveRuns: 1 },
    }),
    script: () => ok(5_000),
    users: starts('turns', 1, 1_000),
  };

  it('is granted no more than once, and taken away, when its run is over by then', async () => {
    const { operations } = (await play(scenario)).trace;
    const puts = [...operations.keys()].filter((at) => operations[at]?.includes('limits.putWaiting'));
    expect(puts.length).toBeGreaterThan(0);
    for (const at of puts) {
      const world = await play(scenario, { at: new Map([[at, { kind: 'freeze', when: 'before', forMs: 200_000 }]]) });
      expect(states(world)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
      const rows = [...world.limits.waiting.values()].reduce((count, ofLimit) => count + ofLimit.size, 0);
      expect(rows, `put ${at}`).toBe(0);
    }
  });
});

describe('a run that waits again while its row is being taken away', () => {
  it('puts it again: it is not left waiting for ever', async () => {
    const world = await play({
      name: 'paused and stopped',
      definition: pipeline('again', [node('a', { cleanup: true, map: { items: [1] } }), node('b', { cleanup: true })]),
      script: () => ok(1_000),
      users: [
        [
          { atMs: 0, kind: 'engine', name: FULL, slots: 1 },
          { atMs: 0, kind: 'engine', name: FULL, slots: 0 },
          { atMs: 100_000, kind: 'engine', name: FULL, slots: 1 },
        ],
        [{ atMs: 0, kind: 'stop', run: 0 }],
        [{ atMs: 0, kind: 'pause', run: 0 }],
      ],
    });
    expect(states(world)).toEqual(['ABORTED']);
  });
});

describe('a row whose pass died before it could say that it stands', () => {
  it('is taken away as soon as the run waits no more, so that nobody looks after it each minute', async () => {
    const scenario: Scenario = {
      name: 'died',
      definition: pipeline('died', [node('a')]),
      script: () => ok(20 * 60_000),
      users: [[{ atMs: 500, kind: 'engine', name: FULL }]],
    };
    const looks = (world: World) => world.trace.operations.filter((one) => one.includes('limits.listWaiting')).length;
    const whole = await play(scenario);
    const put = whole.trace.operations.findIndex((one) => one.includes('limits.putWaiting'));
    for (const fault of BREAKS.slice(0, 2)) {
      const world = await play(scenario, { at: new Map([[put, fault]]) });
      expect(states(world)).toEqual(['SUCCEEDED']);
      expect(looks(world)).toBeLessThanOrEqual(looks(whole) + 2);
    }
  });
});

describe('what a commit cannot hold', () => {
  it('keeps its place in line and its slots until the next one', async () => {
    const world = await play({
      name: 'few at once',
      definition: pipeline(
        'few',
        FIVE.map((id) => node(id)),
      ),
      script: () => ok(),
      slots: [[`engine/${FULL}`, 3]],
      options: { maxDecisions: 1 },
    });
    expect(states(world)).toEqual(['SUCCEEDED']);
    const begun = world.trace.starts.map(({ at }) => Math.floor((at - world.beganAt) / 10_000));
    expect(begun).toEqual([0, 0, 0, 1, 1]);
  });
});

describe('a run that waits', () => {
  it('costs no pass a minute', async () => {
    const playFor = (minutes: number) =>
      play({
        name: 'waits',
        definition: pipeline('waits', [node('a'), node('b', { pool: 'db', dependsOn: ['a'] })]),
        script: () => ok(),
        users: [
          [
            { atMs: minutes * 60_000, kind: 'engine', name: FULL, slots: 1 },
            { atMs: 2 * minutes * 60_000, kind: 'pool', name: 'db', slots: 1 },
          ],
        ],
      });
    const [short, long] = [await playFor(5), await playFor(15)];
    expect([states(short), states(long)]).toEqual([['SUCCEEDED'], ['SUCCEEDED']]);
    const passes = (world: World) => world.trace.operations.filter((one) => one.includes('runs.readRun')).length;
    expect(long.ticks - short.ticks).toBe(20);
    expect(passes(long)).toBe(passes(short));
  });
});

describe('nodes that are marked by hand', () => {
  const mark = (atMs: number, id: string): UserAct => ({
    kind: 'ask',
    atMs,
    ask: async (deps, run) => (await markNode(deps, run, { node: id, state: 'SUCCEEDED', by: 'ada' })).kind !== 'busy',
  });
  const scenario: Scenario = {
    name: 'marked',
    definition: pipeline('marked', [
      node('runs', { priority: 1 }),
      node('waits'),
      node('after', { dependsOn: ['waits'] }),
    ]),
    script: () => ok(30_000),
    slots: [[`engine/${FULL}`, 1]],
    users: [...starts('marked', 1, 1_000), [mark(5_000, 'waits'), mark(8_000, 'runs')]],
  };

  it('give back what they hold and leave the line, after a death or a long sleep at every await', {
    timeout: 240_000,
  }, async () => {
    const length = (await play(scenario)).trace.operations.length;
    for (let at = 0; at < length + 5; at++) {
      for (const fault of BREAKS) {
        const world = await play(scenario, { at: new Map([[at, fault]]) });
        expect(states(world), `${toText(fault)} ${at}`).toEqual(['SUCCEEDED', 'SUCCEEDED']);
      }
    }
  });
});

describe('a run that is deleted by force', () => {
  const scenario: Scenario = {
    name: 'deleted',
    definition: pipeline('gone', [node('a', { pool: 'db' }), node('b')], { concurrency: { maxActiveRuns: 1 } }),
    children: [pipeline('next', [node('a', { pool: 'db' })])],
    script: () => ok(30_000),
    slots: [
      [`engine/${FULL}`, 1],
      ['pool/db', 1],
    ],
    users: [
      ...starts('next', 1, 1_000),
      [
        {
          atMs: 5_000,
          kind: 'ask',
          ask: async (deps, run) => (await deleteRun(deps, run, { isForced: true })).kind !== 'busy',
        },
      ],
    ],
  };

  it('C83 C104 gives back what it holds: whoever waits goes on', async () => {
    const world = await play(scenario);
    expect(states(world)).toEqual(['SUCCEEDED']);
    const next = world.trace.starts.find(({ name }) => !name.includes('a'.repeat(26)));
    expect((next?.at ?? 0) - world.beganAt).toBeLessThan(10_000);
  });

  it('C83 C104 gives back what it holds after a death or a long sleep at every await', {
    timeout: 240_000,
  }, async () => {
    const length = (await play(scenario)).trace.operations.length;
    for (let at = 0; at < length + 5; at++) {
      for (const fault of BREAKS) {
        const world = await play(scenario, { at: new Map([[at, fault]]) });
        const gone = [...world.executions.started.values()].filter(({ name }) => name.includes('a'.repeat(26)));
        expect(states(world), `${toText(fault)} ${at}`).toEqual(['SUCCEEDED']);
        expect(gone.every(({ status }) => status !== 'RUNNING')).toBe(true);
      }
    }
  });
});

describe('overlap', () => {
  const twice = (onOverlap: 'queue' | 'skip' | 'cancelRunning' | 'allow'): Scenario => ({
    name: onOverlap,
    definition: pipeline('turns', [node('a', { engine: 'lambda', params: { function: 'f' } })], {
      concurrency: { maxActiveRuns: 1, onOverlap },
    }),
    script: () => ok(30_000),
    users: starts('turns', 1, 5_000),
  });

  it('queue: keeps order', async () => {
    const world = await play(twice('queue'));
    expect(states(world)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    const [first, second] = world.trace.starts.map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(30_000);
  });

  it('skip: records the start that was left out', async () => {
    const world = await play(twice('skip'));
    expect(states(world)).toEqual(['SUCCEEDED', 'ABORTED']);
    expect(world.runs.all()[1]).toMatchObject({ reason: 'Overlap', stop: { kind: 'overlap' } });
    expect(world.trace.starts).toHaveLength(1);
  });

  it('cancelRunning: stops the running one first', async () => {
    const world = await play(twice('cancelRunning'));
    expect(states(world)).toEqual(['ABORTED', 'SUCCEEDED']);
    expect(mostAtOnce(world, 'lambda')).toBe(1);
  });

  it('allow: as if there were no limit', async () => {
    const world = await play(twice('allow'));
    expect([states(world), mostAtOnce(world, 'lambda')]).toEqual([['SUCCEEDED', 'SUCCEEDED'], 2]);
  });
});

describe('a cleanup node', () => {
  it('runs once its rule allows in a run that was stopped, and nothing else does (D14)', async () => {
    const plain = { engine: 'lambda', params: { function: 'f' } };
    const nodes = [
      node('work', plain),
      node('after', { ...plain, dependsOn: ['work'], trigger: 'all_done' }),
      node('tidy', { ...plain, dependsOn: ['work'], trigger: 'all_done', cleanup: true }),
    ];
    const world = await play({
      name: 'tidy',
      definition: pipeline('tidy', nodes),
      script: () => ok(30_000),
      stopAtMs: 5_000,
    });
    const [run] = world.runs.all();
    expect([run?.state, run?.nodes]).toEqual(['ABORTED', 'AAS']);
  });

  it('does not run in a run that was stopped before its turn came: it has nothing to clean up', async () => {
    const plain = { engine: 'lambda', params: { function: 'f' } };
    const nodes = [
      node('work', plain),
      node('tidy', { ...plain, cleanup: true }),
      node('last', { ...plain, dependsOn: ['work'], trigger: 'all_done', cleanup: true }),
    ];
    for (const onOverlap of ['queue', 'skip'] as const) {
      const world = await play({
        name: 'never begun',
        definition: pipeline('tidy', nodes, { concurrency: { maxActiveRuns: 1, onOverlap } }),
        script: () => ok(30_000),
        users: [...starts('tidy', 1, 1_000), [{ atMs: 5_000, kind: 'stop', run: 1 }]],
      });
      const [first, second] = world.runs.all();
      expect([first?.state, second?.state, second?.nodes]).toEqual(['SUCCEEDED', 'ABORTED', 'AAA']);
      expect(world.trace.starts).toHaveLength(3);
    }
  });
});
