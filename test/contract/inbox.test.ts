import { Mailbox } from '#testing/mailbox.ts';
import { openHostMessages } from './host-messages.ts';
import { describeInbox, describeWatches, type InboxHarness } from './inbox.contract.ts';
import { CREATED } from './sample-run.ts';
import { openSqsInbox } from './sqs-inbox.harness.ts';

/** The inbox of the simulation, whose time goes on when somebody waits for a message. */
async function openMailbox(): Promise<InboxHarness> {
  let now = CREATED;
  const mailbox = new Mailbox({}, () => now);
  return {
    inbox: mailbox.inboxOf(false),
    async take(count) {
      const bodies: string[] = [];
      for (; bodies.length < count && mailbox.messages.length > 0; now = Math.max(now, mailbox.nextAt())) {
        for (const message of mailbox.ready().slice(0, count - bodies.length)) {
          bodies.push(message.body);
          mailbox.remove(message);
        }
        if (bodies.length === count) break;
      }
      return bodies;
    },
    delayed: async () => mailbox.messages.filter(({ visibleAt }) => visibleAt > now).length,
    close: async () => {},
  };
}

describeInbox('the simulation', openMailbox);

async function openHostInbox() {
  const host = await openHostMessages('bus');
  return { ...openSqsInbox(host.sqs, host.queueUrl), close: host.close };
}

describeInbox('the development host', openHostInbox);
describeWatches('the development host', openHostInbox);
