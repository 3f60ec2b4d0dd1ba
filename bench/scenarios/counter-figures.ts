/** The figures of what was counted, each for one node, and what they should be. */
import type { Figure } from '../bench.ts';
import { billOf, ownInvocations } from './bill.ts';
import type { Counted } from './counting-host.ts';

/** What a figure may be at most. */
export type Limits = ReadonlyMap<string, number>;

const MILLION = 1e6;

/** What any scenario without a limited engine should come to. */
export const EVERY_LIMIT: Limits = new Map([
  ['read units', 3],
  ['StartExecution', 1],
  ['DescribeExecution', 0],
  ['scheduler invocations', 1.1],
  ['US$ over Step Functions', 5],
]);

/** The counters of a node, and what a million of them cost. */
export function counterValues(counted: Counted): readonly (readonly [what: string, value: number, decimals: number])[] {
  const { scenario, wire, cpuMs, logged, storedBytes } = counted;
  const { calls } = wire;
  const bill = billOf(counted);
  const per = (amount: number) => amount / scenario.executions;
  const states = (api: string) => per(calls.states?.[api] ?? 0);
  const dollars = (amount: number) => per(amount) * MILLION;
  return [
    ['write units', per(wire.writeUnits), 2],
    ['read units', per(wire.readUnits), 2],
    ['DynamoDB requests', per(sumOf(calls.dynamodb)), 2],
    ['commits of runs', per(logged.commits), 2],
    ['commits lost to others', per(logged.lostCommits), 2],
    ['StartExecution', states('StartExecution'), 2],
    ['DescribeExecution', states('DescribeExecution'), 2],
    ['ListExecutions', states('ListExecutions'), 2],
    ['StopExecution', states('StopExecution'), 2],
    ['state transitions', per(wire.transitions), 2],
    ['custom events', per(wire.events), 3],
    ['queue messages', per(wire.messages), 2],
    ['SQS requests', per(wire.queueRequests), 2],
    ['scheduler invocations', per(calls.lambda?.['millrace-scheduler'] ?? 0), 2],
    ['our invocations in all', per(ownInvocations(wire)), 2],
    ['CPU of our functions, ms', per(cpuMs), 2],
    ['billed ms of our functions', per(bill.billedMs), 1],
    ['bytes to the log', per(bill.logBytes), 0],
    ['bytes stored', per(storedBytes), 0],
    ['US$ DynamoDB', dollars(bill.dynamodb), 2],
    ['US$ Lambda, ours', dollars(bill.lambda), 2],
    ['US$ SQS, EventBridge, API', dollars(bill.messages), 2],
    ['US$ logs', dollars(bill.logs), 2],
    ['US$ over Step Functions', dollars(bill.overStepFunctions), 2],
    ['US$ all in', dollars(bill.allIn), 2],
    ['US$ bare Step Functions', dollars(bill.bare), 2],
    ['US$ a month of storage', dollars(bill.storageMonth), 2],
  ];
}

/** The column of a scenario in a table of counters. */
export function counterColumn(table: string, counted: Counted, limits: Limits): Figure[] {
  const { name, slots } = counted.scenario;
  const column = slots === undefined ? name : `${name}, ${slots}`;
  const values: readonly (readonly [string, number, number])[] = [
    ...counterValues(counted),
    ['scheduler workers at once', counted.workersAtOnce, 0],
    ['seconds on this machine', counted.seconds, 1],
  ];
  return values.map(([what, value, decimals]) => {
    const most = limits.get(what);
    return { what, table, column, values: [value], decimals, ...(most !== undefined && { most, aim: `≤ ${most}` }) };
  });
}

function sumOf(calls: Readonly<Record<string, number>> = {}): number {
  return Object.values(calls).reduce((sum, times) => sum + times, 0);
}
