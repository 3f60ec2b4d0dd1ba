import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadDefinition, type PipelineDefinition } from '#authoring/index.ts';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';
import { Api, type Node, type Run } from '../../demo/api.ts';
import { follow } from '../../demo/progress.ts';
import typescript from '../../examples/typescript/pipeline.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** A pipeline in `examples/`, its input, and how its run has to end: by node its state and its number of attempts. */
const cases: {
  file: string;
  input?: unknown;
  /** Slots of pools that have to be there before. */
  pools?: Record<string, number>;
  run: Partial<Run>;
  nodes: Record<string, [state: string, attempts: number]>;
}[] = [
  {
    file: 'retry/pipeline.yaml',
    run: { state: 'SUCCEEDED', output: 3 },
    nodes: { flaky: ['SUCCEEDED', 3], picky: ['FAILED', 1], after: ['SUCCEEDED', 1] },
  },
  {
    file: 'progress/pipeline.yaml',
    run: { state: 'SUCCEEDED', output: 3 },
    nodes: { load: ['SUCCEEDED', 1] },
  },
  {
    file: 'when/pipeline.yaml',
    input: { rows: 3 },
    run: { state: 'SUCCEEDED', output: 'done' },
    nodes: {
      extract: ['SUCCEEDED', 1],
      load: ['SUCCEEDED', 1],
      'nothing-to-do': ['SKIPPED', 0],
      announce: ['SUCCEEDED', 1],
    },
  },
  {
    file: 'failure/pipeline.yaml',
    run: { state: 'FAILED', message: expect.stringContaining('load') },
    nodes: {
      extract: ['SUCCEEDED', 1],
      load: ['FAILED', 1],
      publish: ['UPSTREAM_FAILED', 0],
      archive: ['SUCCEEDED', 1],
      index: ['SUCCEEDED', 1],
    },
  },
  {
    file: 'failure/allow-failure.yaml',
    run: { state: 'SUCCEEDED', output: { thumbnails: 'FAILED', error: 'this step was asked to fail' } },
    nodes: {
      upload: ['SUCCEEDED', 1],
      thumbnails: ['FAILED', 1],
      gallery: ['UPSTREAM_FAILED', 0],
      publish: ['SUCCEEDED', 1],
    },
  },
  {
    file: 'triggers/pipeline.yaml',
    run: { state: 'SUCCEEDED' },
    nodes: {
      good: ['SUCCEEDED', 1],
      bad: ['FAILED', 1],
      skipped: ['SKIPPED', 0],
      all_success: ['UPSTREAM_FAILED', 0],
      all_done: ['SUCCEEDED', 1],
      one_success: ['SUCCEEDED', 1],
      one_failed: ['SUCCEEDED', 1],
      all_failed: ['SKIPPED', 0],
      none_failed: ['UPSTREAM_FAILED', 0],
      none_failed_min_one_success: ['UPSTREAM_FAILED', 0],
      none_skipped: ['SKIPPED', 0],
      always: ['SUCCEEDED', 1],
    },
  },
  {
    file: 'timeouts/pipeline.yaml',
    run: {
      state: 'SUCCEEDED',
      output: { stuckOnce: { attempt: 2 }, stuck: 'States.Timeout', unserved: 'Millrace.QueueTimeout' },
    },
    nodes: {
      'stuck-once': ['SUCCEEDED', 2],
      stuck: ['TIMED_OUT', 1],
      unserved: ['TIMED_OUT', 0],
      after: ['SUCCEEDED', 1],
    },
  },
  {
    file: 'limits/pipeline.yaml',
    pools: { 'example-warehouse': 1 },
    run: { state: 'SUCCEEDED', output: { order: ['urgent', 'first', 'second'], atOnce: 1 } },
    nodes: {
      first: ['SUCCEEDED', 1],
      second: ['SUCCEEDED', 1],
      urgent: ['SUCCEEDED', 1],
      order: ['SUCCEEDED', 1],
    },
  },
  {
    file: 'typescript/pipeline.ts',
    run: { state: 'SUCCEEDED', output: { regions: 3, sales: 14 } },
    nodes: {
      'sales-north': ['SUCCEEDED', 1],
      'sales-east': ['SUCCEEDED', 1],
      'sales-south': ['SUCCEEDED', 1],
      report: ['SUCCEEDED', 1],
    },
  },
  {
    file: 'failure/fail-fast.yaml',
    run: { state: 'FAILED', message: expect.stringContaining('load') },
    nodes: { extract: ['SUCCEEDED', 1], load: ['FAILED', 1], slow: ['ABORTED', 1], publish: ['ABORTED', 0] },
  },
  {
    file: 'map/pipeline.yaml',
    run: {
      state: 'SUCCEEDED',
      output: { total: 250, places: [0, 1, 3, 4], failed: ['FileMissing'], none: [] },
    },
    nodes: {
      list: ['SUCCEEDED', 1],
      measure: ['SUCCEEDED', 0],
      sum: ['SUCCEEDED', 1],
      none: ['SUCCEEDED', 0],
    },
  },
  {
    file: 'cache/pipeline.yaml',
    run: { state: 'SUCCEEDED', output: { regions: ['north', 'east', 'north'], reused: true } },
    nodes: { work: ['SUCCEEDED', 0] },
  },
  {
    file: 'children/child.yaml',
    input: { region: 'north' },
    run: { state: 'SUCCEEDED', output: 5 },
    nodes: { count: ['SUCCEEDED', 1] },
  },
  {
    file: 'children/pipeline.yaml',
    run: { state: 'SUCCEEDED', output: { sum: 9, failed: 'Millrace.ChildRunFailed' } },
    nodes: { regions: ['SUCCEEDED', 0], sum: ['SUCCEEDED', 1] },
  },
  {
    file: 'large-outputs/pipeline.yaml',
    run: { state: 'SUCCEEDED', output: { text: '40000 rows, 119995 in all' } },
    nodes: { make: ['SUCCEEDED', 1], sum: ['SUCCEEDED', 1], report: ['SUCCEEDED', 1] },
  },
  {
    file: 'branch/pipeline.yaml',
    input: { amount: 1200 },
    run: { state: 'SUCCEEDED', output: 'booked after reviewed' },
    nodes: {
      judge: ['SUCCEEDED', 1],
      pay: ['SKIPPED', 0],
      receipt: ['SKIPPED', 0],
      review: ['SUCCEEDED', 1],
      notify: ['SUCCEEDED', 1],
      book: ['SUCCEEDED', 1],
    },
  },
  {
    file: 'branch/pipeline.yaml',
    input: { amount: 50 },
    run: { state: 'SUCCEEDED', output: 'booked after paid' },
    nodes: {
      judge: ['SUCCEEDED', 1],
      pay: ['SUCCEEDED', 1],
      receipt: ['SUCCEEDED', 1],
      review: ['SKIPPED', 0],
      notify: ['SKIPPED', 0],
      book: ['SUCCEEDED', 1],
    },
  },
  {
    file: 'expressions/pipeline.yaml',
    input: { day: '2026-11-30' },
    run: {
      state: 'SUCCEEDED',
      output: {
        totals: {
          count: 3,
          sum: 55,
          dear: ['lamp'],
          'by item': { lamp: 35, cup: 20 },
          label: '100 % {% is no expression %} inside a text',
          'same time': true,
        },
        given: ['input', 'upstream'],
        error: '{% $nodes.totals.output.summ %} gives no value: $nodes.totals.output.summ is missing',
      },
    },
    nodes: {
      'orders of the day': ['SUCCEEDED', 1],
      totals: ['SUCCEEDED', 1],
      everything: ['SUCCEEDED', 1],
      typo: ['FAILED', 1],
      report: ['SUCCEEDED', 1],
    },
  },
];

/** All functions of the examples in one folder, as links: one host for all. */
async function linkFunctions(folder: string): Promise<void> {
  await mkdir(folder);
  for (const file of new Set(cases.map((each) => each.file))) {
    const functions = join(examples, file, '..', 'functions');
    for (const name of await readdir(functions))
      await symlink(join(functions, name), join(folder, name)).catch(() => {});
  }
}

/** Puts an example as its author wrote it: YAML as text, TypeScript as the JSON that it makes. */
async function put(api: Api, file: string): Promise<PipelineDefinition> {
  if (file === 'typescript/pipeline.ts') {
    await api.putPipeline(typescript.name, JSON.stringify(typescript), 'application/json');
    return typescript;
  }
  const text = await readFile(join(examples, file), 'utf8');
  const loaded = loadDefinition(text, 'yaml');
  if (!loaded.ok) throw new Error(`${file} is not valid`);
  await api.putPipeline(loaded.definition.name, text, 'application/yaml');
  return loaded.definition;
}

let folder: string;
let host: Host;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-examples-'));
  await linkFunctions(join(folder, 'functions'));
  const cdkOut = await synthesizeApp({ functionsDir: join(folder, 'functions'), outDir: join(folder, 'cdk.out') });
  host = await startHost({ cdkOut, dataDir: join(folder, 'data'), port: 0 });
});
afterAll(async () => {
  await host?.close();
  await rm(folder, { recursive: true, force: true });
});

async function putPool(name: string, slots: number): Promise<void> {
  const request = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ slots }) };
  expect((await fetch(`${host.url}/v1/pools/${name}`, request)).status).toBe(200);
}

describe('the examples end as their first lines say', () => {
  it.each(cases)('$file', async ({ file, input = {}, pools = {}, run, nodes }) => {
    const api = new Api(host.url);
    for (const [pool, slots] of Object.entries(pools)) await putPool(pool, slots);
    const { name } = await put(api, file);
    const { id } = await api.startRun(name, input, JSON.stringify([file, input]));
    const ended = await follow(api, id, 60_000, () => {});
    const found = ended.nodes.map(({ id: node, state, attempt }: Node) => [node, [state, attempt]]);
    expect(Object.fromEntries(found)).toEqual(nodes);
    expect(ended.run).toMatchObject(run);
  });
});
