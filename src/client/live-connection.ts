import { ConnectionError, MillraceError } from './errors.ts';
import { type LiveFrame, readFrame } from './live-frames.ts';
import { pause } from './pause.ts';
import type { LiveTicket } from './resources.ts';

/** What a WebSocket is made with: the global class of browsers and of Node.js. */
export type WebSocketClass = typeof globalThis.WebSocket;

/** How a connection is made and kept. */
export interface LiveConnecting {
  readonly WebSocket: WebSocketClass;
  /** Says who may connect, and where. */
  ticket(signal: AbortSignal | undefined): Promise<LiveTicket>;
  /** What is looked at. */
  readonly topic: { readonly run: string } | { readonly pipeline: string };
  readonly signal: AbortSignal | undefined;
  /** Time from one sign of life to the next (ms). */
  readonly pingMs: number;
  /** For how long a connection that was lost is tried again (ms). */
  readonly lostMs: number;
}

/** The first sign of life is asked for so soon: a change at the time of the subscription may have been told nobody. */
const FIRST_PING_MS = 5000;
/** A connection without an answer for so long is dead. */
const PONG_MS = 10_000;
const OPEN_MS = 10_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;

/** A subscription of one run or pipeline that outlives its connections: each new one begins with a snapshot. */
export class LiveConnection {
  readonly #around: LiveConnecting;
  #socket: WebSocket | undefined;
  #frames: unknown[] = [];
  #wake: () => void = () => {};
  #pingAt = 0;
  #pongDueAt = Number.POSITIVE_INFINITY;
  /** Since when there is no snapshot of a connection, and how often one was tried since. */
  #lostAt: number | undefined;
  #tries = 0;

  constructor(around: LiveConnecting) {
    this.#around = around;
  }

  /**
   * The next frame; nothing once it is `until` (ms since 1970).
   * @throws MillraceError where there is no connection any more, or the signal's reason
   */
  async next(until: number): Promise<LiveFrame | undefined> {
    for (;;) {
      this.#around.signal?.throwIfAborted();
      const frame = this.#frames.length > 0 ? this.#read() : undefined;
      if (frame) return frame;
      if (!this.#socket) await this.#connect();
      const now = Date.now();
      if (now >= until) return undefined;
      if (now >= this.#pongDueAt) this.again();
      else if (now >= this.#pingAt) this.#ping(now);
      else if (this.#frames.length === 0) await this.#anything(Math.min(until, this.#pingAt, this.#pongDueAt) - now);
    }
  }

  /** Gives up the connection; the next frame comes of another one. */
  again(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#frames = [];
    socket?.close();
  }

  #read(): LiveFrame | undefined {
    const frame = readFrame(this.#frames.shift());
    if (frame?.type === 'Pong') this.#pongDueAt = Number.POSITIVE_INFINITY;
    if (frame?.type === 'Snapshot') {
      this.#lostAt = undefined;
      this.#tries = 0;
    }
    return frame;
  }

  #ping(now: number): void {
    this.#pingAt = now + this.#around.pingMs;
    this.#pongDueAt = Math.min(this.#pongDueAt, now + PONG_MS);
    this.#say({ action: 'ping' });
  }

  #say(message: object): void {
    if (this.#socket?.readyState === this.#around.WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  async #connect(): Promise<void> {
    const { signal, topic, lostMs, pingMs } = this.#around;
    const isFirst = this.#lostAt === undefined && this.#pingAt === 0;
    this.#lostAt ??= Date.now();
    if (this.#tries > 0)
      await pause(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#tries) * Math.random(), signal);
    this.#tries++;
    try {
      await this.#open(await this.#around.ticket(signal));
    } catch (error) {
      signal?.throwIfAborted();
      if (isFirst || !isPassing(error) || Date.now() - this.#lostAt > lostMs) throw error;
      return;
    }
    this.#pingAt = Date.now() + Math.min(FIRST_PING_MS, pingMs);
    this.#pongDueAt = Number.POSITIVE_INFINITY;
    this.#say({ action: 'subscribe', ...topic });
  }

  async #open({ url, ticket }: LiveTicket): Promise<void> {
    const socket = new this.#around.WebSocket(`${url}?ticket=${encodeURIComponent(ticket)}`);
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      if (this.#socket !== socket) return;
      this.#frames.push(data);
      this.#wake();
    };
    socket.onclose = () => {
      if (this.#socket === socket) this.#socket = undefined;
      this.#wake();
    };
    socket.onerror = () => {};
    socket.onopen = () => this.#wake();
    const until = Date.now() + OPEN_MS;
    while (this.#socket === socket && socket.readyState !== this.#around.WebSocket.OPEN && Date.now() < until) {
      await this.#anything(until - Date.now());
    }
    if (socket.readyState === this.#around.WebSocket.OPEN) return;
    this.again();
    throw new ConnectionError(`nothing answers at ${url}.`);
  }

  /** Waits for a frame, for the end of the connection, or for so long. */
  #anything(ms: number): Promise<void> {
    const { signal } = this.#around;
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#wake = () => {};
        settle();
      };
      const onAbort = end(() => {
        this.again();
        reject(signal?.reason);
      });
      // Longer ones would be over at once.
      const timer = setTimeout(end(resolve), Math.min(Math.max(0, ms), 2 ** 31 - 1));
      this.#wake = end(resolve);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}

/** Whether it may be otherwise in a moment: what refuses who calls does not change its mind. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof MillraceError)) return false;
  if ('status' in error) return Number(error.status) >= 500 || error.status === 429;
  return error instanceof ConnectionError;
}
