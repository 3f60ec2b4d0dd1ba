import { describe, expect, it } from 'vitest';
import { MAX_FRAME_BYTES } from '#http/live-frames.ts';
import { CONTEXT, SUCCEED } from './installation.ts';
import { createLive } from './live-clients.ts';

const CHAIN = {
  name: 'chain',
  nodes: [
    { id: 'a', params: { function: 'f' } },
    { id: 'b', dependsOn: ['a'], params: { function: 'f' } },
  ],
};

/** An installation with a run whose nodes end when `end` says so. */
async function withRun(open = new Set(['a', 'b'])) {
  const live = createLive((node, attempt) => (open.has(node) ? undefined : SUCCEED(node, attempt)));
  await live.put(CHAIN);
  const { id } = (await live.post('/v1/pipelines/chain/runs', { input: { big: 'x'.repeat(50_000) } })).body;
  await live.settle();
  const end = async (node: string) => {
    open.delete(node);
    live.rings.push(id);
    await live.tick(id, 60_000);
  };
  return { live, id: id as string, end };
}

describe('subscribing to a run', () => {
  it('gives a snapshot first: the run as the API gives it, without input and output, and its nodes', async () => {
    const { live, id } = await withRun();
    const frame = await live.say('c1', { action: 'subscribe', run: id });
    const { input: _input, ...run } = (await live.get(`/v1/runs/${id}`)).body;
    expect(frame).toEqual({
      type: 'Snapshot',
      run,
      nodes: [
        { id: 'a', state: 'RUNNING', reason: 'Executing', attempt: 1 },
        { id: 'b', state: 'PENDING', reason: 'UpstreamPending' },
      ],
    });
    expect(live.state).toMatchObject({ isFeedOpen: true, watched: [id] });
  });

  it('is told of changes node by node from then on, in ranges that leave nothing out', async () => {
    const { live, id, end } = await withRun();
    const { run } = await live.say('c1', { action: 'subscribe', run: id });
    await live.watchThem();
    await end('a');
    await end('b');
    await live.handOn();
    const changes = live.framesOf('c1').slice(1);
    expect(
      changes.flatMap(({ nodes = [] }) =>
        nodes.map((node: { id: string; state: string }) => `${node.id} ${node.state}`),
      ),
    ).toEqual(expect.arrayContaining(['a SUCCEEDED', 'b RUNNING', 'b SUCCEEDED']));
    let covered = run.rev;
    for (const { sinceRev, rev } of changes) {
      expect(sinceRev).toBeLessThanOrEqual(covered + 1);
      covered = Math.max(covered, rev);
    }
    expect(covered).toBe((await live.get(`/v1/runs/${id}`)).body.rev);
    expect(changes.at(-1)).toMatchObject({ type: 'RunChanged', runId: id, state: 'SUCCEEDED', pipeline: 'chain' });
  });

  it('asks for a run that is over once, and has nothing watched', async () => {
    const { live, id, end } = await withRun(new Set());
    await end('b');
    expect((await live.say('c1', { action: 'subscribe', run: id })).run.state).toBe('SUCCEEDED');
    expect(live.state.watched).toEqual([]);
  });

  it('of 10,000 nodes is told what fits into a frame, and that there is more', async () => {
    const live = createLive(() => undefined);
    const nodes = Array.from({ length: 10_000 }, (_, at) => ({ id: `node-${at}`, params: { function: 'f' } }));
    await live.put({ name: 'wide', nodes });
    const tags = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`tag-${at}`, 'ü'.repeat(256)]));
    const { id } = (await live.post('/v1/pipelines/wide/runs', { tags })).body;
    await live.settle();
    const frame = await live.say('c1', { action: 'subscribe', run: id });
    expect(frame).toMatchObject({ truncated: true, run: { id, state: 'RUNNING' } });
    expect(frame.run.tags).toBeUndefined();
    expect(frame.nodes.length).toBeGreaterThan(200);
    await live.watchThem();
    await live.tick(id, 60_000);
    await live.handOn();
    for (const text of live.rawOf('c1')) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_FRAME_BYTES);
    expect(live.framesOf('c1').length).toBeGreaterThan(1);
  });
});

describe('subscribing to a pipeline', () => {
  it('gives its newest runs, and then tells of all of its runs', async () => {
    const { live, id } = await withRun();
    const frame = await live.say('c1', { action: 'subscribe', pipeline: 'chain' });
    expect(frame).toMatchObject({ type: 'Snapshot', pipeline: 'chain', runs: [{ id, state: 'RUNNING' }] });
    expect(live.state.watched).toEqual([]);
    await live.handOn();
    const { id: second } = (await live.post('/v1/pipelines/chain/runs', {})).body;
    await live.settle();
    await live.handOn();
    const changes = live.framesOf('c1').slice(1);
    expect(changes.map(({ runId }) => runId)).toContain(second);
    expect(changes.every(({ nodes }) => nodes === undefined)).toBe(true);
  });

  it('tells a connection once that looks at the run as well', async () => {
    const { live, id, end } = await withRun(new Set(['b']));
    await live.say('c1', { action: 'subscribe', run: id });
    await live.say('c1', { action: 'subscribe', pipeline: 'chain' });
    await live.handOn();
    const before = live.framesOf('c1').length;
    await end('b');
    await live.handOn();
    const revs = live
      .framesOf('c1')
      .slice(before)
      .map(({ rev }) => rev);
    expect(new Set(revs).size).toBe(revs.length);
  });
});

describe('what is no good', () => {
  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['no JSON', '{"action":', 'INVALID_JSON'],
    ['a list', '[1]', 'INVALID_REQUEST'],
    ['a forbidden key', '{"__proto__":{},"action":"ping"}', 'FORBIDDEN_KEY'],
    ['an unknown action', { action: 'look' }, 'INVALID_REQUEST'],
    ['an unknown field', { action: 'ping', more: 1 }, 'INVALID_REQUEST'],
    ['neither run nor pipeline', { action: 'subscribe' }, 'INVALID_REQUEST'],
    ['both', { action: 'subscribe', run: 'r', pipeline: 'p' }, 'INVALID_REQUEST'],
    ['an id that is none', { action: 'subscribe', run: '../runs' }, 'RUN_NOT_FOUND'],
    ['a run that is not there', { action: 'subscribe', run: 'a'.repeat(26) }, 'RUN_NOT_FOUND'],
    ['a pipeline that is not there', { action: 'subscribe', pipeline: 'none' }, 'PIPELINE_NOT_FOUND'],
    ['a name that is none', { action: 'subscribe', pipeline: 'a#b' }, 'PIPELINE_NOT_FOUND'],
    ['nothing', '', 'INVALID_REQUEST'],
  ];

  it.each(wrong)('%s is answered by an error frame, and changes nothing', async (_what, message, code) => {
    const live = createLive();
    expect(await live.say('c1', message as string)).toMatchObject({ type: 'Error', code });
    expect(live.state.feedCalls).toBe(0);
    expect(await live.live.isAnybodyThere(live.time.now)).toBe(false);
  });

  it('more than 20 subscriptions of a connection are refused', async () => {
    const live = createLive();
    for (let at = 0; at <= 20; at++) await live.put({ ...CHAIN, name: `p${at}` });
    for (let at = 0; at < 20; at++) await live.say('c1', { action: 'subscribe', pipeline: `p${at}` });
    const refused = await live.say('c1', { action: 'subscribe', pipeline: 'p20' });
    expect(refused).toMatchObject({ type: 'Error', code: 'TOO_MANY_SUBSCRIPTIONS', pipeline: 'p20' });
    expect(await live.say('c1', { action: 'subscribe', pipeline: 'p0' })).toMatchObject({ type: 'Snapshot' });
    await live.say('c1', { action: 'unsubscribe', pipeline: 'p0' });
    expect(await live.say('c1', { action: 'subscribe', pipeline: 'p20' })).toMatchObject({ type: 'Snapshot' });
  });
});

describe('the feed', () => {
  it('is closed until the first subscription, and again after the last, however that ends', async () => {
    const { live, id } = await withRun();
    await live.connect('c1');
    expect(live.state.feedCalls).toBe(0);
    await live.say('c1', { action: 'subscribe', run: id });
    await live.say('c2', { action: 'subscribe', run: id });
    expect(await live.say('c1', { action: 'unsubscribe', run: id })).toEqual({ type: 'Unsubscribed', run: id });
    expect(live.state.isFeedOpen).toBe(true);
    await live.disconnect('c2');
    expect(live.state.isFeedOpen).toBe(false);
    await live.disconnect('c1');
  });

  it('is closed by an event that finds nobody there any more: connections that are gone, or too old', async () => {
    const { live, id, end } = await withRun(new Set(['b']));
    await live.say('c1', { action: 'subscribe', run: id });
    live.gone.add('c1');
    await end('b');
    await live.handOn();
    expect(live.state.isFeedOpen).toBe(false);
    await live.say('c2', { action: 'subscribe', pipeline: 'chain' });
    await live.post('/v1/pipelines/chain/runs', {});
    live.time.now += 3 * 3600_000;
    await live.settle();
    await live.handOn();
    expect(live.state.isFeedOpen).toBe(false);
    expect(live.framesOf('c2').length).toBe(1);
  });

  it('is opened again for one who comes between the look and the closing', async () => {
    const { live, id } = await withRun();
    await live.say('c1', { action: 'subscribe', run: id });
    const { feed, live: store } = live.liveDeps;
    const close = feed.close;
    Object.assign(feed, {
      close: async () => {
        await store.subscribe('c2', `run/${id}`, live.time.now + 1_000);
        await close();
      },
    });
    await live.disconnect('c1');
    expect(live.state.isFeedOpen).toBe(true);
  });
});

describe('clients that do not keep up', () => {
  it('are dropped, and the others hear all the same', async () => {
    const { live, id, end } = await withRun(new Set(['b']));
    for (const connection of ['c1', 'c2', 'c3']) await live.say(connection, { action: 'subscribe', run: id });
    live.slow.add('c1');
    live.gone.add('c2');
    await end('b');
    await live.handOn();
    expect([live.closed, live.counted]).toEqual([['c1'], ['ConnectionDropped']]);
    expect(await live.live.topicsOf('c1')).toEqual([]);
    expect(await live.live.topicsOf('c2')).toEqual([]);
    expect(live.framesOf('c3').at(-1)).toMatchObject({ state: 'SUCCEEDED' });
    expect(live.state.isFeedOpen).toBe(true);
  });
});

describe('a ping', () => {
  it('is answered with the revision of each run, so that a client finds what it was not told', async () => {
    const { live, id, end } = await withRun();
    const { run } = await live.say('c1', { action: 'subscribe', run: id });
    await live.watchThem();
    live.state.isFeedOpen = false;
    await end('a');
    await live.handOn();
    const pong = await live.say('c1', { action: 'ping' });
    expect(pong.runs).toEqual([{ runId: id, rev: (await live.get(`/v1/runs/${id}`)).body.rev, state: 'RUNNING' }]);
    expect(pong.runs[0].rev).toBeGreaterThan(run.rev);
    expect(live.state.isFeedOpen).toBe(true);
  });

  it('has the runs watched for longer once half of the time is over, and not before', async () => {
    const { live, id } = await withRun();
    await live.say('c1', { action: 'subscribe', run: id });
    await live.watchThem();
    await live.say('c1', { action: 'ping' });
    expect(live.state.watched).toEqual([]);
    live.time.now += 301_000;
    await live.say('c1', { action: 'ping' });
    expect(live.state.watched).toEqual([id]);
    expect(await live.say('nobody', { action: 'ping' })).toEqual({ type: 'Pong', runs: [] });
  });
});

describe('events that are not for clients', () => {
  it('of its own are dropped and counted; unknown ones are dropped', async () => {
    const live = createLive();
    await live.handler({ id: 'e', source: 'millrace.notifier', 'detail-type': 'RunChanged', detail: {} }, CONTEXT);
    expect(live.counted).toEqual(['OwnEventDropped']);
    await live.handler({ id: 'e', source: 'other', 'detail-type': 'RunChanged', detail: { rev: 1 } }, CONTEXT);
    expect(live.liveLines.map(({ message }) => message)).toEqual(['event of our own dropped', 'event not known']);
    expect(live.state.feedCalls).toBe(0);
  });
});

describe('a ticket', () => {
  const check = (ticket: string | undefined) => ({
    type: 'REQUEST',
    methodArn: 'arn:aws:execute-api:eu-central-1:111122223333:id/live/$connect',
    queryStringParameters: ticket === undefined ? null : { ticket },
    requestContext: { connectionId: 'c1', eventType: 'CONNECT' },
  });
  const effectOf = (answer: unknown) =>
    (answer as { policyDocument: { Statement: { Effect: string }[] } }).policyDocument.Statement[0]?.Effect;

  it('opens one connection within a minute, in the name of whoever asked for it', async () => {
    const live = createLive();
    const by = 'arn:aws:iam::111122223333:user/ada';
    const { body, status } = await live.call('POST', '/v1/live-tickets', { by });
    expect([status, body.url]).toEqual([201, 'wss://live.test/live']);
    expect(Date.parse(body.expiresAt)).toBe(live.time.now + 60_000);
    const answer = await live.handler(check(body.ticket), CONTEXT);
    expect(answer).toMatchObject({ principalId: by, context: { by } });
    expect(effectOf(answer)).toBe('Allow');
    expect(effectOf(await live.handler(check(body.ticket), CONTEXT))).toBe('Deny');
  });

  it('is refused when it is too old, made up, or missing', async () => {
    const live = createLive();
    const { ticket } = (await live.post('/v1/live-tickets')).body;
    live.time.now += 60_000;
    for (const each of [ticket, 'made-up', '', undefined]) {
      expect(effectOf(await live.handler(check(each), CONTEXT))).toBe('Deny');
    }
  });
});
