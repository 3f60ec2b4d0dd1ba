import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSqsInbox } from '#adapters/aws/sqs-inbox.ts';
import type { DueThing, Inbox } from '#ports/index.ts';
import { ODD_TEXTS } from './sample-run.ts';
import { failure, type ServiceCall, startScriptedService } from './scripted-service.ts';

const QUEUE = 'http://127.0.0.1/123456789012/millrace-inbox';

interface BatchEntry {
  readonly Id: string;
  readonly MessageBody: string;
}

let service: Awaited<ReturnType<typeof startScriptedService>>;
let client: SQSClient;
let inbox: Inbox;

beforeAll(async () => {
  service = await startScriptedService('AmazonSQS');
  client = new SQSClient({ ...service.clientConfig, md5: false });
  inbox = createSqsInbox(client, QUEUE);
});

afterAll(async () => {
  client.destroy();
  await service.close();
});

function entriesOf(call: ServiceCall): readonly BatchEntry[] {
  return call.body['Entries'] as BatchEntry[];
}

function rungBy(calls: readonly ServiceCall[]): string[] {
  return calls.flatMap((call) => entriesOf(call).map((entry) => JSON.parse(entry.MessageBody).run));
}

function asRun(id: string): DueThing {
  return { kind: 'run', id };
}

/** Takes all entries of a batch but those that `isLost` picks. */
function take(call: ServiceCall, isLost: (entry: BatchEntry) => boolean = () => false) {
  const Failed = entriesOf(call)
    .filter(isLost)
    .map(({ Id }) => ({ Id, Code: 'InternalError', Message: 'try again', SenderFault: false }));
  return { body: { Successful: [], ...(Failed.length > 0 && { Failed }) } };
}

describe('SqsInbox', () => {
  it.each([
    [undefined, 0],
    [0, 0],
    [2, 2],
    [900, 900],
    [1.2, 2],
    [1_000_000, 900],
    [-1, 0],
  ])('rings after a delay of %s s', async (delay, sent) => {
    service.script(() => ({ body: { MessageId: 'm' } }));
    await inbox.ring('run-1', delay);
    expect(service.calls).toEqual([
      {
        api: 'SendMessage',
        body: { QueueUrl: QUEUE, MessageBody: '{"kind":"ring","run":"run-1"}', DelaySeconds: sent },
      },
    ]);
  });

  it('rings many runs, ten a call', async () => {
    service.script((call) => take(call));
    const runs = Array.from({ length: 25 }, (_, at) => `run-${at}`);
    await inbox.ringAll(runs.map(asRun));
    expect(service.calls.map((call) => entriesOf(call).length).toSorted()).toEqual([10, 10, 5]);
    expect(rungBy(service.calls).toSorted()).toEqual(runs.toSorted());
    await inbox.ringAll([]);
    expect(service.calls).toHaveLength(3);
  });

  it.each([
    ['limit', 'engine/spark', '{"kind":"ring","limit":"engine/spark"}'],
    ['pipeline', 'etl', '{"kind":"ring","pipeline":"etl"}'],
    ['run', 'run-1', '{"kind":"ring","run":"run-1"}'],
  ] as const)('rings a %s by what it is, alone and among others', async (kind, id, body) => {
    service.script((call) => (call.api === 'SendMessage' ? { body: { MessageId: 'm' } } : take(call)));
    await inbox.ringThing({ kind, id }, 3);
    await inbox.ringAll([asRun('run-2'), { kind, id }]);
    const [alone, together] = service.calls;
    expect(alone?.body).toEqual({ QueueUrl: QUEUE, MessageBody: body, DelaySeconds: 3 });
    expect(entriesOf(together as ServiceCall).map((entry) => entry.MessageBody)).toEqual([
      '{"kind":"ring","run":"run-2"}',
      body,
    ]);
  });

  it('carries any id', async () => {
    service.script((call) => take(call));
    await inbox.ringAll(ODD_TEXTS.map(asRun));
    expect(rungBy(service.calls).toSorted()).toEqual(ODD_TEXTS.toSorted());
  });

  it('sends again what was not taken, and only that', async () => {
    service.script((call) => take(call, ({ Id }) => service.calls.length === 1 && Number(Id) % 4 === 3));
    await inbox.ringAll(Array.from({ length: 10 }, (_, at) => asRun(`run-${at}`)));
    expect(service.calls).toHaveLength(2);
    expect(rungBy(service.calls.slice(1))).toEqual(['run-3', 'run-7']);
  });

  it('has at most eight calls under way at once', async () => {
    let [underWay, most] = [0, 0];
    const counting = {
      async send(command: { readonly input: { readonly Entries: readonly BatchEntry[] } }) {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise(setImmediate);
        underWay -= 1;
        sent.push(...command.input.Entries.map(({ MessageBody }) => JSON.parse(MessageBody).run));
        return { Successful: [] };
      },
    };
    const sent: string[] = [];
    const runs = Array.from({ length: 1_234 }, (_, at) => `run-${at}`);
    await createSqsInbox(counting as unknown as SQSClient, QUEUE).ringAll(runs.map(asRun));
    expect(most).toBe(8);
    expect(sent.toSorted()).toEqual(runs.toSorted());
  });

  it('sends again what was not taken of calls at the same time, each for itself', async () => {
    const seen = new Set<string>();
    const isFirst = (run: string) => !seen.has(run) && seen.add(run);
    service.script((call) =>
      take(call, ({ MessageBody }) => {
        const { run } = JSON.parse(MessageBody);
        return /[37]$/.test(run) && Boolean(isFirst(run));
      }),
    );
    const runs = Array.from({ length: 60 }, (_, at) => `run-${at}`);
    await inbox.ringAll(runs.map(asRun));
    const sent = rungBy(service.calls);
    expect(sent.toSorted()).toEqual([...runs, ...runs.filter((run) => /[37]$/.test(run))].toSorted());
  });

  it('waits for the calls under way when one fails, makes no more, and says how many failed', async () => {
    service.script(() => failure('QueueDoesNotExist', 'The specified queue does not exist.'));
    const things = Array.from({ length: 1_000 }, (_, at) => asRun(`run-${at}`));
    await expect(inbox.ringAll(things)).rejects.toThrow('does not exist. (and 7 more calls failed)');
    expect(service.calls).toHaveLength(8);
    await new Promise(setImmediate);
    expect(service.calls).toHaveLength(8);
  });

  it('gives up in the end, and says why', async () => {
    service.script((call) => take(call, () => true));
    await expect(inbox.ringAll(['a', 'b'].map(asRun))).rejects.toThrow(
      '2 of 2 rings were not taken: InternalError: try again',
    );
    expect(service.calls.length).toBeLessThanOrEqual(5);
  });

  it('passes on that the queue is not there', async () => {
    service.script(() => failure('QueueDoesNotExist', 'The specified queue does not exist.'));
    await expect(inbox.ring('run-1')).rejects.toThrow('does not exist');
    await expect(inbox.ringAll([asRun('run-1')])).rejects.toThrow('does not exist');
  });
});
