import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type LoopbackServer, openLoopbackServer, refusal } from '#local/loopback-server.ts';
import { openWebsocketServer, type WebsocketServer } from '#local/websocket-server.ts';
import { createWireLog } from '#local/wire-log.ts';
import { ManualClock } from './manual-clock.ts';

type Event = {
  readonly requestContext: { readonly eventType: string; readonly routeKey: string; readonly connectionId: string };
  readonly body?: string;
  readonly isBase64Encoded: boolean;
  readonly queryStringParameters?: Record<string, string>;
};

const MINUTE = 60_000;

let clock: ManualClock;
let listener: LoopbackServer;
let sockets: WebsocketServer;
let events: Event[];
type Answering = (event: Event) => { readonly statusCode: number } | 'throws';

let answer: Answering;
let told: (() => void) | undefined;

beforeEach(async () => {
  clock = new ManualClock();
  events = [];
  answer = () => ({ statusCode: 200 });
  const routes = new Map([
    ['$connect', 'f'],
    ['$disconnect', 'f'],
    ['$default', 'f'],
    ['sing', 'f'],
  ]);
  sockets = openWebsocketServer(
    { apiId: 'api', stage: 'live', routes, actionField: 'action' },
    {
      clock,
      wireLog: createWireLog(),
      domainName: 'here',
      log: () => {},
      functions: {
        async invoke(_name, { event }) {
          const read = JSON.parse(event) as Event;
          events.push(read);
          const said = answer(read);
          told?.();
          return said === 'throws'
            ? { ok: false, requestId: 'r', error: { errorType: 'Error', errorMessage: 'no' } }
            : { ok: true, requestId: 'r', payload: JSON.stringify(said) };
        },
      },
    },
  );
  listener = await openLoopbackServer({
    port: 0,
    maxBodyBytes: 1024,
    maxHeaderBytes: 10_240,
    handle: async (request) => (await sockets.manage(request)) ?? refusal(404, 'Not Found'),
    upgrade: sockets.upgrade,
  });
});

afterEach(async () => {
  sockets.close();
  clock.advance(MINUTE);
  await listener.close();
});

const urlOf = (path: string) => `${listener.url.replace('http', 'ws')}${path}`;

async function connect(path = '/live'): Promise<WebSocket> {
  const socket = new WebSocket(urlOf(path));
  await once(socket, 'open');
  return socket;
}

/** Resolves once an event of a kind has come. */
async function untilEvent(eventType: string): Promise<Event> {
  for (;;) {
    const found = events.find(({ requestContext }) => requestContext.eventType === eventType);
    if (found) return found;
    await new Promise<void>((resolve) => {
      told = resolve;
    });
  }
}

describe('a WebSocket of the host', () => {
  it('tells the function of its opening, its messages and its end', async () => {
    const socket = await connect('/live?ticket=t');
    expect(events[0]).toMatchObject({
      requestContext: { routeKey: '$connect' },
      queryStringParameters: { ticket: 't' },
    });
    socket.send('{"action":"hum"}');
    expect(await untilEvent('MESSAGE')).toMatchObject({
      requestContext: { routeKey: '$default' },
      body: '{"action":"hum"}',
    });
    events.length = 0;
    socket.send('{"action":"sing"}');
    expect(await untilEvent('MESSAGE')).toMatchObject({ requestContext: { routeKey: 'sing' } });
    events.length = 0;
    socket.send(Buffer.from([0, 1]));
    expect(await untilEvent('MESSAGE')).toMatchObject({ body: 'AAE=', isBase64Encoded: true });
    socket.close();
    expect(await untilEvent('DISCONNECT')).toMatchObject({ requestContext: { routeKey: '$disconnect' } });
    expect(new Set(events.map(({ requestContext }) => requestContext.connectionId)).size).toBe(1);
  });

  it.each<[string, Answering, string]>([
    ['the function refuses', () => ({ statusCode: 403 }), '403'],
    ['the function fails', () => 'throws', '502'],
  ])('is not opened where %s', async (_why, said, status) => {
    answer = said;
    const [error] = await once(new WebSocket(urlOf('/live')), 'error');
    expect(error.message).toContain(status);
  });

  it('says so where the function fails on a message', async () => {
    const socket = await connect();
    answer = () => 'throws';
    socket.send('x');
    const [data] = await once(socket, 'message');
    expect(JSON.parse(String(data))).toMatchObject({ message: 'Internal server error', requestId: 'r' });
  });

  it('ends after ten minutes without a word, and after two hours with them', async () => {
    const idle = await connect();
    const busy = await connect();
    for (let minutes = 0; minutes < 118; minutes += 9) {
      events.length = 0;
      busy.send('still here');
      await untilEvent('MESSAGE');
      clock.advance(9 * MINUTE);
    }
    expect(idle.readyState).not.toBe(WebSocket.OPEN);
    const [code] = await once(busy, 'close');
    expect(code).toBe(1001);
  });
});
