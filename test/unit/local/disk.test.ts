import { appendFile, chmod, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDisk } from '#local/disk.ts';
import { DiskError } from '#local/disk-error.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-disk-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function collected<Element>(elements: AsyncIterable<Element>): Promise<Element[]> {
  const all: Element[] = [];
  for await (const element of elements) all.push(element);
  return all;
}

describe('openDisk', () => {
  it('keeps values in key order over a restart, section by section', async () => {
    const first = await openDisk(folder);
    const numbers = first.section<number>('numbers');
    await numbers.put('b', 2);
    await numbers.put('a', 1);
    await first.batch([
      numbers.putting('c', 3),
      numbers.deleting('b'),
      first.section<string>('names').putting('x', 'y'),
    ]);
    await first.close();

    const second = await openDisk(folder);
    const again = second.section<number>('numbers');
    expect(await collected(again.entries())).toEqual([
      ['a', 1],
      ['c', 3],
    ]);
    expect(await collected(again.entries({ gt: 'a', reverse: true, limit: 5 }))).toEqual([['c', 3]]);
    expect(await second.section<string>('names').get('x')).toBe('y');
    await again.del('a');
    expect(await again.get('a')).toBeUndefined();
    await second.close();
  });

  it('refuses a folder that another host has open', async () => {
    const disk = await openDisk(folder);
    await expect(openDisk(folder)).rejects.toBeInstanceOf(DiskError);
    await expect(openDisk(folder)).rejects.toMatchObject({
      code: 'DATA_IN_USE',
      message: `The data folder ${folder} is in use by a running host. Stop that host, or give this one another folder.`,
    });
    await disk.close();
    await (await openDisk(folder)).close();
  });

  it.each([
    ['{"format":2}', '2'],
    ['{}', 'unknown'],
    ['not JSON', 'unknown'],
  ])('refuses a folder whose version.json says %s', async (text, format) => {
    await writeFile(join(folder, 'version.json'), text);
    await expect(openDisk(folder)).rejects.toMatchObject({
      code: 'DATA_VERSION',
      message: expect.stringContaining(`has format ${format} (version.json); this version reads format 1`),
    });
    expect(await readFile(join(folder, 'version.json'), 'utf8')).toBe(text);
  });

  it('writes the format into a new folder', async () => {
    await (await openDisk(join(folder, 'new'))).close();
    expect(JSON.parse(await readFile(join(folder, 'new', 'version.json'), 'utf8'))).toEqual({ format: 1 });
  });

  it('reads everything after half a record at the end of its log, which a killed write leaves', async () => {
    const disk = await openDisk(folder);
    for (let at = 0; at < 100; at++) await disk.section<number>('numbers').put(`${at}`, at);
    await disk.close();
    const [log = ''] = (await readdir(join(folder, 'host'))).filter((file) => file.endsWith('.log'));
    // Checksum, length 1,000 and type of a record, of which the rest was not written.
    await appendFile(join(folder, 'host', log), Buffer.from([1, 2, 3, 4, 0xe8, 0x03, 1, 9, 9, 9]));
    await writeFile(join(folder, 'version.json.12345'), '{"for');
    const again = await openDisk(folder);
    expect(await collected(again.section<number>('numbers').entries())).toHaveLength(100);
    await again.section<number>('numbers').put('more', 1);
    await again.close();
    const last = await openDisk(folder);
    expect(await collected(last.section<number>('numbers').entries())).toHaveLength(101);
    await last.close();
  });

  /** A closed database with tables of its own on disk, not only a log. */
  async function filled(): Promise<string[]> {
    for (let opened = 0; opened < 2; opened++) {
      const disk = await openDisk(folder);
      await disk.section<string>('texts').put(`${opened}`, 'x'.repeat(1_000));
      await disk.close();
    }
    return readdir(join(folder, 'host'));
  }

  it.each([
    ['CURRENT is empty', 'CURRENT', (file: string) => truncate(file, 0)],
    ['CURRENT is missing', 'CURRENT', (file: string) => rm(file)],
    ['its manifest is missing', 'MANIFEST', (file: string) => rm(file)],
    ['its manifest is other bytes', 'MANIFEST', (file: string) => writeFile(file, Buffer.alloc(200, 7))],
    ['a table is missing', '.ldb', (file: string) => rm(file)],
  ])('refuses a damaged folder: %s', async (_what, part, harm) => {
    const file = (await filled()).find((name) => name.includes(part)) ?? '';
    await harm(join(folder, 'host', file));
    const before = await readdir(join(folder, 'host'));
    await expect(openDisk(folder)).rejects.toMatchObject({
      code: 'DATA_DAMAGED',
      message: expect.stringContaining(`The data folder ${folder} is damaged: `),
    });
    expect(await readdir(join(folder, 'host'))).toEqual(
      expect.arrayContaining(before.filter((name) => name !== 'LOG')),
    );
  });

  it('refuses a folder that it cannot make or write', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(openDisk(join(folder, 'file', 'data'))).rejects.toMatchObject({
      code: 'DATA_NOT_WRITABLE',
      message: expect.stringContaining('cannot be written: ENOTDIR'),
    });
    await expect(openDisk(join(folder, 'file'))).rejects.toMatchObject({ code: 'DATA_NOT_WRITABLE' });
    await writeFile(join(folder, 'host'), 'no folder');
    await expect(openDisk(folder)).rejects.toMatchObject({ code: 'DATA_NOT_WRITABLE' });
  });

  it.skipIf(process.getuid?.() === 0)('refuses a folder without the right to write', async () => {
    await chmod(folder, 0o500);
    await expect(openDisk(folder)).rejects.toMatchObject({
      code: 'DATA_NOT_WRITABLE',
      message: expect.stringContaining('EACCES'),
    });
    await chmod(folder, 0o700);
  });

  it('rejects what a guard refuses, and everything after it', async () => {
    let isFailing = false;
    const disk = await openDisk(folder, {
      write: (make) => (isFailing ? Promise.reject(new Error('no')) : make()),
    });
    const numbers = disk.section<number>('numbers');
    await numbers.put('a', 1);
    isFailing = true;
    await expect(numbers.put('b', 2)).rejects.toThrow('no');
    expect(await numbers.get('b')).toBeUndefined();
    await disk.close();
  });
});
