/** What users decide by hand, played by the real pass in a simulated world that dies at every await in turn. */
import { describe, expect, it } from 'vitest';
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import type { NodeDefinition } from '#domain/definition.ts';
import type { AnswerCommand, MarkCommand } from '#domain/facts.ts';
import { childRunId } from '#domain/run-id.ts';
import { answerAttempt, deleteRun, markNode } from '#scheduler/ask-run.ts';
import { chooser } from '#testing/chooser.ts';
import type { OperationFault } from '#testing/faults.ts';
import type { UserAct } from './users.ts';
import { type Faults, type Scenario, type Script, World } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

function approval(id: string, more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, engine: 'approval', params: { prompt: 'Go on?' }, ...more };
}

const SLOW: Script = { durationMs: 30_000, end: { status: 'SUCCEEDED', output: '"late"' } };

/** What became of what a user asked for: each answer that it got, the last one last. */
type Told = string[];

function asks(
  atMs: number,
  told: Told,
  ask: (deps: Parameters<typeof markNode>[0], run: string) => ReturnType<typeof markNode>,
): UserAct {
  return {
    kind: 'ask',
    atMs,
    async ask(deps, run) {
      const outcome = await ask(deps, run);
      if (outcome.kind === 'busy') return false;
      told.push(outcome.kind === 'done' ? (outcome.command ?? 'none') : outcome.kind);
      return true;
    },
  };
}

function marks(atMs: number, told: Told, mark: Omit<MarkCommand, 'kind'>): UserAct {
  return asks(atMs, told, (deps, run) => markNode(deps, run, { by: 'ada', ...mark }));
}

function answers(atMs: number, told: Told, answer: Partial<AnswerCommand>): UserAct {
  const given = { node: 0, attempt: 1, approve: true, ...answer };
  return asks(atMs, told, (deps, run) => answerAttempt(deps, run, given));
}

interface Played {
  readonly world: World;
  readonly run: ReturnType<World['runs']['latest']>;
  readonly output: string | undefined;
  readonly told: readonly Told[];
}

type Making = (told: readonly Told[]) => Scenario;

async function play(make: Making, faults: Faults = {}): Promise<Played> {
  const told: Told[] = [[], []];
  const world = new World(make(told), faults);
  await world.play(200);
  const run = world.runs.latest(world.run?.id ?? '');
  const output = run.outputKey === undefined ? undefined : await world.runs.readValue(run, run.outputKey);
  return { world, run, output, told };
}

/** Plays a scenario again and again, and kills or freezes whoever stands at each operation in turn. */
async function playBroken(make: Making, check: (played: Played, how: string) => void | Promise<void>): Promise<void> {
  for (const drop of [false, true]) {
    const { world } = await play(make, { drop });
    for (let at = 0; at < world.trace.operations.length + 3; at++) {
      for (const when of ['before', 'after'] as const) {
        const all: OperationFault[] = [
          { kind: 'kill', when },
          { kind: 'freeze', when, forMs: 200_000 },
          { kind: 'fail', when },
        ];
        for (const fault of all) {
          const played = await play(make, { drop, at: new Map([[at, fault]]) });
          await check(played, `${fault.kind} ${when} ${at}${drop ? ', messages lost' : ''}`);
        }
      }
    }
  }
}

function scenario(
  nodes: readonly NodeDefinition[],
  users: readonly UserAct[][],
  script?: Scenario['script'],
): Scenario {
  return {
    name: 'control',
    definition: { name: 'control', nodes: [...nodes], output: `{% $nodes.${nodes.at(-1)?.id}.output %}` },
    evaluator: createInlineEvaluator(),
    users,
    ...(script && { script }),
  };
}

const passOn = (from: string): Partial<NodeDefinition> => ({
  engine: 'pass',
  params: { output: `{% $nodes.${from}.output %}` },
});

const markRunning: Making = ([told = []]) =>
  scenario(
    [node('slow'), node('after', ['slow'], passOn('slow'))],
    [[marks(5_000, told, { node: 'slow', state: 'SUCCEEDED', output: { by: 'hand' } })]],
    () => SLOW,
  );

describe('a running node that is marked', () => {
  it('is stopped first, and then has the output that it was given', async () => {
    const { run, output, told, world } = await play(markRunning);
    expect([run.state, run.nodes, output, told[0]]).toEqual(['SUCCEEDED', 'MS', '{"by":"hand"}', ['accepted']]);
    expect([...world.executions.started.values()].map(({ status }) => status)).toEqual(['ABORTED']);
    expect(run.marks).toBeUndefined();
  });

  it('is so whatever dies at whatever await', { timeout: 240_000 }, async () => {
    await playBroken(markRunning, ({ run, output, told: [told = []] }, how) => {
      // One that was frozen for longer than the node ran comes too late.
      const expected = told.at(-1) === 'nodeOver' ? ['SS', '"late"'] : ['MS', '{"by":"hand"}'];
      expect([run.state, run.nodes, output], how).toEqual(['SUCCEEDED', ...expected]);
      expect(['accepted', 'already', 'nodeOver'], how).toContain(told.at(-1));
    });
  });

  it('stays what it was marked though its execution succeeds meanwhile, or its run is stopped', async () => {
    const late: Making = ([told = []]) => ({ ...markRunning([told]), script: () => ({ ...SLOW, durationMs: 5_400 }) });
    for (let at = 0; at < 40; at++) {
      const { run, told } = await play(late, { at: new Map([[at, { kind: 'freeze', when: 'before', forMs: 2_000 }]]) });
      if (told[0]?.includes('accepted')) expect(run.nodes).toBe('MS');
      else expect([run.nodes, told[0]]).toEqual(['SS', ['nodeOver']]);
    }
    const stopped: Making = (told) => ({ ...markRunning(told), stopAtMs: 5_000 });
    const { run } = await play(stopped);
    expect(['AA', 'MA']).toContain(run.nodes);
  });

  it('may be a map: its items end, and no other one starts', { timeout: 240_000 }, async () => {
    const map = { items: [1, 2, 3, 4], maxConcurrency: 2 };
    const make: Making = ([told = []]) =>
      scenario(
        [node('m', [], { map }), node('after', ['m'], passOn('m'))],
        [[marks(5_000, told, { node: 'm', state: 'SUCCEEDED', output: [] })]],
        () => SLOW,
      );
    await playBroken(make, ({ run, output, world, told: [told = []] }, how) => {
      const isLate = told.at(-1) === 'nodeOver';
      const expected = isLate ? ['SS', '["late","late","late","late"]'] : ['MS', '[]'];
      expect([run.state, run.nodes, output], how).toEqual(['SUCCEEDED', ...expected]);
      expect(world.executions.started.size, how).toBeLessThanOrEqual(isLate ? 4 : 2);
    });
  });
});

describe('of two marks at once', () => {
  it('one stands, and its output alone', { timeout: 240_000 }, async () => {
    const make: Making = ([one = [], other = []]) =>
      scenario(
        [node('first'), node('slow', ['first']), node('after', ['slow'], passOn('slow'))],
        [
          [marks(5_000, one, { node: 'slow', state: 'SUCCEEDED', output: 1 })],
          [marks(5_000, other, { node: 'slow', state: 'SUCCEEDED', output: 2 })],
        ],
        () => SLOW,
      );
    await playBroken(make, ({ run, output, told: [one = [], other = []] }, how) => {
      expect([run.state, run.nodes], how).toEqual(['SUCCEEDED', 'SMS']);
      const accepted = [one.includes('accepted') && '1', other.includes('accepted') && '2'].filter(Boolean);
      expect(accepted.length, how).toBeLessThanOrEqual(1);
      if (accepted.length > 0) expect(output, how).toBe(accepted[0]);
      else expect(['1', '2'], how).toContain(output);
    });
  });
});

describe('an approval', () => {
  const make: Making = ([one = [], other = []]) =>
    scenario(
      [approval('ok'), node('after', ['ok'], passOn('ok'))],
      [[answers(5_000, one, { output: 1, by: 'ada' })], [answers(5_000, other, { output: 2, by: 'bob' })]],
    );

  it('answered twice at once has one answer, whatever dies at whatever await', { timeout: 240_000 }, async () => {
    await playBroken(make, ({ run, output, told: [one = [], other = []], world }, how) => {
      expect([run.state, run.nodes], how).toEqual(['SUCCEEDED', 'SS']);
      const accepted = [one.includes('accepted') && '1', other.includes('accepted') && '2'].filter(Boolean);
      expect(accepted.length, how).toBeLessThanOrEqual(1);
      if (accepted.length > 0) expect(output, how).toBe(accepted[0]);
      expect(world.executions.started.size, how).toBe(0);
    });
  });

  it('expires, or is answered in time: one of the two, and the answer says which', { timeout: 240_000 }, async () => {
    const expiring: Making = ([told = []]) =>
      scenario([approval('ok', { timeoutSeconds: 60 })], [[answers(59_900, told, { output: 1 })]]);
    await playBroken(expiring, ({ run, told: [told = []] }, how) => {
      if (told.includes('accepted')) expect(run.nodes, how).toBe('S');
      else expect(['S', 'T'], how).toContain(run.nodes);
    });
    const late: Making = ([told = []]) =>
      scenario([approval('ok', { timeoutSeconds: 60 })], [[answers(400_000, told, {})]]);
    const { run, told } = await play(late);
    expect([run.nodes, told[0]]).toEqual(['T', ['nodeOver']]);
  });

  it('is looked at by nobody while it waits', async () => {
    const waiting: Making = ([told = []]) => scenario([approval('ok')], [[answers(3_000_000, told, {})]]);
    const { run, world } = await play(waiting);
    expect([run.state, world.ticks]).toEqual(['SUCCEEDED', 50]);
    const passes = world.trace.operations.filter((operation) => operation.endsWith('runs.readRun'));
    expect(passes.length).toBeLessThan(8);
  });
});

describe('a run that is deleted', () => {
  const nodes = [node('slow', [], { engine: 'narrow', params: { n: 1 } }), node('after', ['slow'])];
  const make: Making = ([told = []]) => ({
    ...scenario(nodes, [[asks(5_000, told, (deps, run) => deleteRun(deps, run, { isForced: true }))]], () => SLOW),
    slots: [['engine/narrow', 1]],
  });

  it('while it runs is stopped, told to be over, and then leaves nothing', { timeout: 240_000 }, async () => {
    await playBroken(make, async ({ run, told: [told = []], world }, how) => {
      // An order that was frozen for longer than the run took finds it over.
      expect(['ABORTED', 'SUCCEEDED'], how).toContain(run.state);
      expect(world.runs.isGone(run.id), how).toBe(true);
      expect(['accepted', 'already', 'missing'], how).toContain(told.at(-1));
      expect(await world.runs.listHistory(run, run.createdAt), how).toEqual([]);
      expect((await world.runs.listRuns({ limit: 10 })).items, how).toEqual([]);
      const states = world.trace.events.map(({ detail }) => (detail as { state: string }).state);
      expect(states, how).toContain(run.state);
    });
  });

  it('leaves no results of its own either', async () => {
    const { run, world } = await play(make);
    expect(await world.runs.listResults(run)).toEqual([]);
    expect(await world.runs.readValue(run, 'input')).toBeUndefined();
  });

  it('as the child of another one ends the attempt that waits for it, and is not made again', {
    timeout: 240_000,
  }, async () => {
    const ofChild: Making = ([told = []]) => ({
      ...scenario(
        [{ id: 'sub', engine: 'pipeline', params: { pipeline: 'child' } }],
        [
          [
            asks(5_000, told, (deps, run) =>
              deleteRun(deps, childRunId({ run, nonce: 'bbbbbbbb', node: 0, attempt: 1 }), { isForced: true }),
            ),
          ],
        ],
        () => SLOW,
      ),
      children: [{ name: 'child', nodes: [node('slow')] }],
    });
    await playBroken(ofChild, ({ run, told: [told = []], world }, how) => {
      const starts = world.executions.started.size;
      expect(starts, how).toBeLessThanOrEqual(1);
      // Who asks again may find it gone already, or not made yet.
      const isGone = world.runs.all().length === 1;
      expect(isGone || told.at(-1) === 'missing', how).toBe(true);
      expect(isGone ? ['O', 'S'] : ['S'], how).toContain(run.nodes);
    });
  });

  it('is not while it is active, unless that is forced', async () => {
    const gently: Making = ([told = []]) => {
      const ask = (atMs: number) => asks(atMs, told, (deps, run) => deleteRun(deps, run, { isForced: false }));
      return scenario([node('slow')], [[ask(5_000), ask(200_000)]], () => SLOW);
    };
    const { run, told, world } = await play(gently);
    expect([run.state, told[0], world.runs.isGone(run.id)]).toEqual(['SUCCEEDED', ['active', 'accepted'], true]);
  });
});

describe('in worlds where anything may come first, twice, late or never', () => {
  const LETTERS = { SUCCEEDED: 'M', FAILED: 'x', SKIPPED: 'z' } as const;
  const STATES = ['SUCCEEDED', 'FAILED', 'SKIPPED'] as const;
  const nodes: readonly NodeDefinition[] = [
    node('a', [], { retry: { maxAttempts: 3, intervalSeconds: 20 } }),
    approval('b', { timeoutSeconds: 120, retry: { maxAttempts: 2, intervalSeconds: 5 } }),
    node('c', ['a'], { map: { items: [1, 2, 3], maxConcurrency: 2 }, trigger: 'all_done' }),
    { ...approval('d'), dependsOn: ['b'], map: { items: [1, 2] }, trigger: 'all_done', timeoutSeconds: 60 },
    node('e', ['c', 'd'], { engine: 'pass', params: {}, trigger: 'all_done' }),
  ];
  // As they stand in topological order.
  const ids = ['a', 'b', 'c', 'd', 'e'];

  it('a mark that was accepted is what becomes of its node, and one alone is', { timeout: 240_000 }, async () => {
    let count = 0;
    for (let seed = 0; seed < 150; seed++) {
      const choose = chooser(seed);
      const told: Told[] = [[], [], [], []];
      const marked = told.map(() => ({ node: choose(5), state: STATES[choose(3)] as MarkCommand['state'] }));
      const users = told.map((list, at) => {
        const { node: index, state } = marked[at] as (typeof marked)[number];
        return [marks(choose(120_000), list, { node: ids[index] as string, state })];
      });
      const answering = [answers(choose(120_000), [], { node: 1 }), answers(choose(200_000), [], { node: 3, item: 1 })];
      const make: Making = () => ({
        ...scenario(nodes, [...users, answering], (_id, attempt) =>
          choose(3) === 0 && attempt < 3
            ? { durationMs: choose(40_000), end: { status: 'FAILED', error: { name: 'E', message: 'm' } } }
            : { ...SLOW, durationMs: choose(60_000) },
        ),
        definition: { name: 'control', nodes: [...nodes] },
        ...(seed % 3 === 0 && { stopAtMs: choose(150_000) }),
      });
      const deaths = Array.from({ length: 3 }, () => [choose(80), { kind: 'kill', when: 'after' }] as const);
      const faults: Faults = {
        choose,
        at: new Map(deaths),
        loseOneIn: 4,
        copies: 2,
        lateMs: 5_000,
        skewMs: 1_000,
        staleMs: 2_000,
        isIndexStale: true,
      };
      const { run } = await play(make, faults);
      const accepted = ids.map((_, index) =>
        told.flatMap((list, at) => {
          const mark = marked[at];
          return mark?.node === index && list.includes('accepted') ? [LETTERS[mark.state]] : [];
        }),
      );
      for (const [index, letters] of accepted.entries()) {
        count += letters.length;
        expect(letters.length, `seed ${seed}, node ${index}`).toBeLessThanOrEqual(1);
        if (letters.length > 0) expect(run.nodes[index], `seed ${seed}, node ${index}`).toBe(letters[0]);
      }
    }
    expect(count).toBeGreaterThan(100);
  });
});
