/** What was counted, as a bill: ours, and that of Step Functions alone for the same DAG. */
import { costOf } from '#local/aws-prices.ts';
import type { WireCounts } from '#local/wire-log.ts';
import { bareTransitions } from './bare-step-functions.ts';
import type { Counted } from './counting-host.ts';
import { NO_COUNTS } from './wire-sum.ts';

/** Memory of our own functions, and with how much Lambda gives a whole core (MB). */
const MEMORY_MB = 512;
const WHOLE_CORE_MB = 1_769;
/**
 * What an invocation waits for services, which is billed, too (ms): three calls of DynamoDB one after the other, 5 ms
 * each, and one of Step Functions. An assumption: the development host answers within a millisecond.
 */
const WAITING_MS = 40;
/**
 * Lines that Lambda itself writes to the log of an invocation (START, END, REPORT), their bytes, and what CloudWatch Logs adds to
 * each line that it takes in. https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html
 */
const PLATFORM_LINES = 3;
const PLATFORM_BYTES = 300;
const LINE_BYTES = 26;
/** Dollars, of all runs of a scenario together. */
export interface Bill {
  /** Billed time of our own functions (ms). */
  readonly billedMs: number;
  /** What CloudWatch Logs takes in of our own functions. */
  readonly logBytes: number;
  readonly dynamodb: number;
  readonly lambda: number;
  /** Queues, events, and requests to the API. */
  readonly messages: number;
  readonly logs: number;
  /** All of the above: what Millrace costs on top of the executions that it starts. */
  readonly overStepFunctions: number;
  /** With those executions, without what they invoke. */
  readonly allIn: number;
  /** What one Standard execution a run would be billed at. */
  readonly bare: number;
  /** A month of storage with its backup; in no sum, since it depends on how long runs are kept. */
  readonly storageMonth: number;
}

/** Reckons a bill at list prices. Functions of users are in neither bill: they would cost the same. */
export function billOf({ scenario, wire, cpuMs, logged, storedBytes }: Counted): Bill {
  const invocations = ownInvocations(wire);
  const billedMs = (cpuMs * WHOLE_CORE_MB) / MEMORY_MB + invocations * WAITING_MS;
  const lines = logged.lines + PLATFORM_LINES * invocations;
  const logBytes = logged.bytes + PLATFORM_BYTES * invocations + LINE_BYTES * lines;
  const counts = { ...wire, invocations, gigabyteMs: (billedMs * MEMORY_MB) / 1024 };
  const cost = costOf(counts, { logBytes, storedByteMonths: storedBytes });
  const of = (...quantities: readonly string[]) =>
    cost.lines.reduce((sum, line) => (quantities.includes(line.of) ? sum + line.dollars : sum), 0);
  const parts = {
    dynamodb: of('writeUnits', 'readUnits'),
    lambda: of('invocations', 'gigabyteMs'),
    messages: of('queueRequests', 'events', 'httpRequests'),
    logs: of('logBytes'),
  };
  const overStepFunctions = Object.values(parts).reduce((sum, part) => sum + part, 0);
  return {
    billedMs,
    logBytes,
    ...parts,
    overStepFunctions,
    allIn: overStepFunctions + of('transitions'),
    storageMonth: of('storedByteMonths'),
    bare: costOf({ ...NO_COUNTS, transitions: bareTransitions(scenario) }).dollars,
  };
}

/** Invocations of our own functions. */
export function ownInvocations({ calls }: WireCounts): number {
  const all = Object.entries(calls.lambda ?? {}).filter(([name]) => name.startsWith('millrace-'));
  return all.reduce((sum, [, times]) => sum + times, 0);
}
