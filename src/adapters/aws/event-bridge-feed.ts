/** The way of events to live updates: an EventBridge rule that is enabled while somebody looks. */
import { DisableRuleCommand, EnableRuleCommand, type EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { LiveFeed } from '#ports/live.ts';

/** Where the rule is. */
export interface FeedRule {
  readonly bus: string;
  readonly rule: string;
}

/** Makes the feed of a rule. */
export function createEventBridgeFeed(client: EventBridgeClient, { bus, rule }: FeedRule): LiveFeed {
  const input = { EventBusName: bus, Name: rule };
  return {
    async open() {
      await client.send(new EnableRuleCommand(input));
    },
    async close() {
      await client.send(new DisableRuleCommand(input));
    },
  };
}
