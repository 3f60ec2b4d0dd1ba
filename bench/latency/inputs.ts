/** What the latency model is computed from: one number each, with where it comes from. */
import { UsageError } from './usage-error.ts';

/** A number that the model is computed from. */
export interface Input {
  readonly value: number;
  readonly unit: 'ms' | 's' | 'MB' | 'share' | 'queries';
  /** What it is, and how it was come by. */
  readonly what: string;
  /** Where it was published, and when. Absent for what is nobody's figure but ours. */
  readonly source?: { readonly url: string; readonly date: string };
  /** `published`: measured or stated by the source. `derived`: computed from published figures. `own`: counted or measured here, or set by our stack. */
  readonly basis: 'published' | 'derived' | 'own' | 'guess';
}

/** Inputs by name. */
export type Inputs = ReadonlyMap<string, Input>;

const COMPARED = {
  url: 'https://bitesizedserverless.com/bite/serverless-messaging-latency-compared/',
  date: '2022-09',
};
const AMAZON_KEY = {
  url: 'https://sysdesign-wiki.pages.dev/sources/2026-02-04-aws-amazon-key-eventbridge-event-driven-architecture/',
  date: '2026-02',
};
const EVENTBRIDGE = {
  url: 'https://aws.amazon.com/about-aws/whats-new/2024/11/amazon-eventbridge-improvement-latency-event-buses/',
  date: '2024-11',
};
const DYNAMODB = { url: 'https://aws.amazon.com/blogs/database/understanding-amazon-dynamodb-latency/', date: '2022' };
const COLD_SHARE = {
  url: 'https://aws.amazon.com/blogs/compute/operating-lambda-performance-optimization-part-1/',
  date: '2021',
};
const COLD_NODE = {
  url: 'https://speedrun.nobackspacecrew.com/blog/2025/07/21/the-fastest-node-22-lambda-coldstart-configuration.html',
  date: '2025-07',
};
const COLD_HELLO = { url: 'https://hivebook.wiki/wiki/aws-lambda-cold-starts', date: '2026-04' };
const CPU_SHARE = { url: 'https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html', date: '2026-11' };
const TICK_RATE = {
  url: 'https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html',
  date: '2026-11',
};

type Basis = Input['basis'];
type Source = NonNullable<Input['source']>;

function spread(
  name: string,
  [p50, p99]: readonly [number, number],
  [basis50, basis99]: readonly [Basis, Basis],
  what: string,
  source?: Source,
): [string, Input][] {
  const input = (value: number, basis: Basis): Input => ({ value, unit: 'ms', what, basis, ...(source && { source }) });
  return [
    [`${name}.p50`, input(p50, basis50)],
    [`${name}.p99`, input(p99, basis99)],
  ];
}

function single(name: string, value: number, unit: Input['unit'], basis: Basis, what: string, source?: Source) {
  return [name, { value, unit, what, basis, ...(source && { source }) }] as const;
}

/** The inputs as they are where nobody changes them: large region, warm functions for the most part, nothing queues. */
export const DEFAULT_INPUTS: Inputs = new Map<string, Input>([
  ...spread(
    'states.event',
    [30, 200],
    ['guess', 'guess'],
    'end of an execution until its event is on the default bus; AWS says no more than "best effort"',
  ),
  single(
    'eventbridge.p50',
    45,
    'ms',
    'derived',
    'event on the bus until the queue has it: of the log-normal with the p90 of 80 ms that Amazon Key measures, and the p99',
    AMAZON_KEY,
  ),
  single('eventbridge.p99', 129, 'ms', 'published', 'the same: 129.33 ms in August 2024, says AWS', EVENTBRIDGE),
  ...spread(
    'sqs',
    [16.2, 105],
    ['published', 'published'],
    'message sent until a warm Lambda function that polls the queue has it',
    COMPARED,
  ),
  ...spread(
    'dynamodb.read',
    [4, 15],
    ['guess', 'guess'],
    'GetItem, strongly consistent, as the function sees it; AWS says "single-digit milliseconds" for its own side',
    DYNAMODB,
  ),
  ...spread(
    'dynamodb.write',
    [6, 20],
    ['guess', 'guess'],
    'PutItem with a condition, as the function sees it; AWS says "single-digit milliseconds" for its own side',
    DYNAMODB,
  ),
  ...spread(
    'states.start',
    [99.1, 250],
    ['published', 'published'],
    'call of StartExecution until the first line of the warm Lambda function that the first state invokes (Standard)',
    COMPARED,
  ),
  ...spread('states.describe', [25, 150], ['guess', 'guess'], 'DescribeExecution, as the function sees it'),
  ...spread('sqs.send', [10, 60], ['guess', 'guess'], 'SendMessageBatch, as the function sees it'),
  ...spread(
    'scheduler.init',
    [375, 1000],
    ['published', 'guess'],
    'cold start of the scheduler: Node.js, some SDK clients, their first call; AWS says "over 1 second" of the worst',
    COLD_NODE,
  ),
  single('scheduler.cold', 0.01, 'share', 'published', 'invocations that start cold: "under 1 %"', COLD_SHARE),
  single(
    'scheduler.cpu',
    4,
    'ms',
    'own',
    'computation of a pass up to its StartExecution on a whole core: bench/README.md, "What a hop consists of"',
  ),
  single('scheduler.memory', 512, 'MB', 'own', 'of the function; 1,769 MB have a whole core', CPU_SHARE),
  ...spread(
    'node.init',
    [150, 400],
    ['published', 'guess'],
    "cold start of the node's own function: Node.js without dependencies, arm64, 80 to 200 ms",
    COLD_HELLO,
  ),
  single('node.cold', 0.01, 'share', 'published', 'invocations that start cold: "under 1 %"', COLD_SHARE),
  single('node.seconds', 10, 's', 'guess', 'how long the upstream node takes whose event is lost'),
  single('tick.seconds', 60, 's', 'own', 'time between two ticks; EventBridge Scheduler has no less', TICK_RATE),
  ...spread(
    'tick.start',
    [43, 150],
    ['derived', 'guess'],
    'the tick is due until its function runs: what an asynchronous invocation took longer than a synchronous one',
    COMPARED,
  ),
  single('tick.queries', 8, 'queries', 'own', 'of the due index, one after the other: one a shard'),
]);

/**
 * Inputs with some of them changed.
 * @param changes each `name=value`
 * @throws UsageError where a name is unknown, a value is no number, or a p99 would be below its p50
 */
export function changeInputs(inputs: Inputs, changes: readonly string[]): Inputs {
  const changed = new Map(inputs);
  for (const change of changes) {
    const [, name = '', text = ''] = /^([^=]+)=(.+)$/.exec(change) ?? [];
    const input = changed.get(name);
    if (!input) throw new UsageError(`${change}: there is no input of that name, or no value; --help lists them`);
    const value = Number(text);
    if (!Number.isFinite(value) || value < 0) throw new UsageError(`${change}: the value is no number from 0 on`);
    if (input.unit === 'share' && value > 1) throw new UsageError(`${change}: a share is at most 1`);
    if (['MB', 's'].includes(input.unit) && value === 0) throw new UsageError(`${change}: the value has to exceed 0`);
    changed.set(name, { value, unit: input.unit, what: input.what, basis: 'guess' });
  }
  for (const name of changed.keys()) {
    if (name.endsWith('.p50')) checkSpread(changed, name.slice(0, -'.p50'.length));
  }
  return changed;
}

function checkSpread(inputs: Inputs, name: string): void {
  const [p50, p99] = spreadOf(inputs, name);
  if (p50 === 0 && p99 > 0) throw new UsageError(`${name}: with a p50 of 0 the p99 is 0, too`);
  if (p99 < p50) throw new UsageError(`${name}: its p99 (${p99}) is below its p50 (${p50})`);
}

/** The value of an input. */
export function inputOf(inputs: Inputs, name: string): number {
  const input = inputs.get(name);
  if (!input) throw new Error(`there is no input ${name}`);
  return input.value;
}

/** p50 and p99 of an input that varies (ms). */
export function spreadOf(inputs: Inputs, name: string): readonly [p50: number, p99: number] {
  return [inputOf(inputs, `${name}.p50`), inputOf(inputs, `${name}.p99`)];
}
