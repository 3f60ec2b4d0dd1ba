/** The inbox queue of a world: at least once, in any order, late, or not at all. */
import type { MemoryExecution } from '#adapters/memory/memory-executions.ts';
import type { DueThing, Inbox } from '#ports/index.ts';
import type { Faults } from './faults.ts';

/** How long an event takes from the end of an execution to the inbox, at least (ms). */
const EVENT_DELAY_MS = 10;
/** How long a queue hides a message from others once it was handed over (ms). */
const VISIBILITY_MS = 180_000;
/** Another run's nonce, and messages of no meaning here. */
const OTHER_NONCE = 'cccccccc';
const NOISE = [
  '{"kind":"ring","run":"nobody"}',
  '{"kind":',
  '{"kind":"execution","name":"other-1"}',
  '{"source":"millrace.scheduler","detail-type":"PipelineChanged","detail":{"pipeline":"random"}}',
];
/** Deliveries of a message after which it goes to the dead letters. */
const MOST_DELIVERIES = 10;
/** How soon a message comes again whose invocation failed (ms). */
const AGAIN_MS = 1_000;

/** A message that waits, or that an invocation works on. */
export interface Message {
  readonly body: string;
  visibleAt: number;
  /** How often it was handed over. */
  deliveries: number;
}

/** Whether a message is an event of the scheduler's own, which a wrong rule let through. */
export function isEcho({ body }: Message): boolean {
  return body === NOISE.at(-1);
}

/** Makes an empty inbox. */
export class Mailbox {
  readonly messages: Message[] = [];
  private readonly faults: Faults;
  private readonly now: () => number;

  constructor(faults: Faults, now: () => number) {
    this.faults = faults;
    this.now = now;
  }

  /** The inbox as an invocation sees it. What the tick rings is never lost. */
  inboxOf(isTick: boolean): Inbox {
    const ringThing = async ({ kind, id }: DueThing, delaySeconds = 0) => {
      const body = JSON.stringify({ kind: 'ring', [kind]: id });
      const copies = isTick ? 1 : this.copies();
      for (let copy = 0; copy < copies; copy++) this.send(body, delaySeconds * 1000);
    };
    return {
      ring: (id, delaySeconds) => ringThing({ kind: 'run', id }, delaySeconds),
      ringThing,
      ringAbout: async (run, about) => {
        const body = JSON.stringify({ kind: 'ring', run, about });
        for (let copy = this.copies(); copy > 0; copy--) this.send(body, 0);
      },
      ringAll: async (things) => {
        for (const thing of things) await ringThing(thing);
      },
    };
  }

  /** Tells the end of an execution, as the rule on the default bus does: without the error. */
  tellEnd({ name, stateMachineArn, status, output, startedAt, endedAt }: MemoryExecution): void {
    const arn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
    const end = { output: output ?? null, startDate: startedAt, stopDate: endedAt };
    const body = JSON.stringify({ kind: 'execution', name, arn, status, ...end });
    for (let copy = this.copies(); copy > 0; copy--) this.send(body, EVENT_DELAY_MS);
  }

  /** An execution of the same attempt starts: one of a deleted run of the same id may have ended under its number. */
  tellStrangers({ name, stateMachineArn, startedAt }: MemoryExecution): void {
    const { strangers, choose } = this.faults;
    if (!strangers || !choose || choose(3) > 0) return;
    const [installation, run, _nonce, node, attempt] = name.split('-');
    const status = choose(2) === 0 ? 'ABORTED' : 'SUCCEEDED';
    const stranger = { name: [installation, run, OTHER_NONCE, node, attempt].join('-'), stateMachineArn, startedAt };
    this.tellEnd({ ...stranger, input: '', status, output: '{}', endedAt: startedAt });
    this.send(NOISE[choose(NOISE.length)] as string, 0);
  }

  /** A ring that nothing holds up. */
  send(body: string, delayMs: number): void {
    const { choose, lateMs } = this.faults;
    const late = choose && lateMs !== undefined ? choose(lateMs + 1) : 0;
    this.messages.push({ body, visibleAt: this.now() + delayMs + late, deliveries: 0 });
  }

  /** Messages that can be handed over now. */
  ready(): Message[] {
    const now = this.now();
    return this.messages.filter((message) => message.visibleAt <= now);
  }

  /** When the next message can be handed over; never, where there is none. */
  nextAt(): number {
    return this.messages.reduce((least, message) => Math.min(least, message.visibleAt), Number.POSITIVE_INFINITY);
  }

  /** Hides messages that are handed over, but for those that the queue hands over to another one as well. */
  hide(messages: readonly Message[]): void {
    const { doublesOneIn, choose } = this.faults;
    for (const message of messages) {
      const isDoubled = doublesOneIn !== undefined && message.deliveries === 0 && choose?.(doublesOneIn) === 0;
      message.visibleAt = this.now() + (isDoubled ? 0 : VISIBILITY_MS);
      message.deliveries += 1;
    }
  }

  remove(message: Message): void {
    const at = this.messages.indexOf(message);
    if (at >= 0) this.messages.splice(at, 1);
  }

  /** Its invocation died, or gave it back. */
  comesAgain(message: Message): void {
    if (message.deliveries < MOST_DELIVERIES) message.visibleAt = this.now() + AGAIN_MS;
    else this.remove(message);
  }

  private copies(): number {
    const { drop, choose, loseOneIn, copies = 1 } = this.faults;
    if (drop) return 0;
    if (!choose) return copies;
    if (loseOneIn !== undefined && choose(loseOneIn) === 0) return 0;
    return copies > 1 ? 1 + choose(copies) : 1;
  }
}
