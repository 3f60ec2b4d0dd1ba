import { createEventBridgeBus } from '#adapters/aws/event-bridge-bus.ts';
import { createEventBridgeFeed } from '#adapters/aws/event-bridge-feed.ts';
import { describeEventBus, describeLiveFeed, type Envelope } from './event-bus.contract.ts';
import { openHostMessages } from './host-messages.ts';
import { takeMessages } from './sqs-inbox.harness.ts';

async function openHostBus() {
  const host = await openHostMessages('bus');
  return {
    bus: createEventBridgeBus(host.events, 'bus'),
    feed: createEventBridgeFeed(host.events, { bus: 'bus', rule: 'all' }),
    async take(count: number) {
      const bodies = await takeMessages(host.sqs, host.queueUrl, count);
      return bodies.map((body) => JSON.parse(body) as Envelope);
    },
    close: host.close,
  };
}

describeEventBus('the development host', openHostBus);
describeLiveFeed('the development host', openHostBus);
