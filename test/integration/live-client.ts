import { WebSocket } from 'ws';

/** A frame, read. */
// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they look at
export type Frame = any;

/** A client of live updates that keeps what it is told. */
export class LiveClient {
  readonly frames: Frame[] = [];
  readonly socket: WebSocket;
  /** The code with which the connection was closed. */
  readonly closed: Promise<number>;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('message', (data) => {
      this.frames.push({ ...JSON.parse(String(data)), bytes: Buffer.byteLength(String(data)) });
      for (const look of this.#waiting) look();
    });
    socket.on('error', () => {});
  }

  /** Resolves when the connection is open. */
  static async open(url: string): Promise<LiveClient> {
    const socket = new WebSocket(url);
    const client = new LiveClient(socket);
    await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return client;
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Says something, and gives the first frame of a type that comes after that. */
  ask(message: unknown, type: string): Promise<Frame> {
    const from = this.frames.length;
    this.say(message);
    return this.next((frame) => frame.type === type, from);
  }

  /** The first frame, of those from one on, that is as wanted; waits for it. */
  next(isWanted: (frame: Frame) => boolean, from = 0): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.frames.slice(from).find(isWanted);
        if (found === undefined) return;
        this.#waiting.delete(look);
        clearTimeout(timer);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`no such frame: ${JSON.stringify(this.frames.slice(-3)).slice(0, 500)}`));
      }, 20_000);
      this.#waiting.add(look);
      look();
    });
  }

  close(): void {
    this.socket.close();
  }
}
