/** Installations in mid-run: how each comes to where it is saved, and what users then ask for. */
import type { Json } from '#domain/json.ts';
import type { Behaviour } from '../../functions/installation.ts';
import type { ApiRequest, openWorld } from '../world.ts';

type OpenedWorld = Awaited<ReturnType<typeof openWorld>>;

/** An installation to be saved. */
export interface WorldScene {
  readonly name: string;
  readonly about: string;
  /** How attempts go until it is saved; afterwards all of them succeed. */
  readonly behave: Behaviour;
  /** Brings it to the moment at which it is saved; gives its runs, and what users ask for after that. */
  play(world: OpenedWorld): Promise<{ readonly runs: readonly string[]; readonly goesOnWith: readonly ApiRequest[] }>;
}

const code = (id: string, dependsOn: string[] = [], more: { readonly [key: string]: Json } = {}): Json => ({
  id,
  dependsOn,
  params: { function: 'fn', payload: { of: id } },
  ...more,
});

async function put({ ask }: OpenedWorld, name: string, fields: { readonly [key: string]: Json }): Promise<void> {
  await ask({ method: 'PUT', path: `/v1/pipelines/${name}`, body: { name, ...fields } });
}

async function start({ ask }: OpenedWorld, pipeline: string, body: Json = {}): Promise<string> {
  const { id } = (await ask({ method: 'POST', path: `/v1/pipelines/${pipeline}/runs`, body })) as { id: string };
  return id;
}

/** Ends the first attempt of each node that is named; everything else goes on. */
const ending =
  (ends: { readonly [node: string]: ReturnType<Behaviour> }): Behaviour =>
  (node, attempt, item) =>
    attempt > 1 ? undefined : ends[item === undefined ? node : `${node}/${item}`];

const broken = { status: 'FAILED', error: { name: 'Broken', message: 'told so' } } as const;
const done = (output: Json) => ({ status: 'SUCCEEDED', output: JSON.stringify(output) }) as const;

/** The installations. */
export const WORLD_SCENES: readonly WorldScene[] = [
  {
    name: 'busy',
    about:
      'A run with a map that waits for slots of a pool, a run of another pipeline, an approval and a retry, all at once.',
    behave: ending({
      extract: done({ files: ['a', 'b', 'c', 'd'] }),
      'load/0': done(1),
      'load/1': broken,
      shaky: broken,
    }),
    async play(world) {
      await world.ask({ method: 'PUT', path: '/v1/pools/warehouse', body: { slots: 2 } });
      await put(world, 'child', { nodes: [code('c')], output: '{% $nodes.c.output %}' });
      await put(world, 'busy', {
        nodes: [
          code('extract'),
          code('load', ['extract'], {
            map: { items: '{% $nodes.extract.output.files %}' },
            pool: 'warehouse',
            retry: { maxAttempts: 3, intervalSeconds: 30 },
          }),
          code('shaky', [], { retry: { maxAttempts: 3, intervalSeconds: 60 } }),
          { id: 'ok', dependsOn: ['extract'], engine: 'approval', params: { prompt: 'Go on?' } },
          { id: 'other', engine: 'pipeline', params: { pipeline: 'child', input: {} } },
          code('publish', ['load', 'shaky', 'ok', 'other']),
        ],
        output: { loaded: '{% $nodes.load.output %}', other: '{% $nodes.other.output %}' },
      });
      const run = await start(world, 'busy', { input: { day: '2026-11-30' }, tags: { team: 'data' } });
      await world.api.settle();
      await world.api.tick(run, 10_000);
      const answer = {
        method: 'POST',
        path: `/v1/runs/${run}/nodes/ok/answer`,
        body: { approve: true, comment: 'fine' },
      };
      return { runs: [run], goesOnWith: [answer] };
    },
  },
  {
    name: 'turns',
    about: 'A pipeline with one active run: the second run waits for its turn.',
    behave: ending({}),
    async play(world) {
      await put(world, 'turns', { concurrency: { maxActiveRuns: 1 }, nodes: [code('a'), code('b', ['a'])] });
      const runs = [await start(world, 'turns'), await start(world, 'turns')];
      await world.api.settle();
      return { runs, goesOnWith: [] };
    },
  },
  {
    name: 'paused',
    about: 'A run that was paused while its first node went on.',
    behave: ending({}),
    async play(world) {
      await put(world, 'paused', { nodes: [code('a'), code('b', ['a']), code('c', ['b'], { when: '{% false %}' })] });
      const run = await start(world, 'paused');
      await world.api.settle();
      await world.ask({ method: 'POST', path: `/v1/runs/${run}/pause` });
      return { runs: [run], goesOnWith: [{ method: 'POST', path: `/v1/runs/${run}/resume` }] };
    },
  },
  {
    name: 'stopping',
    about: 'A run whose stop was accepted, and that no pass has looked at since.',
    behave: ending({ a: done(1) }),
    async play(world) {
      await put(world, 'stopping', { nodes: [code('a'), code('b', ['a']), code('c', ['b'])] });
      const run = await start(world, 'stopping');
      await world.api.settle();
      await world.ask({ method: 'POST', path: `/v1/runs/${run}/stop` });
      return { runs: [run], goesOnWith: [] };
    },
  },
  {
    name: 'failing',
    about: 'A run in which a node failed for good while another one goes on, with a rule for what is below.',
    behave: ending({ a: broken }),
    async play(world) {
      await put(world, 'failing', {
        nodes: [code('a'), code('b'), code('below', ['a']), code('always', ['a', 'b'], { trigger: 'all_done' })],
      });
      const run = await start(world, 'failing');
      await world.api.settle();
      return { runs: [run], goesOnWith: [] };
    },
  },
];
