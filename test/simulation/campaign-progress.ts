/** How far a long command has come, on stderr: what is done, how fast, and how long it will take. */

/** How often a line is written where nobody watches (ms). */
const QUIET_EVERY_MS = 10_000;

export class Progress {
  private readonly unit: string;
  private readonly total: number;
  private readonly note: string;
  private readonly began = performance.now();
  private finished = 0;
  private toldAt = 0;

  /**
   * @param unit what is counted: `worlds`
   * @param note said at the end of each line
   */
  constructor(unit: string, total: number, note: string) {
    this.unit = unit;
    this.total = total;
    this.note = note;
  }

  /** So many more are done. */
  done(count: number): void {
    this.finished += count;
    const seconds = this.seconds();
    const rate = this.finished / seconds;
    const left = Math.max(0, this.total - this.finished) / rate;
    const share = `${this.finished} of ${this.total} ${this.unit}`;
    this.write(`${share}, ${rate.toFixed(rate < 10 ? 1 : 0)} a second, ${inWords(left)} left, ${this.note}`);
  }

  /** Says something that is not about how far it has come. */
  say(line: string): void {
    process.stderr.write(process.stderr.isTTY ? `\r\x1b[2K${line}\n` : `${line}\n`);
  }

  /** @returns how long it took (s) */
  end(): number {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K');
    return this.seconds();
  }

  private seconds(): number {
    return Math.max(1, performance.now() - this.began) / 1000;
  }

  private write(line: string): void {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\x1b[2K${line}`);
      return;
    }
    const now = performance.now();
    if (now - this.toldAt < QUIET_EVERY_MS && this.finished < this.total) return;
    this.toldAt = now;
    process.stderr.write(`${line}\n`);
  }
}

function inWords(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
