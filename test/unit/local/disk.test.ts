import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DiskError, openDisk } from '#local/disk.ts';

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
});
