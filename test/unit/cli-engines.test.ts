/** `millrace engines` and `millrace pools`: what they ask for, and what they show. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { Engine, Pool } from '#client/index.ts';
import { engineLines, engineTable } from '../../src/cli/engines-command.ts';
import { poolLines, poolTable } from '../../src/cli/pools-command.ts';
import { as, runHere, screen } from './cli-capture.ts';

const NOW = Date.parse('2026-11-30T12:00:00.000Z');
const ago = (ms: number) => new Date(NOW - ms).toISOString();
const ARN = 'arn:aws:states:eu-central-1:111122223333:stateMachine:millrace-spark';

const spark = {
  name: 'spark',
  builtIn: false,
  generation: 2,
  stateMachineArn: ARN,
  maxConcurrent: 10,
  running: 3,
  labels: { team: 'data' },
  status: 'Available',
  reason: 'Ready',
  message: 'It takes work.',
  heartbeatSeconds: 60,
  lastHeartbeatAt: ago(5_000),
  somethingNew: 1,
};
const lambda = { ...spark, name: 'lambda', builtIn: true, maxConcurrent: undefined, running: undefined, labels: {} };
const silent = { ...spark, name: 'old', status: 'Unavailable', message: 'Its owner has not reported for 60 s.' };
const slots = {
  holders: [{ run: 'run-a', pipeline: 'etl', slots: 3, nodes: ['load', 'tidy'] }],
  waiting: { count: 1000, hasMore: true, first: [{ run: 'run-b', pipeline: 'etl', priority: 5, since: ago(60_000) }] },
};

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** Answers everything with one body; keeps what was asked. */
async function serve(status: number, body: unknown) {
  const asked: string[] = [];
  server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url} ${await text(request)}`.trim());
    response.writeHead(status, { 'content-type': 'application/json' }).end(status === 204 ? '' : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, run: (...argv: string[]) => runHere([...argv, '--url', url]) };
}

describe('millrace engines', () => {
  it('lists engines where nothing else is said, and shows one by its name', async () => {
    const { asked, run } = await serve(200, { items: [] });
    expect(await run('engines')).toMatchObject({ code: 0, stdout: 'No engines.' });
    expect(await run('engines', 'show', '--json', '--limit', '2')).toMatchObject({ code: 0, stdout: '{"items":[]}' });
    await run('engines', 'spark', '--json');
    expect(asked).toEqual(['GET /v1/engines?limit=50', 'GET /v1/engines?limit=2', 'GET /v1/engines/spark']);
  });

  it('puts one with all that was said', async () => {
    const { asked, run } = await serve(201, spark);
    const told = await run(
      ...['engines', 'put', 'spark', '--arn', ARN, '--max-concurrent', '10', '--heartbeat-seconds', '60'],
      ...['--label', 'team=data', '--label', 'of=a=b', '--params-schema', '{"type":"object"}'],
    );
    expect(told).toEqual({ code: 0, stdout: 'Engine spark is Available: It takes work.', stderr: '' });
    const body = {
      stateMachineArn: ARN,
      maxConcurrent: 10,
      heartbeatSeconds: 60,
      labels: { team: 'data', of: 'a=b' },
      paramsSchema: { type: 'object' },
    };
    expect(asked).toEqual([`PUT /v1/engines/spark ${JSON.stringify(body)}`]);
  });

  it('drains and removes', async () => {
    const draining = await serve(200, { ...spark, status: 'Draining', message: 'It takes no new work.' });
    expect((await draining.run('engines', 'drain', 'spark')).stdout).toBe(
      'Engine spark is Draining: It takes no new work.',
    );
    expect(draining.asked).toEqual(['POST /v1/engines/spark/drain']);
    server?.close();
    const gone = await serve(204, undefined);
    expect(await gone.run('engines', 'remove', 'a b')).toEqual({
      code: 0,
      stdout: 'Engine a b is removed.',
      stderr: '',
    });
    expect(await gone.run('engines', 'remove', 'a b', '--json')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(gone.asked[0]).toBe('DELETE /v1/engines/a%20b');
  });

  it.each([
    [['engines', 'put', 'x'], "required option '--arn <arn>' not specified"],
    [['engines', 'put', 'x', '--arn', 'a', '--max-concurrent', '0'], 'It is a whole number from 1 to 1000.'],
    [['engines', 'put', 'x', '--arn', 'a', '--heartbeat-seconds', '9'], 'It is a whole number from 10 to 86400.'],
    [['engines', 'put', 'x', '--arn', 'a', '--label', '=x'], 'A label is KEY=VALUE'],
    [['engines', 'put', 'x', '--arn', 'a', '--params-schema', '{'], '--params-schema: line 1, column 2'],
    [['pools', 'put', 'x'], "required option '--slots <n>' not specified"],
    [['pools', 'put', 'x', '--slots', '1001'], 'It is a whole number from 0 to 1000.'],
  ])('%j is wrong usage', async (argv, message) => {
    const told = await runHere(argv);
    expect({ code: told.code, stdout: told.stdout }).toEqual({ code: 2, stdout: '' });
    expect(told.stderr).toContain(message);
    expect(told.stderr).not.toContain('\n');
  });

  it('shows them in a table', () => {
    const engines = [lambda, silent, spark].map((engine) => as<Engine>(engine));
    expect(engineTable(engines, screen(NOW))).toEqual([
      '  engine   status        running',
      '  lambda   Available               built in',
      '  old      Unavailable   3 of 10   Its owner has not reported for 60 s.',
      '  spark    Available     3 of 10   team=data',
    ]);
  });

  it('shows one with who holds its slots and who waits', () => {
    expect(engineLines(as<Engine>({ ...spark, ...slots }), screen(NOW))).toEqual([
      'Engine spark is Available: It takes work.',
      '  generation 2, 3 of 10 slots held',
      `  state machine ${ARN}`,
      '  labels team=data',
      '  reports every 60 s, last 5 s ago',
      '',
      '  held by run   pipeline   slots   nodes',
      '  run-a         etl            3   load, tidy',
      '',
      '  1,000 runs and more wait for a slot:',
      '  waiting run   pipeline   priority',
      '  run-b         etl               5   for 1 min',
    ]);
  });
});

describe('millrace pools', () => {
  const warehouse = { name: 'warehouse', slots: 5, held: 3 };

  it('lists, shows and puts', async () => {
    const { asked, run } = await serve(200, warehouse);
    expect((await run('pools', 'put', 'warehouse', '--slots', '5')).stdout).toBe('Pool warehouse has 5 slots; 3 held.');
    expect((await run('pools', 'warehouse')).stdout).toBe('Pool warehouse has 5 slots; 3 held.');
    expect(asked).toEqual(['PUT /v1/pools/warehouse {"slots":5}', 'GET /v1/pools/warehouse']);
  });

  it('shows them in a table, and one with who holds its slots', () => {
    expect(poolTable([as<Pool>(warehouse)], screen(NOW))).toEqual([
      '  pool        held   slots',
      '  warehouse      3       5',
    ]);
    expect(poolLines(as<Pool>({ ...warehouse, ...slots }), screen(NOW))).toContain(
      '  run-a         etl            3   load, tidy',
    );
    expect(poolTable([], screen(NOW))).toEqual(['No pools. `millrace pools put NAME --slots N` makes one.']);
  });
});
