import { createEventBridgeBus } from '#adapters/aws/event-bridge-bus.ts';
import { describeEventBus, type Envelope } from './event-bus.contract.ts';
import { openHostMessages } from './host-messages.ts';
import { takeMessages } from './sqs-inbox.harness.ts';

describeEventBus('the development host', async () => {
  const host = await openHostMessages('bus');
  return {
    bus: createEventBridgeBus(host.events, 'bus'),
    async take(count) {
      const bodies = await takeMessages(host.sqs, host.queueUrl, count);
      return bodies.map((body) => JSON.parse(body) as Envelope);
    },
    close: host.close,
  };
});
