/** The log of an attempt in memory, and over the wire: the SDK's client against the development host's own answers. */
import { vi } from 'vitest';
import { createCloudWatchLogs } from '#adapters/aws/cloudwatch-logs.ts';
import { createMemoryLogs } from '#adapters/memory/memory-logs.ts';
import { createLogEvents } from '#local/log-events.ts';
import { listen } from '../integration/wire-listener.ts';
import { describeLogs } from './logs.contract.ts';

describeLogs('memory', async () => {
  const logs = createMemoryLogs();
  return {
    logs,
    async write(stream, at, ...texts) {
      const known = logs.lines.get('fn') ?? [];
      logs.lines.set('fn', [...known, ...texts.map((text) => ({ stream, at, text }))]);
    },
    close: async () => {},
  };
});

describeLogs('the development host', async () => {
  let now = 0;
  const events = createLogEvents(() => now);
  const server = await listen({ Logs_20140328: (target, body) => events.handle(target, body) });
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDWATCH_LOGS', server.url);
  return {
    logs: createCloudWatchLogs(),
    async write(stream, at, ...texts) {
      now = at;
      for (const text of texts) events.add('/aws/lambda/fn', stream, text);
    },
    async close() {
      vi.unstubAllEnvs();
      await server.close();
    },
  };
});
