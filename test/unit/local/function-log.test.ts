import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFunctionLog } from '#local/function-log.ts';
import { LineSplitter } from '#local/line-splitter.ts';

const KIBIBYTE = 1024;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'function-log-'));
});
afterEach(() => rm(folder, { recursive: true }));

const read = (file: string) => readFile(path.join(folder, file), 'utf8');

describe('the log of a function', () => {
  it('has a line for each line, with time and request id where that is asked for', async () => {
    const log = openFunctionLog(folder, 'f', { stamped: true });
    log.line('in', 'request-1');
    log.line('out');
    await log.close();
    expect((await read('f.log')).split('\n').map((line) => line.split('\t').slice(1))).toEqual([
      ['request-1', 'in'],
      ['-', 'out'],
      [],
    ]);
  });

  it('takes no more of the disk than two files, and the full one says where it goes on', async () => {
    const log = openFunctionLog(folder, 'f', { stamped: false, maxBytes: 10 * KIBIBYTE });
    for (let at = 0; at < 1_000; at++) log.line(`${at}`.padEnd(99, '.'));
    await log.close();
    expect((await readdir(folder)).sort()).toEqual(['f.1.log', 'f.log']);
    const [before, now] = [await read('f.1.log'), await read('f.log')];
    expect(before.length).toBeLessThan(11 * KIBIBYTE);
    expect(before).toMatch(/\(this file is full: it goes on in f\.log, .*\)\n$/);
    expect(now.length).toBeLessThan(11 * KIBIBYTE);
    const kept = `${before}${now}`.split('\n').filter((line) => /^\d/.test(line));
    expect(kept.at(-1)).toMatch(/^999\./);
    expect(kept.map((line) => Number.parseInt(line, 10))).toEqual(
      Array.from({ length: kept.length }, (_, at) => 1_000 - kept.length + at),
    );
  });

  it('counts the size of what is there already', async () => {
    for (let opened = 0; opened < 5; opened++) {
      const log = openFunctionLog(folder, 'f', { stamped: false, maxBytes: 10 * KIBIBYTE });
      for (let at = 0; at < 30; at++) log.line('x'.repeat(99));
      await log.close();
    }
    expect((await stat(path.join(folder, 'f.log'))).size).toBeLessThan(11 * KIBIBYTE);
    expect(await readdir(folder)).toContain('f.1.log');
  });

  it('leaves lines out while the disk has no room, and says how many', async () => {
    let hasRoom = true;
    const log = openFunctionLog(folder, 'f', { stamped: false, hasRoom: () => hasRoom });
    log.line('one');
    hasRoom = false;
    log.line('two');
    log.line('three');
    hasRoom = true;
    log.line('four');
    await log.close();
    expect(await read('f.log')).toBe('one\n(2 lines are left out here: they could not be written)\nfour\n');
  });

  it('survives that its file cannot be written, and lines after its end', async () => {
    const log = openFunctionLog(folder, 'f', { stamped: false, maxBytes: KIBIBYTE });
    await rm(folder, { recursive: true });
    for (let at = 0; at < 100; at++) log.line('x'.repeat(99));
    await log.close();
    log.line('late');
    await openFunctionLog(folder, 'f', { stamped: false }).close();
  });

  it('keeps no more than some megabytes in memory, whatever comes in one turn', async () => {
    const log = openFunctionLog(folder, 'f', { stamped: false });
    for (let at = 0; at < 100; at++) log.line('x'.repeat(256 * KIBIBYTE));
    await log.close();
    expect((await read('f.log')).length).toBeLessThan(9 * KIBIBYTE * KIBIBYTE);
    const again = openFunctionLog(folder, 'f', { stamped: false });
    again.line('next');
    await again.close();
    expect((await read('f.log')).endsWith('next\n')).toBe(true);
  });
});

describe('LineSplitter', () => {
  const split = (chunks: readonly string[], maxCharacters?: number) => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line), maxCharacters ? { maxCharacters } : undefined);
    for (const chunk of chunks) splitter.push(chunk);
    splitter.end();
    return lines;
  };

  it('cuts at line ends, wherever the chunks are cut', () => {
    const text = 'one\n\ntwo three\nfour';
    for (let at = 0; at <= text.length; at++) {
      expect(split([text.slice(0, at), text.slice(at)])).toEqual(['one', '', 'two three', 'four']);
    }
  });

  it('keeps the beginning of a line that is too long, and says how much is left out', () => {
    expect(split(['abc', 'def', 'ghi\nnext\n'], 4)).toEqual([
      'abcd … (5 more characters of this line are left out)',
      'next',
    ]);
  });

  it('takes a line of 100 MB in no more memory than a line may have', () => {
    const chunk = 'x'.repeat(64 * KIBIBYTE);
    const begun = performance.now();
    const [line, ...others] = split(Array(1_600).fill(chunk));
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(line?.length).toBeLessThan(257 * KIBIBYTE);
    expect(others).toEqual([]);
  });
});
