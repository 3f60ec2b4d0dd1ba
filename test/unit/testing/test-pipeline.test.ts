/** The testing kit: real scheduling, expressions and checks, with stubs and virtual time. */
import { describe, expect, it, vi } from 'vitest';
import type { PipelineDefinition } from '#domain/definition.ts';
import {
  fails,
  hang,
  InvalidDefinitionError,
  later,
  MissingStubError,
  StartRefusedError,
  testPipeline,
  UNREGISTERED,
} from '#testing/index.ts';
import { defineFunction } from '../../../src/function/index.ts';

const HOUR_SECONDS = 3600;

const GREETING: PipelineDefinition = {
  name: 'greeting',
  nodes: [
    { id: 'greet', params: { function: 'greet', payload: { name: '{% $run.input.name %}' } } },
    { id: 'send', dependsOn: ['greet'], params: { function: 'send', payload: '{% $nodes.greet.output %}' } },
  ],
  output: '{% $nodes.send.output.id %}',
};

const greet = (payload: { name: string }) => `Hello, ${payload.name}`;

function one(node: Omit<PipelineDefinition['nodes'][number], 'id'>): PipelineDefinition {
  return { name: 'one', nodes: [{ id: 'a', params: { function: 'work' }, ...node }] };
}

describe('testPipeline', () => {
  it('runs functions and expressions, and shows what they came to', async () => {
    const outcome = await testPipeline(GREETING, { input: { name: 'Ada' }, functions: { greet, send: { id: 7 } } });
    expect(outcome).toMatchObject({ state: 'SUCCEEDED', reason: 'Completed', output: 7, input: { name: 'Ada' } });
    expect(outcome.nodes['greet']).toMatchObject({ state: 'SUCCEEDED', output: 'Hello, Ada', attempts: 1 });
    expect(outcome.starts).toMatchObject([
      { node: 'greet', function: 'greet', attempt: 1, payload: { name: 'Ada' }, at: 0 },
      { node: 'send', function: 'send', attempt: 1, payload: 'Hello, Ada' },
    ]);
    expect(outcome.nodes['greet']?.startedAt).toBe('2026-01-01T00:00:00.000Z');
    expect(outcome.history.map(({ node = 'run', state }) => `${node} ${state}`)).toEqual([
      'run QUEUED',
      'run RUNNING',
      'greet RUNNING',
      'greet SUCCEEDED',
      'send RUNNING',
      'send SUCCEEDED',
      'run SUCCEEDED',
    ]);
  });

  it('comes to the same each time', async () => {
    const play = () => testPipeline(GREETING, { input: { name: 'Ada' }, functions: { greet, send: { id: 7 } } });
    const { explain: _before, ...first } = await play();
    const { explain: _after, ...second } = await play();
    expect(second).toEqual(first);
  });

  it('comes to the same beside other tests, and under fake timers', async () => {
    const play = async () => {
      const { explain: _told, ...rest } = await testPipeline(GREETING, {
        input: { name: 'Ada' },
        functions: { greet, send: 1 },
      });
      return rest;
    };
    const alone = await play();
    expect(await Promise.all([play(), play(), play()])).toEqual([alone, alone, alone]);
    vi.useFakeTimers();
    try {
      expect(await play()).toEqual(alone);
    } finally {
      vi.useRealTimers();
    }
  });

  it('says so where a promise of a stub does not settle', async () => {
    vi.useFakeTimers();
    try {
      const played = testPipeline(one({}), { functions: { work: () => new Promise(() => {}) } });
      const told = expect(played).rejects.toThrow(
        'the stub of work (node a) has not answered in 4000 ms of real time; hang() stands for one that never does',
      );
      await vi.waitUntil(() => vi.getTimerCount() > 0);
      vi.advanceTimersByTime(4_000);
      await told;
    } finally {
      vi.useRealTimers();
    }
  });

  it('retries by the names of errors, and waits in virtual time', async () => {
    const definition = one({ retry: { maxAttempts: 5, intervalSeconds: HOUR_SECONDS, on: ['Busy'] } });
    const work = (_payload: unknown, { attempt }: { attempt: number }) =>
      (attempt < 3 ? fails('Busy') : fails('Broken'))(null, {} as never);
    const outcome = await testPipeline(definition, { functions: { work } });
    expect(outcome).toMatchObject({
      state: 'FAILED',
      error: { node: 'a', name: 'Broken', message: 'Broken of a stub' },
    });
    expect(outcome.starts.map(({ at }) => Math.floor(at / 1000 / HOUR_SECONDS))).toEqual([0, 1, 3]);
    expect(outcome.nodes['a']?.attempts).toBe(3);
  });

  it.each([{ engine: 'lambda' }, { engine: 'spark' }])(
    'ends what hangs on $engine at its time limit',
    async ({ engine }) => {
      const definition = one({ engine, timeoutSeconds: 2 * HOUR_SECONDS });
      const outcome = await testPipeline(definition, { functions: { work: hang() }, engines: { spark: hang() } });
      expect(outcome.nodes['a']).toMatchObject({
        state: 'TIMED_OUT',
        reason: 'TimedOut',
        error: { name: 'States.Timeout' },
      });
      expect(outcome.durationMs / 1000).toBeGreaterThanOrEqual(2 * HOUR_SECONDS);
      expect(outcome.durationMs / 1000).toBeLessThan(2 * HOUR_SECONDS + 300);
    },
  );

  it('lets answers take their time, and fail after it', async () => {
    const broken = later(5_000, () => {
      throw new RangeError('too far');
    });
    const outcome = await testPipeline(one({}), { functions: { work: () => broken } });
    expect(outcome.nodes['a']).toMatchObject({ state: 'FAILED', error: { name: 'RangeError', message: 'too far' } });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(5_000);
    expect(() => later(-1)).toThrow(RangeError);
  });

  it('awaits promises of stubs, while virtual time stands still', async () => {
    const work = () => new Promise((resolve) => setImmediate(() => resolve('later')));
    const outcome = await testPipeline(one({}), { functions: { work } });
    expect(outcome).toMatchObject({ state: 'SUCCEEDED', durationMs: expect.closeTo(110, -2) });
    expect(outcome.nodes['a']?.output).toBe('later');
  });

  it('gives handlers of defineFunction what Lambda would', async () => {
    const work = defineFunction(async ({ n }: { n: number }, { node, attempt }) => ({ n: n + 1, node, attempt }));
    const definition = one({ params: { function: 'work', payload: { n: 1 } } });
    const outcome = await testPipeline(definition, { functions: { work } });
    expect(outcome.nodes['a']?.output).toEqual({ n: 2, node: 'a', attempt: 1 });
  });

  it('plays maps, an item a call', async () => {
    const definition = one({
      map: { items: '{% $run.input %}', maxConcurrency: 2 },
      params: { function: 'work', payload: '{% $item %}' },
    });
    const work = (n: number) => n * n;
    const outcome = await testPipeline(definition, { input: [1, 2, 3], functions: { work } });
    expect(outcome.nodes['a']?.output).toEqual([1, 4, 9]);
    expect(outcome.starts.map(({ item, payload }) => [item, payload])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
  });

  it('plays child pipelines', async () => {
    const parent: PipelineDefinition = {
      name: 'parent',
      nodes: [{ id: 'child', engine: 'pipeline', params: { pipeline: 'greeting', input: { name: 'Bo' } } }],
    };
    const outcome = await testPipeline(parent, { children: [GREETING], functions: { greet, send: { id: 8 } } });
    expect(outcome.nodes['child']).toMatchObject({ state: 'SUCCEEDED', output: 8 });
    expect(outcome.starts.map(({ pipeline, node }) => `${pipeline}/${node}`)).toEqual([
      'greeting/greet',
      'greeting/send',
    ]);
  });

  describe('approvals', () => {
    const definition = one({ engine: 'approval', params: { prompt: 'Ship it?' }, timeoutSeconds: HOUR_SECONDS });

    it('are answered as the test says', async () => {
      const approved = await testPipeline(definition, { answers: { a: { approve: true, output: { by: 'me' } } } });
      expect(approved.nodes['a']).toMatchObject({ state: 'SUCCEEDED', output: { by: 'me' } });
      const reply = ({ prompt }: { prompt: string }) => ({ approve: false, comment: `no: ${prompt}`, afterMs: 60_000 });
      const denied = await testPipeline(definition, { answers: { a: reply } });
      expect(denied.nodes['a']?.error).toEqual({
        name: 'Millrace.ApprovalDenied',
        message: 'denied by test: no: Ship it?',
      });
      expect(denied.durationMs).toBeGreaterThanOrEqual(60_000);
    });

    it('run out of time where nobody answers', async () => {
      const outcome = await testPipeline(definition);
      expect(outcome.nodes['a']).toMatchObject({ state: 'TIMED_OUT', error: { name: 'States.Timeout' } });
    });
  });

  describe('users', () => {
    const definition: PipelineDefinition = {
      name: 'stopped',
      nodes: [
        { id: 'work', params: { function: 'work' } },
        { id: 'more', dependsOn: ['work'], params: { function: 'work' } },
        { id: 'clean', dependsOn: ['more'], cleanup: true, trigger: 'all_done', params: { function: 'clean' } },
      ],
    };
    const functions = { work: later(60_000), clean: 'clean' };

    it('stop a run, and what is to clean up does so', async () => {
      const outcome = await testPipeline(definition, { functions, acts: [{ atMs: 5_000, act: 'stop' }] });
      expect(outcome.state).toBe('ABORTED');
      expect(outcome.starts.map(({ node }) => node)).toEqual(['work', 'clean']);
    });

    it('pause a run and go on with it, and mark nodes by hand', async () => {
      const outcome = await testPipeline(definition, {
        functions,
        acts: [
          { atMs: 3_600_000, act: 'resume' },
          { atMs: 5_000, act: 'pause' },
          { atMs: 6_000, act: 'mark', node: 'more', state: 'SUCCEEDED' },
        ],
      });
      expect(outcome.state).toBe('SUCCEEDED');
      expect(outcome.nodes['more']?.reason).toBe('MarkedByUser');
      expect(outcome.starts.map(({ node }) => node)).toEqual(['work', 'clean']);
      expect(outcome.starts[1]?.at).toBeGreaterThanOrEqual(3_600_000);
    });

    it('come to the same with faults, where it does not matter when they do it', async () => {
      const acts = [{ atMs: 1_800_000, act: 'stop' }] as const;
      const hanging = { work: hang(), clean: 'clean' };
      const outcome = await testPipeline(definition, { functions: hanging, acts, faults: { runs: 20 } });
      expect(outcome.faultWorlds).toBe(20);
    });
  });

  describe('limits', () => {
    const two = (node: object): PipelineDefinition => ({
      name: 'two',
      nodes: ['a', 'b'].map((id) => ({ id, engine: 'spark', ...node })),
    });
    const startsOf = async (definition: PipelineDefinition, limits: object) => {
      const { starts, state } = await testPipeline(definition, { engines: { spark: later(60_000) }, limits });
      expect(state).toBe('SUCCEEDED');
      return (starts[1]?.at ?? 0) - (starts[0]?.at ?? 0);
    };

    it('make nodes wait for slots of engines and pools', async () => {
      expect(await startsOf(two({}), {})).toBeLessThan(1_000);
      expect(await startsOf(two({}), { engines: { spark: 1 } })).toBeGreaterThanOrEqual(60_000);
      expect(await startsOf(two({ pool: 'db' }), { pools: { db: 1 } })).toBeGreaterThanOrEqual(60_000);
      expect(await startsOf(two({ pool: 'db' }), { pools: { db: 2 } })).toBeLessThan(1_000);
    });
  });

  it('tells how a run stands that nothing can move', async () => {
    const outcome = await testPipeline(one({ engine: 'spark' }), { engines: { spark: UNREGISTERED } });
    expect(outcome.nodes['a']).toMatchObject({ state: 'QUEUED', reason: 'NoEngine' });
    expect(outcome.state).toBe('RUNNING');
    expect(outcome.explain()).toContain('no engines available to handle pipeline');
  });

  it('looks at a run that is not over when its time is', async () => {
    const outcome = await testPipeline(one({}), { functions: { work: hang() }, timeLimitSeconds: 600 });
    expect(outcome).toMatchObject({ state: 'RUNNING', nodes: { a: { state: 'RUNNING', attempts: 1 } } });
    expect(outcome.explain()).toContain('→ The end of its execution');
  });

  it('starts a run for an instant of its schedule', async () => {
    const definition: PipelineDefinition = {
      ...one({ params: { function: 'work', payload: '{% [$run.instant, $run.previousInstant, $run.input.full] %}' } }),
      schedule: [
        { id: 'hourly', cron: '0 * * * *' },
        { id: 'nightly', cron: '0 2 * * *', timezone: 'Europe/Berlin', input: { full: true } },
      ],
    };
    const functions = { work: (payload: unknown) => payload };
    const schedule = { entry: 'nightly', instant: '2026-03-10T02:00:00+01:00' };
    const outcome = await testPipeline(definition, { functions, schedule });
    expect(outcome.nodes['a']?.output).toEqual(['2026-03-10T01:00:00.000Z', '2026-03-09T01:00:00.000Z', true]);
    expect(outcome).toMatchObject({ createdAt: '2026-03-10T01:00:00.000Z', trigger: { type: 'schedule' } });
    const unknown = testPipeline(definition, { functions, schedule: { ...schedule, entry: 'daily' } });
    await expect(unknown).rejects.toThrow('its schedule has no entry "daily"');
  });

  describe('definitions', () => {
    const yaml = 'name: text\nnodes:\n  - id: a\n    engine: pass\n    params: {output: 3}\n';

    it('are read from text and files', async () => {
      expect((await testPipeline(yaml)).nodes['a']?.output).toBe(3);
      expect((await testPipeline('{"name": "text", "nodes": [{"id": "a", "engine": "pass"}]}')).state).toBe(
        'SUCCEEDED',
      );
      const file = new URL('../../../examples/when/pipeline.yaml', import.meta.url);
      await expect(testPipeline(file)).rejects.toThrow(MissingStubError);
    });

    it('are checked as the API checks them, with all errors at once', async () => {
      const wrong = testPipeline('name: text\nnodes:\n  - id: a\n    engin: pass\n    dependsOn: [b]\n');
      await expect(wrong).rejects.toThrow(InvalidDefinitionError);
      await expect(wrong).rejects.toMatchObject({
        errors: expect.arrayContaining([
          expect.objectContaining({ code: 'UNKNOWN_FIELD', line: 4 }),
          expect.objectContaining({ code: 'UNKNOWN_DEPENDENCY', line: 5 }),
        ]),
      });
    });
  });

  it('names everything that has no stub before anything runs', async () => {
    const definition: PipelineDefinition = {
      name: 'lacking',
      nodes: [
        { id: 'a', params: { function: 'load' } },
        { id: 'b', params: { function: 'load' } },
        { id: 'c', engine: 'spark' },
        { id: 'd', engine: 'pipeline', params: { pipeline: 'other' } },
      ],
    };
    const missing = testPipeline(definition);
    await expect(missing).rejects.toThrow(MissingStubError);
    await expect(missing).rejects.toThrow('function "load" (option functions), needed by "a" and "b"');
    await expect(missing).rejects.toThrow('engine "spark" (option engines), needed by "c"');
    await expect(missing).rejects.toThrow('pipeline "other" (option children), needed by "d"');
  });

  it('names a function that only an expression names, once it is called', async () => {
    const definition = one({ params: { function: "{% 'wo' & 'rk' %}" } });
    await expect(testPipeline(definition)).rejects.toThrow(
      'nothing stands for the function "work", which node a calls',
    );
  });

  it('refuses an input that the schema of the pipeline refuses', async () => {
    const definition: PipelineDefinition = {
      ...one({ engine: 'pass', params: {} }),
      input: { schema: { type: 'object', required: ['name'] } },
    };
    const refused = testPipeline(definition, { input: {} });
    await expect(refused).rejects.toThrow(StartRefusedError);
    await expect(refused).rejects.toThrow('its input is not valid');
  });
});
