import { describe, expect, it } from 'vitest';
import { createLogEvents } from '#local/log-events.ts';

const TARGET = 'Logs_20140328.FilterLogEvents';

function open() {
  let now = 0;
  const log = createLogEvents(() => now++);
  const ask = async (request: object, target = TARGET) => {
    const { status, body } = await log.handle(target, Buffer.from(JSON.stringify(request)));
    return { status, ...JSON.parse(String(body)) };
  };
  const messages = async (request: object) => {
    const { events } = await ask({ logGroupName: 'g', ...request });
    return (events as { message: string }[]).map(({ message }) => message);
  };
  return { log, ask, messages };
}

describe("the host's CloudWatch Logs", () => {
  it('finds lines by stream, phrase and time', async () => {
    const { log, messages } = open();
    for (const [stream, text] of [
      ['s', 'one a/b'],
      ['t', 'two a/b'],
      ['s', 'three'],
    ] as const)
      log.add('g', stream, text);
    expect(await messages({})).toEqual(['one a/b', 'two a/b', 'three']);
    expect(await messages({ logStreamNames: ['s'] })).toEqual(['one a/b', 'three']);
    expect(await messages({ filterPattern: '"a/b"' })).toEqual(['one a/b', 'two a/b']);
    expect(await messages({ startTime: 1, endTime: 2 })).toEqual(['two a/b']);
    expect(await messages({ logGroupName: 'other' })).toEqual([]);
  });

  it('goes on page by page, though older lines are dropped meanwhile', async () => {
    const { log, ask } = open();
    for (let at = 0; at < 11_999; at++) log.add('g', `s${at % 10}`, `${at}`);
    const first = await ask({ logGroupName: 'g', limit: 3 });
    expect(first.events.map(({ message }: { message: string }) => message)).toEqual(['0', '1', '2']);
    log.add('g', 's', '11999');
    const next = await ask({ logGroupName: 'g', limit: 2, nextToken: first.nextToken });
    expect(next.events.map(({ message }: { message: string }) => message)).toEqual(['2000', '2001']);
    const all = await ask({ logGroupName: 'g' });
    expect([all.events.length, all.events[0].message, all.nextToken]).toEqual([10_000, '2000', undefined]);
  });

  it('keeps no more than a few megabytes of a function', async () => {
    const { log, messages } = open();
    for (let at = 0; at < 500; at++) log.add('g', `s${at % 50}`, `${at}`.padEnd(100_000, ' '));
    const kept = (await messages({})).length;
    expect(kept).toBeGreaterThanOrEqual(40);
    expect(kept).toBeLessThanOrEqual(48);
  });

  it('keeps the beginning and the end of a stream of millions of lines, and the lines of other streams', async () => {
    const { log, messages } = open();
    log.add('g', 'before', 'one line');
    for (let at = 0; at < 2_000_000; at++) log.add('g', 's', `line ${at}`);
    log.end('g', 's', 'END');
    const kept = await messages({ logStreamNames: ['s'] });
    expect(kept).toHaveLength(3_000 + 1 + 200 + 1);
    expect([kept[0], kept[2_999], kept[3_001], kept.at(-2), kept.at(-1)]).toEqual([
      'line 0',
      'line 2999',
      'line 1999800',
      'line 1999999',
      'END',
    ]);
    expect(kept[3_000]).toMatch(/^… 1996800 lines are left out here/);
    expect(await messages({ logStreamNames: ['before'] })).toEqual(['one line']);
  });

  it('cuts the long lines of the end of a stream', async () => {
    const { log, messages } = open();
    for (let at = 0; at < 1_000; at++) log.add('g', 's', 'x'.repeat(256 * 1024));
    log.add('g', 's', 'short');
    log.end('g', 's', 'END');
    expect((await messages({})).slice(-2)).toEqual(['short', 'END']);
    expect((await messages({})).filter((message) => message === 'short')).toHaveLength(1);
    const characters = (await messages({})).reduce((sum, message) => sum + message.length, 0);
    expect(characters).toBeLessThan(1_500_000);
  });

  it('refuses what it does not know', async () => {
    const { ask } = open();
    expect(await ask({}, 'Logs_20140328.PutLogEvents')).toMatchObject({
      status: 400,
      __type: 'UnknownOperationException',
    });
    expect(await ask({ logGroupName: 'g', filterPattern: '[a, b]' })).toMatchObject({
      status: 400,
      __type: 'InvalidParameterException',
    });
  });
});
