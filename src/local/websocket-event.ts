import { randomUUID } from 'node:crypto';
import type { WebsocketApi } from '#local/websocket-template.ts';

/** Who is connected, as events show it. */
export type WebsocketIdentity = {
  readonly connectionId: string;
  /** Milliseconds since 1970. */
  readonly connectedAt: number;
  readonly sourceIp: string;
  readonly userAgent: string;
};

/** What happened on a connection. */
export type WebsocketHappening =
  | {
      readonly eventType: 'CONNECT';
      readonly headers: Readonly<Record<string, string>>;
      readonly query: URLSearchParams;
    }
  | { readonly eventType: 'MESSAGE'; readonly routeKey: string; readonly data: Buffer; readonly isBinary: boolean }
  | { readonly eventType: 'DISCONNECT'; readonly code: number; readonly reason: string };

/** The event of a WebSocket API, as JSON text. */
export function toWebsocketEvent(
  happening: WebsocketHappening,
  { connectionId, connectedAt, sourceIp, userAgent }: WebsocketIdentity,
  { apiId, stage, domainName, now }: Pick<WebsocketApi, 'apiId' | 'stage'> & { domainName: string; now: number },
): string {
  const requestId = randomUUID();
  const { requestContext, ...event } = partsOf(happening);
  return JSON.stringify({
    requestContext: {
      ...requestContext,
      eventType: happening.eventType,
      connectionId,
      connectedAt,
      requestId,
      extendedRequestId: requestId,
      requestTimeEpoch: now,
      messageDirection: 'IN',
      stage,
      apiId,
      domainName,
      identity: { sourceIp, userAgent },
    },
    ...event,
  });
}

function partsOf(happening: WebsocketHappening) {
  switch (happening.eventType) {
    case 'CONNECT': {
      const { headers, query } = happening;
      return {
        requestContext: { routeKey: '$connect' },
        headers,
        ...(query.size > 0 && { queryStringParameters: Object.fromEntries(query) }),
        isBase64Encoded: false,
      };
    }
    case 'MESSAGE': {
      const { routeKey, data, isBinary } = happening;
      return {
        requestContext: { routeKey, messageId: randomUUID() },
        body: data.toString(isBinary ? 'base64' : 'utf8'),
        isBase64Encoded: isBinary,
      };
    }
    case 'DISCONNECT': {
      const { code, reason } = happening;
      return {
        requestContext: { routeKey: '$disconnect', disconnectStatusCode: code, disconnectReason: reason },
        isBase64Encoded: false,
      };
    }
  }
}
