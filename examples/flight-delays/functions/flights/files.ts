import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Where a run keeps the flights of one month, as they are in the source. */
export function partFile(folder: string, month: string): string {
  return join(folder, 'parts', `${month}.jsonl`);
}

/** Where a run keeps the cleaned flights of one month. */
export function cleanedFile(folder: string, month: string): string {
  return join(folder, 'cleaned', `${month}.jsonl`);
}

/** Where a run keeps the airports that the cleaned flights of one month use. */
export function cleanedAirportsFile(folder: string, month: string): string {
  return join(folder, 'cleaned', `${month}.airports.json`);
}

/**
 * Writes a file whole or not at all. An attempt that was given up may still be writing while the next one runs, so
 * each writes under a name of its own and renames at the end.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}.draft`;
  await writeFile(draft, text);
  await rename(draft, file);
}

/** A file of JSON Lines that grows batch by batch and appears under its name only when it is finished. */
export interface LinesFile {
  append(rows: readonly unknown[]): Promise<void>;
  finish(): Promise<void>;
}

/** Begins a file of JSON Lines; see {@link LinesFile}. */
export async function createLinesFile(file: string): Promise<LinesFile> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}.draft`;
  const handle = await open(draft, 'w');
  return {
    async append(rows) {
      await handle.appendFile(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    },
    async finish() {
      await handle.close();
      await rename(draft, file);
    },
  };
}

/** The values of a file of JSON Lines, in order. */
export async function* readLines(file: string): AsyncGenerator<unknown[]> {
  const text = await readFile(file, 'utf8');
  const batch: unknown[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    batch.push(JSON.parse(text.slice(from, end)));
    from = end + 1;
    if (batch.length === 10_000) yield batch.splice(0);
  }
  yield batch;
}

/** Size and checksum of a file, as git names a blob (SHA-1 of a header and the content), read as a stream. */
export async function fingerprint(file: string): Promise<{ bytes: number; checksum: string }> {
  const { size } = await stat(file);
  const hash = createHash('sha1').update(`blob ${size}\0`);
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return { bytes: size, checksum: `sha1:${hash.digest('hex')}` };
}
