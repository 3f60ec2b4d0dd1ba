/** The installation's bus on EventBridge. */
import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import * as z from 'zod';
import type { BusEvent, EventBus } from '#ports/index.ts';
import { sendBatch } from './batch-sending.ts';

/** Events that PutEvents takes. */
const MAX_ENTRIES = 10;

/** Bytes of one event and of all events of a call, by EventBridge's older limit, which holds everywhere. */
const MAX_BYTES = 256 * 1024;

interface Entry {
  readonly EventBusName: string;
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
}

const putAnswer = z.object({
  Entries: z.array(z.object({ ErrorCode: z.string().optional(), ErrorMessage: z.string().optional() })),
});

/** Makes a bus that publishes to an event bus by name. It throws a RangeError for an event of more than 256 KiB. */
export function createEventBridgeBus(client: EventBridgeClient, busName: string): EventBus {
  async function putEntries(entries: readonly Entry[]) {
    const answer = putAnswer.parse(await client.send(new PutEventsCommand({ Entries: [...entries] })));
    return entries.flatMap((entry, at) => {
      const { ErrorCode, ErrorMessage } = answer.Entries[at] ?? { ErrorCode: 'NoAnswer' };
      return ErrorCode === undefined ? [] : [{ entry, why: `${ErrorCode}: ${ErrorMessage ?? ''}` }];
    });
  }

  return {
    async publish(events) {
      for (const batch of toBatches(events.map((event) => toEntry(event, busName)))) {
        await sendBatch('events', batch, putEntries);
      }
    },
  };
}

function toEntry(event: BusEvent, busName: string): Entry {
  return {
    EventBusName: busName,
    Source: event.source,
    DetailType: event.detailType,
    Detail: JSON.stringify(event.detail),
  };
}

function toBatches(entries: readonly Entry[]): Entry[][] {
  const batches: Entry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const size = bytesOf(entry);
    if (size > MAX_BYTES) throw new RangeError(`a ${entry.DetailType} event takes ${size} bytes, ${MAX_BYTES} at most`);
    const batch = batches.at(-1);
    if (batch && batch.length < MAX_ENTRIES && bytes + size <= MAX_BYTES) {
      batch.push(entry);
      bytes += size;
    } else {
      batches.push([entry]);
      bytes = size;
    }
  }
  return batches;
}

/** As EventBridge counts: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html */
function bytesOf(entry: Entry): number {
  return Buffer.byteLength(entry.Detail) + Buffer.byteLength(entry.Source) + Buffer.byteLength(entry.DetailType);
}
