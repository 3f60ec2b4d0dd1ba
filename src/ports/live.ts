/** What live updates need from outside, beside the stores: who looks at what, open connections, and the feed of events. */

/** What one can look at: `run/<id>`, or `pipeline/<name>` for all runs of a pipeline. */
export type LiveTopic = `run/${string}` | `pipeline/${string}`;

/** What lets its bearer open one connection. */
export interface LiveTicket {
  /** Who asked for it. */
  readonly by?: string;
  /** When it is worth nothing any more (ms since the epoch). */
  readonly until: number;
}

/** Who looks at what, and tickets. Every read is strongly consistent. */
export interface LiveStore {
  /** Keeps a ticket under the digest of its text, which is not kept. */
  putTicket(digest: string, ticket: LiveTicket): Promise<void>;
  /** Takes a ticket away: it is given once, and not after its time. */
  takeTicket(digest: string, now: number): Promise<LiveTicket | undefined>;
  /**
   * Notes that a connection looks at a topic; repeated puts write the same.
   * @param until when no connection of that age can be open any more (ms since the epoch)
   */
  subscribe(connection: string, topic: LiveTopic, until: number): Promise<void>;
  unsubscribe(connection: string, topic: LiveTopic): Promise<void>;
  /** What a connection looks at. */
  topicsOf(connection: string): Promise<readonly LiveTopic[]>;
  /** The connections that look at a topic. */
  subscribersOf(topic: LiveTopic, now: number): Promise<readonly string[]>;
  /** Whether any connection looks at anything. */
  isAnybodyThere(now: number): Promise<boolean>;
}

/** Open connections of clients. */
export interface Connections {
  /** Sends a text. `gone`: the connection is closed. `slow`: its client does not take what it is sent, or nobody answered. */
  send(connection: string, text: string): Promise<'sent' | 'gone' | 'slow'>;
  /** Closes a connection; one that is closed already is fine. */
  close(connection: string): Promise<void>;
}

/** The way of events from the bus to live updates. A way that is closed costs nothing. */
export interface LiveFeed {
  open(): Promise<void>;
  close(): Promise<void>;
}

/** Asks for runs to be watched, which the scheduler then commits (`src/domain/watch.ts`). */
export interface Watches {
  ask(runId: string): Promise<void>;
}
