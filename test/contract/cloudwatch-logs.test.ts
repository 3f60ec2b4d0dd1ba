/** The log of an attempt over the wire: the SDK's client against the development host's own answers. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCloudWatchLogs } from '#adapters/aws/cloudwatch-logs.ts';
import { createMemoryLogs } from '#adapters/memory/memory-logs.ts';
import { logKey, logMark } from '#domain/log-mark.ts';
import { createLogEvents } from '#local/log-events.ts';
import type { LogPlace, Logs } from '#ports/index.ts';
import { listen } from '../integration/wire-listener.ts';

const NOW = 1_800_000_000_000;
const OF = { run: 'r'.repeat(26), node: 'a "b"/ü', attempt: 1 };

interface Written {
  readonly logs: Logs;
  write(stream: string, at: number, ...texts: string[]): void;
}

function contract(open: () => Promise<Written>) {
  async function readAll(logs: Logs, limit: number): Promise<{ texts: string[]; isOver: boolean; place: LogPlace }> {
    const found = await logs.find('fn', logKey(OF), NOW - 1_000);
    if (found.kind !== 'read') throw new Error(found.kind);
    let { place } = found;
    const texts: string[] = [];
    for (;;) {
      const read = await logs.read('fn', place, limit);
      if (read.kind !== 'read') throw new Error(read.kind);
      texts.push(...read.lines.map(({ text }) => text));
      place = read.place;
      if (read.isOver || read.lines.length === 0) return { texts, isOver: read.isOver, place };
    }
  }

  it('finds the attempt by its mark, and reads what its invocation wrote, each line once', async () => {
    const { logs, write } = await open();
    write('s1', NOW, 'END RequestId: q0', 'START RequestId: q1', 'said before');
    write('s2', NOW, logMark({ ...OF, attempt: 2 }, 'q2'), 'of another attempt');
    write('s1', NOW, `2026\tq1\tINFO\t${logMark(OF, 'q1')}`, 'a', 'b');
    write('s1', NOW + 5, 'c', 'd', 'e');
    for (const limit of [1, 2, 3, 100]) {
      expect((await readAll(logs, limit)).texts, `${limit} lines a page`).toEqual(['a', 'b', 'c', 'd', 'e']);
    }
    const { place } = await readAll(logs, 2);
    write('s1', NOW + 5, 'f');
    expect(await logs.read('fn', place, 10)).toMatchObject({ lines: [{ at: NOW + 5, text: 'f' }], isOver: false });
    write('s1', NOW + 6, 'END RequestId: q1', 'REPORT RequestId: q1', 'START RequestId: q3', 'of the next one');
    for (const limit of [1, 4, 100]) {
      expect(await readAll(logs, limit)).toMatchObject({ texts: ['a', 'b', 'c', 'd', 'e', 'f'], isOver: true });
    }
  });

  it('finds nothing where nobody wrote a mark, or only before the time that is asked for', async () => {
    const { logs, write } = await open();
    expect(await logs.find('fn', logKey(OF), 0)).toEqual({ kind: 'missing' });
    write('s1', NOW, 'a line', logMark(OF, 'q1'));
    expect(await logs.find('fn', logKey({ ...OF, node: 'other' }), 0)).toEqual({ kind: 'missing' });
    expect(await logs.find('fn', logKey(OF), NOW + 1)).toEqual({ kind: 'missing' });
    expect(await logs.find('other', logKey(OF), 0)).toEqual({ kind: 'missing' });
  });

  it('reads the mark out of logs in JSON', async () => {
    const { logs, write } = await open();
    write('s1', NOW, JSON.stringify({ level: 'INFO', message: logMark(OF, 'q1') }), 'a');
    expect(await readAll(logs, 10)).toMatchObject({ texts: ['a'], place: { requestId: 'q1' } });
  });
}

describe('logs in memory', () => {
  contract(async () => {
    const logs = createMemoryLogs();
    const write = (stream: string, at: number, ...texts: string[]) => {
      const known = logs.lines.get('fn') ?? [];
      logs.lines.set('fn', [...known, ...texts.map((text) => ({ stream, at, text }))]);
    };
    return { logs, write };
  });
});

describe('logs in CloudWatch, as the host answers them', () => {
  let close: (() => Promise<void>) | undefined;
  beforeEach(() => {
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await close?.();
  });

  contract(async () => {
    let now = NOW;
    const events = createLogEvents(() => now);
    const server = await listen({ Logs_20140328: (target, body) => events.handle(target, body) });
    close = server.close;
    vi.stubEnv('AWS_ENDPOINT_URL_CLOUDWATCH_LOGS', server.url);
    const write = (stream: string, at: number, ...texts: string[]) => {
      now = at;
      for (const text of texts) events.add('/aws/lambda/fn', stream, text);
    };
    return { logs: createCloudWatchLogs(), write };
  });
});
