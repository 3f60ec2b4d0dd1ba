import { HostError } from '#local/host-error.ts';

/** What `--chaos` asks for. A chance is a number from 0 to 1. */
export type ChaosSpec = {
  /** Chance that a delivery of an event is lost. @default 0 */
  readonly dropEvents: number;
  /** Chance that a delivery of an event is made several times. @default 0 */
  readonly repeatEvents: number;
  /** Deliveries of events arrive up to so many milliseconds late, in any order. @default 0 */
  readonly delayEventsMs: number;
  /** Chance that an invocation of a function dies with its environment, by function name. */
  readonly kill: ReadonlyMap<string, number>;
  /** Chance that a call of an AWS API is throttled, by API name. */
  readonly throttle: ReadonlyMap<string, number>;
};

/** APIs that can be throttled. */
const throttledApis: ReadonlySet<string> = new Set([
  ...['StartExecution', 'DescribeExecution', 'StopExecution', 'ListExecutions', 'DescribeStateMachine'],
  ...['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan', 'BatchGetItem', 'BatchWriteItem'],
  ...['PutEvents', 'SendMessage', 'SendMessageBatch'],
]);

const known = 'drop-events=P, repeat-events=P, delay-events=DURATION, kill=FUNCTION:P, throttle=API:P';

/**
 * Reads a `--chaos` text: parts such as `drop-events=0.2` or `kill=scheduler:0.3`, separated by commas.
 * `kill` and `throttle` may come several times.
 * @throws {HostError} `INVALID_CHAOS`, naming the part and what would be right
 */
export function parseChaos(text: string): ChaosSpec {
  const seen = new Set<string>();
  const numbers = { dropEvents: 0, repeatEvents: 0, delayEventsMs: 0 };
  const kill = new Map<string, number>();
  const throttle = new Map<string, number>();
  for (const part of text.split(',').map((each) => each.trim())) {
    const equals = part.indexOf('=');
    const [key, value] = [part.slice(0, Math.max(0, equals)), part.slice(equals + 1)];
    const once = key === 'kill' || key === 'throttle' ? `${key}=${value.slice(0, value.lastIndexOf(':'))}` : key;
    if (seen.has(once)) throw invalid(part, `${once} is given twice`);
    seen.add(once);
    if (key === 'drop-events') numbers.dropEvents = chance(part, value);
    else if (key === 'repeat-events') numbers.repeatEvents = chance(part, value);
    else if (key === 'delay-events') numbers.delayEventsMs = durationMs(part, value);
    else if (key === 'kill') kill.set(...named(part, value, 'FUNCTION'));
    else if (key === 'throttle') throttle.set(...throttled(part, value));
    else throw invalid(part, `known are ${known}`);
  }
  return { ...numbers, kill, throttle };
}

function throttled(part: string, value: string): [string, number] {
  const [api, probability] = named(part, value, 'API');
  if (!throttledApis.has(api)) throw invalid(part, `API is one of ${[...throttledApis].join(', ')}`);
  return [api, probability];
}

function named(part: string, value: string, what: string): [string, number] {
  const colon = value.lastIndexOf(':');
  if (colon < 1)
    throw invalid(
      part,
      `it takes ${what}:P, such as ${part.split('=')[0]}=${what === 'API' ? 'StartExecution' : 'api'}:0.2`,
    );
  return [value.slice(0, colon), chance(part, value.slice(colon + 1))];
}

function chance(part: string, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= 0 && value <= 1) return value;
  throw invalid(part, 'a chance is a number from 0 to 1');
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const longestDelayMs = 15 * 60_000;

function durationMs(part: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text);
  const ms = match === null ? Number.NaN : Number(match[1]) * (unitMs[match[2] ?? ''] ?? Number.NaN);
  if (ms >= 0 && ms <= longestDelayMs) return ms;
  throw invalid(part, 'a duration is a number with ms, s or m, at most 15m, such as 500ms or 2s');
}

function invalid(part: string, right: string): HostError {
  return new HostError('INVALID_CHAOS', `--chaos: "${part}" is not understood: ${right}`);
}
