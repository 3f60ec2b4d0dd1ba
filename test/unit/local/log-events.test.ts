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
    for (let at = 0; at < 10_000; at++) log.add('g', 's', `${at}`);
    const first = await ask({ logGroupName: 'g', limit: 3 });
    expect(first.events.map(({ message }: { message: string }) => message)).toEqual(['0', '1', '2']);
    for (let at = 10_000; at < 10_002; at++) log.add('g', 's', `${at}`);
    const next = await ask({ logGroupName: 'g', limit: 2, nextToken: first.nextToken });
    expect(next.events.map(({ message }: { message: string }) => message)).toEqual(['3', '4']);
    const all = await ask({ logGroupName: 'g' });
    expect([all.events.length, all.events[0].message, all.nextToken]).toEqual([10_000, '2', undefined]);
  });

  it('keeps no more than a few megabytes of a function', async () => {
    const { log, messages } = open();
    for (let at = 0; at < 50; at++) log.add('g', 's', `${at}`.padEnd(100_000, ' '));
    expect((await messages({})).length).toBe(40);
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
