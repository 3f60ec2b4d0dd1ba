import { Duration } from 'aws-cdk-lib';
import { type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { MillraceParts } from './millrace-parts.ts';
import type { MillraceSettings } from './millrace-props.ts';

/** What is told about one of our own functions. */
export interface FunctionMetrics {
  readonly invocations: IMetric;
  /** Invocations that ended with an error. */
  readonly errors: IMetric;
  /** Invocations that the account had no room for. */
  readonly throttles: IMetric;
  /** Longest of a hundred invocations (ms). */
  readonly duration: IMetric;
}

/** What CloudWatch knows of an installation. Those of the tick are told every tick. */
export interface MillraceMetrics {
  /** For how long what is due longest has been due, in seconds; 0 where everything is on its way. */
  readonly oldestDueSeconds: IMetric;
  /** Runs, engines, pools and pipelines that have been due for 15 ticks. */
  readonly stuck: IMetric;
  /** Ticks that came to their end. */
  readonly ticks: IMetric;
  /** What ticks rang. */
  readonly rung: IMetric;
  /** Events of a function's own that a rule let through to it, by the name of the function. */
  readonly ownEventsDropped: ReadonlyMap<string, IMetric>;
  /** Messages that nobody could settle or deliver, by the queue or schedule that they were meant for. */
  readonly deadLetters: ReadonlyMap<string, IMetric>;
  /** By the name of the function, without the installation's. */
  readonly functions: ReadonlyMap<string, FunctionMetrics>;
  /** Age of the oldest message (s), by queue. */
  readonly messageAges: ReadonlyMap<string, IMetric>;
  /** Requests that the API answered with 500 or above. */
  readonly serverErrors: IMetric;
  /** Executions of the engine `lambda`. */
  readonly executions: ReadonlyMap<'started' | 'failed' | 'throttled', IMetric>;
}

/** Namespace of the metrics of our own functions. */
const NAMESPACE = 'Millrace';

/** The functions that rules of the bus feed, which drop what they published themselves. */
const FED_BY_RULES = ['scheduler', 'intake', 'notifier'];

/** The metrics of an installation. They cost nothing until somebody looks at them. */
export function metricsOf(settings: MillraceSettings, parts: MillraceParts): MillraceMetrics {
  const { own, inbox, requests, tick, entrance, engine, live } = parts;
  const period = Duration.minutes(5);
  const ofFunction = (name: string, metricName: string, statistic: string, every = period) =>
    new Metric({
      namespace: NAMESPACE,
      metricName,
      dimensionsMap: { service: `${settings.installation}-${name}` },
      statistic,
      period: every,
    });
  const ofScheduler = (...[metricName, statistic, every]: [string, string, Duration?]) =>
    ofFunction('scheduler', metricName, statistic, every);
  const depths = { inbox: inbox.deadLetters, requests: requests.deadLetters, tick: tick.deadLetters };
  const { stateMachine } = engine;
  const sum = { statistic: Stats.SUM, period };
  return {
    oldestDueSeconds: ofScheduler('OldestDueSeconds', Stats.MAXIMUM, settings.tickRate),
    stuck: ofScheduler('StuckDue', Stats.MAXIMUM, settings.tickRate),
    ticks: ofScheduler('OldestDueSeconds', Stats.SAMPLE_COUNT, Duration.minutes(5 * settings.tickRate.toMinutes())),
    rung: ofScheduler('DueRung', Stats.SUM),
    ownEventsDropped: new Map(FED_BY_RULES.map((name) => [name, ofFunction(name, 'OwnEventDropped', Stats.SUM)])),
    deadLetters: mapped(depths, (queue) =>
      queue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period }),
    ),
    functions: mapped(
      { api: own.api, scheduler: own.scheduler, intake: own.intake, notifier: live.notifier },
      functionMetrics,
    ),
    messageAges: mapped({ inbox, requests }, ({ queue }) =>
      queue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period }),
    ),
    serverErrors: entrance.metricServerErrors(sum),
    executions: new Map([
      ['started', stateMachine.metricStarted(sum)],
      ['failed', stateMachine.metricFailed(sum)],
      ['throttled', stateMachine.metricThrottled(sum)],
    ]),
  };
}

function functionMetrics(of: IFunction): FunctionMetrics {
  const sum = { statistic: Stats.SUM, period: Duration.minutes(5) };
  return {
    invocations: of.metricInvocations(sum),
    errors: of.metricErrors(sum),
    throttles: of.metricThrottles(sum),
    duration: of.metricDuration({ ...sum, statistic: Stats.p(99) }),
  };
}

function mapped<Value, Result>(
  values: Readonly<Record<string, Value>>,
  toResult: (value: Value) => Result,
): ReadonlyMap<string, Result> {
  return new Map(Object.entries(values).map(([name, value]) => [name, toResult(value)]));
}
