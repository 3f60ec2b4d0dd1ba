import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEventBridgeBus } from '#adapters/aws/event-bridge-bus.ts';
import type { BusEvent, EventBus } from '#ports/index.ts';
import { ODD_TEXTS } from './sample-run.ts';
import { failure, type ServiceCall, startScriptedService } from './scripted-service.ts';

interface Entry {
  readonly EventBusName: string;
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
}

let service: Awaited<ReturnType<typeof startScriptedService>>;
let client: EventBridgeClient;
let bus: EventBus;

beforeAll(async () => {
  service = await startScriptedService('AWSEvents');
  client = new EventBridgeClient(service.clientConfig);
  bus = createEventBridgeBus(client, 'millrace');
});

afterAll(async () => {
  client.destroy();
  await service.close();
});

function event(detail: BusEvent['detail']): BusEvent {
  return { source: 'millrace.scheduler', detailType: 'RunChanged', detail };
}

function entriesOf(call: ServiceCall): readonly Entry[] {
  return call.body['Entries'] as Entry[];
}

function detailsOf(calls: readonly ServiceCall[]): unknown[] {
  return calls.flatMap((call) => entriesOf(call).map((entry) => JSON.parse(entry.Detail)));
}

/** Takes all entries of a call but those that `isLost` picks. */
function take(call: ServiceCall, isLost: (at: number) => boolean = () => false) {
  const Entries = entriesOf(call).map((_, at) =>
    isLost(at) ? { ErrorCode: 'ThrottlingException', ErrorMessage: 'slow down' } : { EventId: `${at}` },
  );
  return { body: { FailedEntryCount: Entries.filter((entry) => 'ErrorCode' in entry).length, Entries } };
}

describe('EventBridgeBus', () => {
  it('publishes under the name of the bus, the source and the type', async () => {
    service.script((call) => take(call));
    const detail = { schemaVersion: 1, hops: 0, odd: ODD_TEXTS };
    await bus.publish([event(detail)]);
    expect(service.calls.map(entriesOf)).toEqual([
      [
        {
          EventBusName: 'millrace',
          Source: 'millrace.scheduler',
          DetailType: 'RunChanged',
          Detail: JSON.stringify(detail),
        },
      ],
    ]);
  });

  it('puts ten events a call, in order', async () => {
    service.script((call) => take(call));
    await bus.publish(Array.from({ length: 23 }, (_, at) => event({ at })));
    expect(service.calls.map((call) => entriesOf(call).length)).toEqual([10, 10, 3]);
    expect(detailsOf(service.calls)).toEqual(Array.from({ length: 23 }, (_, at) => ({ at })));
    await bus.publish([]);
    expect(service.calls).toHaveLength(3);
  });

  it('keeps a call within the size that EventBridge takes', async () => {
    service.script((call) => take(call));
    await bus.publish(Array.from({ length: 7 }, (_, at) => event({ at, text: 'ü'.repeat(45_000) })));
    expect(service.calls.map((call) => entriesOf(call).length)).toEqual([2, 2, 2, 1]);
    expect(detailsOf(service.calls)).toHaveLength(7);
  });

  it('refuses an event that is too large before anything is sent', async () => {
    service.script((call) => take(call));
    await expect(bus.publish([event({ text: 'ü'.repeat(140_000) })])).rejects.toThrow(RangeError);
    expect(service.calls).toEqual([]);
  });

  it('sends again what was not taken, and only that', async () => {
    service.script((call) => take(call, (at) => service.calls.length === 1 && at % 4 === 3));
    await bus.publish(Array.from({ length: 10 }, (_, at) => event({ at })));
    expect(detailsOf(service.calls.slice(1))).toEqual([{ at: 3 }, { at: 7 }]);
  });

  it('gives up in the end, and says why', async () => {
    service.script((call) => take(call, () => true));
    await expect(bus.publish([event({})])).rejects.toThrow('1 of 1 events were not taken: ThrottlingException');
    service.script(() => failure('AccessDeniedException', 'not authorized to perform: events:PutEvents'));
    await expect(bus.publish([event({})])).rejects.toThrow('not authorized');
  });

  it('does not take a short answer for a yes', async () => {
    service.script(() => ({ body: { FailedEntryCount: 0, Entries: [] } }));
    await expect(bus.publish([event({})])).rejects.toThrow('NoAnswer');
  });
});
