import type { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IAlarmAction,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { MillraceMetrics } from './millrace-metrics.ts';

/** Who is told of alarms. */
export interface AlarmOptions {
  /** Told when an alarm begins, and when it is over. @default nobody */
  readonly topic?: ITopic;
  /** Further actions, when an alarm begins and when it is over. @default none */
  readonly actions?: readonly IAlarmAction[];
}

/** What alarms are made of. */
export interface AlarmsProps extends AlarmOptions {
  readonly installation: string;
  readonly metrics: MillraceMetrics;
  readonly tickRate: Duration;
}

/** One alarm. */
interface Watched {
  readonly name: string;
  readonly metric: IMetric;
  /** What has happened. */
  readonly what: string;
  /** What is to be done. */
  readonly todo: string;
  readonly threshold?: number;
  /** Periods in a row. @default 1 */
  readonly periods?: number;
  readonly comparison?: ComparisonOperator;
  readonly treatMissingData?: TreatMissingData;
}

/** Ticks that something may be due for before somebody is told. */
const LATE_TICKS = 5;
/** Periods of five minutes in which something fails before somebody is told: what fails once is tried again. */
const AGAIN_AND_AGAIN = 3;

/** The alarms of an installation; each says in its description what to do. */
export class Alarms extends Construct {
  /** By name: `tick-missing`, `oldest-due`, `stuck`, `dead-letters-inbox`, `errors-scheduler`, … */
  readonly byName: ReadonlyMap<string, Alarm>;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { topic, actions = [] } = props;
    const all = [...actions, ...(topic ? [notify(topic)] : [])];
    this.byName = new Map(watched(props).map((each) => [each.name, this.add(props.installation, each, all)]));
  }

  private add(installation: string, each: Watched, actions: readonly IAlarmAction[]): Alarm {
    const alarm = new Alarm(this, each.name, {
      alarmName: `${installation}-${each.name}`,
      alarmDescription: `${each.what} ${each.todo}`,
      metric: each.metric,
      threshold: each.threshold ?? 1,
      evaluationPeriods: each.periods ?? 1,
      comparisonOperator: each.comparison ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: each.treatMissingData ?? TreatMissingData.NOT_BREACHING,
    });
    if (actions.length > 0) {
      alarm.addAlarmAction(...actions);
      alarm.addOkAction(...actions);
    }
    return alarm;
  }
}

/** As the package of actions does it, which would load half of CDK. */
function notify({ topicArn }: ITopic): IAlarmAction {
  return { bind: () => ({ alarmActionArn: topicArn }) };
}

function watched({ installation, metrics, tickRate }: AlarmsProps): Watched[] {
  return [
    ...lateness(installation, metrics, tickRate),
    ...[...metrics.deadLetters].map(([name, metric]) => ({
      name: `dead-letters-${name}`,
      metric,
      what: `Messages of ${name} could not be settled or delivered.`,
      todo:
        `Read one in the queue ${installation}-${name}-dead-letters and the log of the function that it was meant for; mend ` +
        'the cause, then start the redrive of that queue. No run depends on a message, since ticks do the same later; a request of another system does.',
    })),
    ...[...metrics.functions].flatMap(([name, { errors, throttles }]) =>
      failures(installation, name, errors, throttles),
    ),
    {
      name: 'server-errors',
      metric: metrics.serverErrors,
      periods: AGAIN_AND_AGAIN,
      what: 'The API has answered with 500 or above for a quarter of an hour.',
      todo: `Look for level ERROR in the log of ${installation}-api: each line has the request, its code and the cause.`,
    },
    ...[...metrics.ownEventsDropped].map(([name, metric]) => ({
      name: `own-events-${name}`,
      metric,
      what: `A rule of EventBridge gave ${installation}-${name} events of its own, which it dropped.`,
      todo: `Compare the rules of the bus ${installation} with the stack (drift detection): somebody has changed or added one.`,
    })),
  ];
}

function lateness(installation: string, metrics: MillraceMetrics, tickRate: Duration): Watched[] {
  const logs = `the log of ${installation}-scheduler`;
  return [
    {
      name: 'tick-missing',
      metric: metrics.ticks,
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
      periods: 2,
      what: 'No tick has come to its end for a while: what was lost in a crash is not found again.',
      todo: `See whether the schedule ${installation}-tick is enabled, whether ${installation}-scheduler is throttled, and what ${logs} says of "tick".`,
    },
    {
      name: 'oldest-due',
      metric: metrics.oldestDueSeconds,
      threshold: LATE_TICKS * tickRate.toSeconds(),
      periods: 3,
      what: `Something has been due for ${LATE_TICKS} ticks and more: the scheduler does not keep up, or a pass fails again and again.`,
      todo: `See whether ${installation}-scheduler is throttled and how old the messages of ${installation}-inbox are, then look for level ERROR in ${logs}: it names the run.`,
    },
    {
      name: 'stuck',
      metric: metrics.stuck,
      periods: 2,
      what: 'Runs, engines, pools or pipelines have been due for 15 ticks.',
      todo: `Look for level ERROR in ${logs}: it names them. "millrace explain RUN" says what a run waits for; a run that no pass can carry on ends by itself with InternalError, or can be stopped.`,
    },
  ];
}

function failures(installation: string, name: string, errors: IMetric, throttles: IMetric): Watched[] {
  return [
    {
      name: `errors-${name}`,
      metric: errors,
      periods: AGAIN_AND_AGAIN,
      what: `The function ${installation}-${name} has failed in each of three periods of five minutes.`,
      todo: 'Read its log for level ERROR and for "Task timed out". Nothing is lost meanwhile: what failed is done again.',
    },
    {
      name: `throttles-${name}`,
      metric: throttles,
      periods: AGAIN_AND_AGAIN,
      what: `The account has had no room for ${installation}-${name} for a quarter of an hour.`,
      todo: 'Compare ConcurrentExecutions of the region with its quota, and have the quota raised: new accounts have 10.',
    },
  ];
}
