/** Logs of functions on MiniStack's CloudWatch Logs. */
import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  DeleteLogGroupCommand,
  PutLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { createCloudWatchLogs } from '#adapters/aws/cloudwatch-logs.ts';
import { describeLogs } from '../../contract/logs.contract.ts';
import { useEmulator } from './emulator.ts';

const GROUP = { logGroupName: '/aws/lambda/fn' };

useEmulator();

describeLogs(
  'MiniStack',
  async () => {
    const client = new CloudWatchLogsClient({});
    const streams = new Set<string>();
    await client.send(new CreateLogGroupCommand(GROUP));
    return {
      logs: createCloudWatchLogs(),
      async write(logStreamName, timestamp, ...texts) {
        if (!streams.has(logStreamName)) await client.send(new CreateLogStreamCommand({ ...GROUP, logStreamName }));
        streams.add(logStreamName);
        const logEvents = texts.map((message) => ({ timestamp, message }));
        await client.send(new PutLogEventsCommand({ ...GROUP, logStreamName, logEvents }));
      },
      async close() {
        await client.send(new DeleteLogGroupCommand(GROUP));
        client.destroy();
      },
    };
  },
  {
    // CloudWatch Logs takes no lines of more than 14 days ago, nor of more than two hours ahead.
    now: Date.now() - 60_000,
    // It obeys `limit` and gives no `nextToken`, without which AWS has no more to give:
    // https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html
    hasNoPages: true,
  },
);
