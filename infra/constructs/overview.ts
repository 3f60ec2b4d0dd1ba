import { AlarmStatusWidget, Dashboard, GraphWidget, type IAlarm, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { MillraceMetrics } from './millrace-metrics.ts';

/** What the dashboard shows. */
export interface OverviewProps {
  readonly installation: string;
  readonly metrics: MillraceMetrics;
  readonly alarms: readonly IAlarm[];
}

/** One dashboard: what is late, what failed, what was done. */
export class Overview extends Construct {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, { installation, metrics, alarms }: OverviewProps) {
    super(scope, id);
    const functions = [...metrics.functions.values()];
    const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []) =>
      new GraphWidget({ title, left: [...left], right: [...right], width: 12, height: 6 });
    this.dashboard = new Dashboard(this, 'Dashboard', {
      dashboardName: installation,
      widgets: [
        alarms.length > 0
          ? [new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: 24, height: 4 })]
          : [],
        [
          graph('Late: oldest due (s), stuck', [metrics.oldestDueSeconds], [metrics.stuck]),
          graph('Rung by ticks', [metrics.rung], [metrics.ticks]),
        ],
        [
          graph('Dead letters', [...metrics.deadLetters.values()], [...metrics.ownEventsDropped.values()]),
          graph('Age of messages (s)', [...metrics.messageAges.values()]),
        ],
        [
          graph(
            'Invocations',
            functions.map(({ invocations }) => invocations),
          ),
          graph(
            'Duration (ms, p99)',
            functions.map(({ duration }) => duration),
          ),
        ],
        [
          graph(
            'Errors and throttles',
            functions.flatMap(({ errors, throttles }) => [errors, throttles]),
            [metrics.serverErrors],
          ),
          graph('Executions of the engine lambda', [...metrics.executions.values()]),
        ],
      ],
    });
  }
}
