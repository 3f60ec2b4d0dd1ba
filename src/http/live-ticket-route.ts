/** Tickets for live updates: a browser cannot sign the request that opens a WebSocket, so it brings a ticket. */
import { createHash } from 'node:crypto';
import { toIsoTime } from '#domain/iso-time.ts';
import type { Ids } from '#ports/index.ts';
import type { LiveStore, LiveTicket } from '#ports/live.ts';
import { jsonResponse } from './api-message.ts';
import { liveTicketSchema } from './live-schemas.ts';
import { ApiProblem } from './problem.ts';
import { defineRoute } from './route.ts';

/** How long a ticket is good for (ms). */
const TICKET_MS = 60_000;

/** `POST /v1/live-tickets` */
export const createLiveTicketRoute = defineRoute({
  method: 'POST',
  path: '/v1/live-tickets',
  operationId: 'createLiveTicket',
  summary: 'Gives a ticket for live updates',
  answers: { 201: { description: 'A ticket, good for one connection within a minute', schema: liveTicketSchema } },
  problems: ['LIVE_UPDATES_OFF'],
  async handle({ deps: { clock, ids, live }, request: { by } }) {
    if (!live) throw new ApiProblem('LIVE_UPDATES_OFF', 'This installation was deployed without live updates.');
    const ticket = newTicket(ids);
    const until = clock.now() + TICKET_MS;
    await live.tickets.putTicket(digestOf(ticket), { until, ...(by !== undefined && { by }) });
    return jsonResponse(201, { ticket, url: live.url, expiresAt: toIsoTime(until) });
  },
});

/** Takes a ticket that a client brought; nothing where it is none, was used, or is too old. */
export async function redeemTicket(
  store: Pick<LiveStore, 'takeTicket'>,
  ticket: string,
  now: number,
): Promise<LiveTicket | undefined> {
  return store.takeTicket(digestOf(ticket), now);
}

/** 256 bits, so that nobody guesses one. */
function newTicket(ids: Pick<Ids, 'secret'>): string {
  return `${ids.secret()}${ids.secret()}`;
}

/** What is kept of a ticket: whoever reads the table cannot use it. */
function digestOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}
