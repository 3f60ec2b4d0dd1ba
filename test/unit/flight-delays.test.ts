import { appendFile, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import jsonata from 'jsonata';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { forMonths } from '../../examples/flight-delays/months.ts';

const example = new URL('../../examples/flight-delays/', import.meta.url);
const dataFolder = join(dirname(fileURLToPath(import.meta.resolve('vega-datasets'))), '..', 'data');

interface ExampleNode {
  readonly id: string;
  readonly dependsOn?: readonly string[];
  readonly when?: string;
  readonly params: { readonly function: string; readonly payload: unknown };
  readonly retry?: { readonly maxAttempts: number };
}
interface Definition {
  readonly nodes: readonly ExampleNode[];
  readonly output: unknown;
}
type Handler = (event: unknown, context: { clientContext: { attempt: number } }) => Promise<unknown>;
type Outcome = { output: unknown; attempts: number } | 'SKIPPED';

const definition: Definition = parse(await readFile(new URL('pipeline.yaml', example), 'utf8'));
let workFolder: string;
beforeAll(async () => {
  workFolder = await mkdtemp(join(tmpdir(), 'flight-delays-'));
});
afterAll(() => rm(workFolder, { recursive: true }));

function runInput(more: Record<string, unknown> = {}) {
  return {
    dataFolder,
    file: 'flights-2k.json',
    months: ['2001-01', '2001-02', '2001-03'],
    workFolder,
    lateShareLimit: 0.15,
    failingAttempts: 1,
    ...more,
  };
}

async function handlerOf(name: string): Promise<Handler> {
  const folder = new URL('functions/', example);
  const entries = await readdir(folder);
  const module = await import(new URL(entries.includes(`${name}.ts`) ? `${name}.ts` : `${name}/index.ts`, folder).href);
  return module.handler;
}

async function evaluate(value: unknown, bindings: Record<string, unknown>): Promise<unknown> {
  if (typeof value === 'string' && value.startsWith('{%'))
    return JSON.parse(JSON.stringify(await jsonata(value.slice(2, -2)).evaluate(null, bindings)));
  if (Array.isArray(value)) return Promise.all(value.map((item) => evaluate(item, bindings)));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(async ([key, item]) => [key, await evaluate(item, bindings)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** Runs the handlers in the order of the definition, as a run in which every upstream succeeds would. */
async function runAll(
  nodes: readonly ExampleNode[],
  id: string,
  input: Record<string, unknown>,
  after: (node: string) => Promise<void> = async () => undefined,
) {
  const outcomes = new Map<string, Outcome>();
  const done: Record<string, { output: unknown }> = {};
  const bindings = { run: { id, input }, nodes: done };
  for (const node of nodes) {
    expect(node.dependsOn ?? []).toSatisfy((ids: string[]) => ids.every((upstream) => upstream in done));
    if (node.when && !(await evaluate(node.when, bindings))) {
      outcomes.set(node.id, 'SKIPPED');
      continue;
    }
    const handler = await handlerOf(node.params.function);
    const payload = await evaluate(node.params.payload, bindings);
    for (let attempt = 1; !outcomes.has(node.id); attempt += 1) {
      try {
        const output = await handler(payload, { clientContext: { attempt } });
        expect(JSON.stringify(output).length).toBeLessThan(8 * 1024);
        outcomes.set(node.id, { output, attempts: attempt });
        done[node.id] = { output };
        await after(node.id);
      } catch (error) {
        if (attempt >= (node.retry?.maxAttempts ?? 1)) throw error;
      }
    }
  }
  return { outcomes, output: await evaluate(definition.output, bindings) };
}

describe('the flight delays pipeline', () => {
  it('reckons the figures of the source, retries the flaky one, and takes one of two branches', async () => {
    const { outcomes, output } = await runAll(definition.nodes, 'run-1', runInput());
    const source: { date: string; delay: number; distance: number }[] = JSON.parse(
      await readFile(join(dataFolder, 'flights-2k.json'), 'utf8'),
    );
    const quarter = source.filter(({ date }) => date < '2001/04');
    expect(output).toMatchObject({
      figures: {
        flights: quarter.length,
        late: quarter.filter(({ delay }) => delay >= 15).length,
        delaySum: quarter.reduce((sum, { delay }) => sum + delay, 0),
        distanceSum: quarter.reduce((sum, { distance }) => sum + distance, 0),
        dropped: 0,
        outside: source.length - quarter.length,
      },
      report: join(workFolder, 'run-1', 'flight-delays.html'),
    });
    expect(outcomes.size).toBeGreaterThanOrEqual(10);
    expect(outcomes.get('fetch-airports')).toMatchObject({ attempts: 2 });
    expect(outcomes.get('alert')).toMatchObject({ output: { level: 'alert' } });
    expect(outcomes.get('all-clear')).toBe('SKIPPED');
  });

  it('writes a report that needs nothing else, and leaves no parts behind', async () => {
    const { output } = await runAll(definition.nodes, 'run-2', runInput({ failingAttempts: 0 }));
    const { report } = output as { report: string };
    const html = await readFile(report, 'utf8');
    expect(html.match(/<svg/g)).toHaveLength(5);
    expect(html.match(/<(script|link|img|iframe)|url\((?!#)|NaN|undefined|Infinity/g)).toBeNull();
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, svgId]) => svgId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await readdir(dirname(report))).toEqual(
      expect.arrayContaining(['alert.txt', 'by-hour.json', 'flight-delays.html']),
    );
    expect(await readdir(dirname(report))).not.toEqual(expect.arrayContaining(['parts']));
  });

  it('gives the all-clear when no more flights are late than allowed', async () => {
    const { outcomes } = await runAll(definition.nodes, 'run-3', runInput({ lateShareLimit: 0.9 }));
    expect(outcomes.get('alert')).toBe('SKIPPED');
    expect(outcomes.get('all-clear')).toMatchObject({ output: { level: 'all-clear' } });
  });

  it.each([
    ['a flight is lost', (rows: string[]) => rows.slice(1), /flights of by-route: \d+, but the source gives \d+/],
    ['a delay is changed by a minute', changeFirstDelay, /delaySum of by-hour: -?\d+, but the source gives -?\d+/],
  ])('fails its check when %s on the way', async (_, change, message) => {
    const id = `run-${change.name}`;
    const tamper = async (node: string) => {
      if (node !== 'clean-2001-02') return;
      const file = join(workFolder, id, 'cleaned', '2001-02.jsonl');
      await writeFile(file, change((await readFile(file, 'utf8')).split('\n')).join('\n'));
    };
    const failure = runAll(definition.nodes, id, runInput(), tamper);
    await expect(failure).rejects.toMatchObject({ name: 'TotalsDiffer', message: expect.stringMatching(message) });
  });

  it('drops faulty flights, says why, and still reckons the rest', async () => {
    const month = '2001-02';
    const good = ['2001/02/05 10:00', 20, 300, 'LAX', 'SFO'];
    const rows = [
      good,
      ['2001/02/30 10:00', 20, 300, 'LAX', 'SFO'],
      ['2001/02/05 24:00', 20, 300, 'LAX', 'SFO'],
      ['2001/02/05 10:00', null, 300, 'LAX', 'SFO'],
      ['2001/02/05 10:00', 20, 300, 'LAX', 'QQQ'],
    ];
    const file = join(workFolder, 'faulty.jsonl');
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const clean = await handlerOf('flights-clean');
    const payload = { part: { month, file }, airports: join(dataFolder, 'airports.csv'), folder: workFolder };
    expect(await clean(payload, { clientContext: { attempt: 1 } })).toEqual({
      month,
      kept: { flights: 1, late: 1, delaySum: 20, distanceSum: 300 },
      dropped: { badDate: 2, badNumber: 1, unknownAirport: 1 },
      airports: 2,
    });
    expect(await readFile(join(workFolder, 'cleaned', `${month}.jsonl`), 'utf8')).toBe(
      '["2001-02-05",0,10,20,300,"LAX","SFO"]\n',
    );
  });

  it('refuses a source whose checksum is not the published one', async () => {
    const folder = join(workFolder, 'forged', 'data');
    await cp(join(dataFolder, 'flights-2k.json'), join(folder, 'flights-2k.json'));
    await cp(join(dataFolder, '..', 'datapackage.json'), join(folder, '..', 'datapackage.json'));
    const fetchFlights = await handlerOf('flights-fetch');
    const payload = { dataFolder: folder, file: 'flights-2k.json' };
    expect(await fetchFlights(payload, { clientContext: { attempt: 1 } })).toMatchObject({ rows: 2000 });
    await appendFile(join(folder, 'flights-2k.json'), ' ');
    const failure = fetchFlights(payload, { clientContext: { attempt: 1 } });
    await expect(failure).rejects.toMatchObject({ name: 'SourceDamaged' });
  });
});

describe('forMonths', () => {
  const months = ['2001-01', '2001-02', '2001-03', '2001-04', '2001-05', '2001-06'];

  it('gives each month its node, and what lists the months lists them all', () => {
    const { nodes } = forMonths(definition, months);
    const clean = months.map((month) => `clean-${month}`);
    expect(nodes.map(({ id }) => id).filter((id) => id.startsWith('clean-'))).toEqual(clean);
    expect(nodes.find(({ id }) => id === 'by-route')?.dependsOn).toEqual(clean);
    expect(nodes.find(({ id }) => id === 'check')?.params.payload).toMatchObject({
      cleaned: clean.map((id) => `{% $nodes.\`${id}\`.output %}`),
    });
  });

  it('leaves the definition alone for its own months', () => {
    expect(forMonths(definition, months.slice(0, 3))).toBe(definition);
  });

  it('makes a pipeline that also runs for one month', async () => {
    const { nodes } = forMonths(definition, ['2001-03']);
    const { output } = await runAll(nodes, 'run-march', runInput({ months: ['2001-03'] }));
    expect(output).toMatchObject({ figures: { months: [{ month: '2001-03' }] } });
  });
});

function changeFirstDelay([first = '', ...others]: string[]): string[] {
  const row = JSON.parse(first);
  row[3] += 1;
  return [JSON.stringify(row), ...others];
}
