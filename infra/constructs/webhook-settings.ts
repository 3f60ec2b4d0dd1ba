/** What a webhook is told, checked while the app is synthesized. */
import { Token } from 'aws-cdk-lib';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { RunStateName } from '../../src/domain/run.ts';
import { SynthesisError } from './synthesis-error.ts';

/** The events that a webhook may be told of. */
export type WebhookEvent = 'RunChanged' | 'RunRejected' | 'PipelineChanged' | 'EngineChanged';

/** Who is told of what. */
export interface WebhookOptions {
  /** Where events are posted to, `https://hooks.example.com/millrace`; `http` only for this machine, on the development host. */
  readonly url: string;
  /** What the receiver knows the sender by: its text is sent in a header of every request. */
  readonly secret: Pick<ISecret, 'secretValue'>;
  /** Name of that header. @default `x-api-key` */
  readonly header?: string;
  /** @default `RunChanged` alone */
  readonly events?: readonly WebhookEvent[];
  /** Names of pipelines; only what concerns these is told. @default all */
  readonly pipelines?: readonly string[];
  /** States that a run comes to, such as `FAILED`; others are not told of. @default all */
  readonly states?: readonly RunStateName[];
  /** Requests a second, 1 to 300. What comes faster waits. @default 10 */
  readonly ratePerSecond?: number;
  /** For how long a request is tried again, 60 to 86,400. @default 86400, a day */
  readonly maxAgeSeconds?: number;
  /** How often a request is tried again, 0 to 185. @default 185 */
  readonly maxRetries?: number;
}

/** Options with everything in its place. */
export type WebhookSettings = Required<Omit<WebhookOptions, 'pipelines' | 'states'>> &
  Pick<WebhookOptions, 'pipelines' | 'states'>;

const NAME = /^[\w-]{1,40}$/;
/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_CreateConnection.html, without what only HTTP itself may set. */
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,512}$/;
const HEADERS_OF_HTTP =
  /^(content-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|user-agent|range)$/i;
const EVENTS: readonly string[] = ['RunChanged', 'RunRejected', 'PipelineChanged', 'EngineChanged'];
const RUN_STATES: Readonly<Record<RunStateName, true>> = {
  ...{ QUEUED: true, RUNNING: true, PAUSED: true, STOPPING: true },
  ...{ SUCCEEDED: true, FAILED: true, TIMED_OUT: true, ABORTED: true },
};
const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Checks a webhook and fills in its defaults.
 * @throws SynthesisError `INVALID_WEBHOOK`, naming the option and what would be right
 */
export function toWebhookSettings(name: string, options: WebhookOptions): WebhookSettings {
  check(NAME.test(name), 'name', name, '1 to 40 letters, digits, "-" and "_"');
  const { url, secret, header = 'x-api-key', events = ['RunChanged'], pipelines, states } = options;
  check(isAddress(url), 'url', url, 'an address that begins with https://, without credentials, "*" and fragment');
  check(
    HEADER.test(header) && !HEADERS_OF_HTTP.test(header),
    'header',
    header,
    'a header that HTTP itself does not use',
  );
  checkList('events', events, (event) => EVENTS.includes(event), `some of ${EVENTS.join(', ')}`);
  if (pipelines) checkList('pipelines', pipelines, (each) => each !== '', 'names of pipelines');
  if (states) {
    const known = Object.keys(RUN_STATES);
    checkList('states', states, (state) => known.includes(state), `some of ${known.join(', ')}`);
    check(events.includes('RunChanged'), 'states', states, 'left out where RunChanged is not among the events');
  }
  const { ratePerSecond = 10, maxAgeSeconds = 86_400, maxRetries = 185 } = options;
  checkNumber('ratePerSecond', ratePerSecond, 1, 300);
  checkNumber('maxAgeSeconds', maxAgeSeconds, 60, 86_400);
  checkNumber('maxRetries', maxRetries, 0, 185);
  return {
    ...{ url, secret, header, events, ratePerSecond, maxAgeSeconds, maxRetries },
    ...(pipelines && { pipelines }),
    ...(states && { states }),
  };
}

function isAddress(given: string): boolean {
  // One that is known only when it is deployed is checked by EventBridge.
  if (Token.isUnresolved(given)) return true;
  if (!URL.canParse(given) || given.includes('*') || given.length > 2048) return false;
  const { protocol, hostname, username, password, hash } = new URL(given);
  if (username !== '' || password !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname));
}

function checkList(option: string, list: readonly string[], isRight: (each: string) => boolean, allowed: string): void {
  check(list.length > 0 && list.every(isRight), option, list, allowed);
}

function checkNumber(option: string, value: number, min: number, max: number): void {
  check(Number.isInteger(value) && value >= min && value <= max, option, value, `a whole number, ${min} to ${max}`);
}

function check(isRight: boolean, option: string, value: unknown, allowed: string): void {
  if (isRight) return;
  throw new SynthesisError(
    'INVALID_WEBHOOK',
    `A webhook's ${option} is ${JSON.stringify(value)}; it must be ${allowed}.`,
  );
}
