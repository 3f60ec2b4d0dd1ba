/** Nodes whose code has to report, played by the real pass and tick in a simulated world. */
import { describe, expect, it } from 'vitest';
import type { NodeDefinition } from '#domain/definition.ts';
import { isRunOver } from '#domain/run.ts';
import { reportProgress } from '#scheduler/report-progress.ts';
import { chooser } from '#testing/chooser.ts';
import type { OperationFault } from '#testing/faults.ts';
import type { UserAct } from './users.ts';
import { type Faults, type Scenario, type Script, World } from './world.ts';

const MINUTE = 60_000;
const HANGS: Script = { durationMs: 10 ** 9, end: { status: 'SUCCEEDED', output: '{}' } };

function node(more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id: 'n', params: { function: 'f', payload: {} }, heartbeatSeconds: 120, ...more };
}

function ok(durationMs: number): Script {
  return { durationMs, end: { status: 'SUCCEEDED', output: '{}' } };
}

function every(ms: number, untilMs: number): number[] {
  return Array.from({ length: Math.floor(untilMs / ms) }, (_, at) => (at + 1) * ms);
}

interface Code {
  /** When it reports (ms after the run's creation). */
  readonly reportsAt: readonly number[];
  readonly attempt?: number;
  readonly item?: number;
}

async function play(
  nodes: readonly NodeDefinition[],
  script: Scenario['script'],
  { codes = [], faults = {} }: { readonly codes?: readonly Code[]; readonly faults?: Faults } = {},
) {
  const said: string[] = [];
  const toActs = ({ reportsAt, attempt = 1, item }: Code): UserAct[] =>
    reportsAt.map((atMs) => ({
      kind: 'ask',
      atMs,
      ask: async (deps, runId) => {
        const run = await deps.runs.readRun(runId);
        const token = tokenOf(world, attempt, item);
        if (!run || token === undefined) return true;
        const reporter = { node: 0, item, attempt, token, maxAttempts: 10 };
        said.push(await reportProgress(deps, run, reporter, { progress: 0.5 }));
        return true;
      },
    }));
  const scenario: Scenario = {
    name: 'heartbeats',
    definition: { name: 'heartbeats', nodes },
    users: codes.map(toActs),
    ...(script && { script }),
  };
  const world: World = new World(scenario, faults);
  await world.play(200);
  const run = await world.runs.readRun(world.run?.id ?? '');
  if (!run) throw new Error('the run is gone');
  const endedAfterMs = (run.endedAt ?? Number.POSITIVE_INFINITY) - run.createdAt;
  const starts = world.trace.starts.map(({ at }) => at - run.createdAt);
  return { world, run, said, endedAfterMs, starts };
}

/** The token that the execution of an attempt was given. */
function tokenOf(world: World, attempt: number, item: number | undefined): string | undefined {
  for (const { input } of world.executions.started.values()) {
    const { millrace } = JSON.parse(input) as { millrace: { attempt: number; item?: number; token: string } };
    if (millrace.attempt === attempt && millrace.item === item) return millrace.token;
  }
  return undefined;
}

describe('a node that has to report', () => {
  it('ends as TIMED_OUT, with its reason, when its worker is dead; its execution is stopped first', async () => {
    const { world, run, endedAfterMs } = await play([node()], () => HANGS);
    expect([run.state, run.nodes, run.firstBad?.error]).toEqual([
      'FAILED',
      'H',
      { name: 'Millrace.HeartbeatTimeout', message: 'attempt 1 did not report for 120 s' },
    ]);
    expect(endedAfterMs).toBeGreaterThanOrEqual(2 * MINUTE);
    expect(endedAfterMs).toBeLessThanOrEqual(4 * MINUTE + 1_000);
    expect([...world.executions.started.values()].map(({ status }) => status)).toEqual(['ABORTED']);
  });

  it('is tried again as after any error, with a time of its own', async () => {
    const retry = { maxAttempts: 3, intervalSeconds: 1, on: ['Millrace.HeartbeatTimeout'] };
    const { run, starts, endedAfterMs } = await play([node({ retry })], (_, attempt) =>
      attempt < 3 ? HANGS : ok(1_000),
    );
    expect([run.state, run.nodes, starts.length]).toEqual(['SUCCEEDED', 'S', 3]);
    expect(endedAfterMs).toBeLessThanOrEqual(10 * MINUTE);
  });

  it('goes on for as long as it reports, and is over soon after the last report', async () => {
    const alive = every(100_000, 20 * MINUTE);
    const slow = await play([node()], () => ok(20 * MINUTE), { codes: [{ reportsAt: alive }] });
    expect([slow.run.state, slow.run.nodes, new Set(slow.said)]).toEqual(['SUCCEEDED', 'S', new Set(['taken'])]);
    const dies = await play([node()], () => HANGS, { codes: [{ reportsAt: every(100_000, 10 * MINUTE) }] });
    expect([dies.run.nodes, dies.endedAfterMs > 12 * MINUTE, dies.endedAfterMs < 15 * MINUTE]).toEqual([
      'H',
      true,
      true,
    ]);
  });

  it('commits once for each time that it has to report, not for each report', async () => {
    const codes = [{ reportsAt: every(2_000, 20 * MINUTE) }];
    const { run, said } = await play([node({ heartbeatSeconds: 300 })], () => ok(20 * MINUTE), { codes });
    expect([run.state, said.length]).toEqual(['SUCCEEDED', 600]);
    expect(run.rev).toBeLessThan(16);
  });

  it('is asked of Step Functions no more often because it reports', async () => {
    const codes = [{ reportsAt: every(30_000, 60 * MINUTE) }];
    const { world } = await play([node({ heartbeatSeconds: 60 })], () => ok(60 * MINUTE), { codes });
    const looks = world.trace.operations.filter((operation) => operation.includes('executions.describe'));
    expect(looks.length).toBeLessThan(12);
  });

  it('without heartbeatSeconds may be silent', async () => {
    const { heartbeatSeconds: _none, ...silent } = node();
    const { run } = await play([silent], () => ok(30 * MINUTE));
    expect(run.nodes).toBe('S');
  });

  it('ends each silent item of a map alone', async () => {
    const nodes = [node({ map: { items: ['a', 'b'], toleratedFailureCount: 1 } })];
    const codes = [{ reportsAt: every(60_000, 10 * MINUTE), item: 1 }];
    const { run } = await play(nodes, (_n, _a, item) => (item === 0 ? HANGS : ok(10 * MINUTE)), { codes });
    expect([run.state, run.maps?.[0]?.firstBad]).toEqual([
      'SUCCEEDED',
      { item: 0, error: { name: 'Millrace.HeartbeatTimeout', message: 'attempt 1 did not report for 120 s' } },
    ]);
  });

  it('is not ended where its end is only not known yet, or while Step Functions answers nothing', async () => {
    const lost = await play([node()], () => ok(30_000), { faults: { drop: true } });
    expect(lost.run.nodes).toBe('S');
    const outage = { fromMs: 10_000, toMs: 8 * MINUTE };
    const unseen = await play([node()], () => ok(5 * MINUTE), { faults: { drop: true, outage } });
    expect(unseen.run.nodes).toBe('S');
  });

  it('reports after its end change nothing, and say so', async () => {
    const late = [{ reportsAt: [10 * MINUTE, 11 * MINUTE] }];
    const retry = { maxAttempts: 2, intervalSeconds: 1 };
    const { run, said } = await play([node({ retry })], (_, attempt) => (attempt === 1 ? HANGS : ok(MINUTE)), {
      codes: late,
    });
    expect([run.nodes, said]).toEqual(['S', ['over', 'over']]);
  });
});

describe('a node that has to report, in a world that goes wrong', () => {
  /** A report at each second around the time at which it would be too late. */
  const RACES = Array.from({ length: 30 }, (_, at) => 110_000 + at * 1_000);

  it('is ended or goes on, whichever came first, and never both', async () => {
    for (const reportAt of RACES) {
      const codes = [{ reportsAt: [reportAt, reportAt + 100_000] }];
      const { run, said } = await play([node()], () => ok(250_000), { codes });
      const isKept = run.nodes === 'S';
      expect(isKept || run.nodes === 'H', `${reportAt}: ${run.nodes}`).toBe(true);
      if (isKept) expect(said[0], String(reportAt)).toBe('taken');
      if (reportAt <= 119_000) expect(run.nodes, String(reportAt)).toBe('S');
    }
  });

  it('C101 ends right after a crash at every await', async () => {
    const kinds: OperationFault[] = [
      { kind: 'kill', when: 'before' },
      { kind: 'kill', when: 'after' },
      { kind: 'fail', when: 'after' },
      { kind: 'freeze', when: 'before', forMs: 45_000 },
    ];
    const nodes = [node({ retry: { maxAttempts: 2, intervalSeconds: 1 } })];
    const script: Scenario['script'] = (_, attempt) => (attempt === 1 ? HANGS : ok(5 * MINUTE));
    const codes: Code[] = [{ reportsAt: [60_000, 120_000] }, { reportsAt: every(30_000, 20 * MINUTE), attempt: 2 }];
    for (const fault of kinds) {
      for (let at = 0, reached = true; reached; at++) {
        const { world, run } = await play(nodes, script, { codes, faults: { at: new Map([[at, fault]]) } });
        expect([run.state, run.nodes], `${at} ${JSON.stringify(fault)}`).toEqual(['SUCCEEDED', 'S']);
        reached = world.trace.operations.length > at && at < 400;
      }
    }
  });

  it('ends, in any order of things, and one that reports in time is not taken for silent', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const faults: Faults = { choose: chooser(seed), lateMs: 20_000, skewMs: 1_000, loseOneIn: 4, staleMs: 2_000 };
      const nodes = [node({ retry: { maxAttempts: 2, intervalSeconds: 1 } })];
      const codes = [{ reportsAt: [50_000] }, { reportsAt: every(90_000, 30 * MINUTE), attempt: 2 }];
      const { run } = await play(nodes, (_, attempt) => (attempt === 1 ? HANGS : ok(12 * MINUTE)), { codes, faults });
      expect([isRunOver(run.state), run.nodes], `seed ${seed}`).toEqual([true, 'S']);
    }
  });
});
