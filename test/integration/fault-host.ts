import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { HostOptions } from '#local/host.ts';
import type { HostAddress } from './fault-client.ts';

const entry = fileURLToPath(new URL('./run-host.ts', import.meta.url));

/** A host in a process of its own, on one data folder, that is killed and started anew. */
export class MortalHost {
  readonly #options: Omit<HostOptions, 'log'>;
  #child: ChildProcess | undefined;
  #address: HostAddress = { url: 'http://127.0.0.1:9', wireUrl: 'http://127.0.0.1:9' };
  /** What the host complained about. */
  readonly complaints: string[] = [];
  kills = 0;

  constructor(options: Omit<HostOptions, 'log'>) {
    this.#options = options;
  }

  /** Where it answers, or last answered. */
  readonly address = (): HostAddress => this.#address;

  /** Resolves when it takes requests. @param more overrides options */
  async start(more: Partial<HostOptions> = {}): Promise<void> {
    const child = spawn(process.execPath, [entry, JSON.stringify({ ...this.#options, ...more })], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.complaints.push(text));
    const lines = createInterface({ input: child.stdout });
    const [line] = await Promise.race([
      once(lines, 'line'),
      once(child, 'exit').then(() => {
        throw new Error(`the host ended at once: ${this.complaints.join('')}`);
      }),
    ]);
    this.#address = JSON.parse(line);
  }

  /** `kill -9`; resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    this.kills += 1;
  }
}
