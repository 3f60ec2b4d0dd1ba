/**
 * The function behind live updates: it lets clients in that bring a ticket, answers what they say, and hands changes of
 * runs on to them.
 */
import middy from '@middy/core';
import type { APIGatewayAuthorizerResult, Context } from 'aws-lambda';
import * as z from 'zod';
import { liveEventSchema, tellChange } from '#http/live-changes.ts';
import type { LiveDeps } from '#http/live-deps.ts';
import { answerMessage, endSession } from '#http/live-session.ts';
import { redeemTicket } from '#http/live-ticket-route.ts';

/** What the gateway asks before it opens a connection. */
const ticketCheck = z.object({
  type: z.literal('REQUEST'),
  methodArn: z.string(),
  queryStringParameters: z.record(z.string(), z.string()).nullish(),
});

/** What happens on a connection. */
const socketEvent = z.object({
  requestContext: z.object({
    connectionId: z.string(),
    eventType: z.enum(['CONNECT', 'MESSAGE', 'DISCONNECT']),
    connectedAt: z.number(),
    requestId: z.string(),
    authorizer: z.object({ by: z.string().optional() }).nullish(),
  }),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().default(false),
});

type SocketEvent = z.output<typeof socketEvent>;

const eventSchema = z.union([ticketCheck, socketEvent, liveEventSchema]);

type Answer = APIGatewayAuthorizerResult | { readonly statusCode: number } | undefined;

/** Makes the handler. */
export function createHandler(deps: LiveDeps) {
  return middy<unknown, Answer, Error, Context>().handler(async (event) => {
    const read = eventSchema.parse(event);
    if ('methodArn' in read) return checkTicket(deps, read);
    if ('requestContext' in read) return takeSocketEvent(deps, read);
    await tellChange(deps, read);
    return undefined;
  });
}

async function checkTicket(
  { live, clock, log }: LiveDeps,
  { methodArn, queryStringParameters }: z.output<typeof ticketCheck>,
): Promise<APIGatewayAuthorizerResult> {
  const ticket = await redeemTicket(live, queryStringParameters?.['ticket'] ?? '', clock.now());
  if (!ticket) log.info('ticket refused', {});
  const { by } = ticket ?? {};
  return {
    principalId: by ?? 'unknown',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect: ticket ? 'Allow' : 'Deny', Resource: methodArn }],
    },
    ...(by !== undefined && { context: { by } }),
  };
}

async function takeSocketEvent(deps: LiveDeps, event: SocketEvent): Promise<Answer> {
  const { connectionId: connection, connectedAt, eventType, requestId, authorizer } = event.requestContext;
  const by = authorizer?.by;
  switch (eventType) {
    case 'CONNECT':
      deps.log.info('connected', { connection, ...(by !== undefined && { by }) });
      break;
    case 'DISCONNECT':
      deps.log.info('disconnected', { connection });
      await endSession(deps, connection);
      break;
    case 'MESSAGE': {
      const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
      await answerMessage(deps, { connection, connectedAt, requestId, body });
    }
  }
  return { statusCode: 200 };
}
