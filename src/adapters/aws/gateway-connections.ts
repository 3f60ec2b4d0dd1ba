/** Clients' connections behind a WebSocket API of API Gateway. */
import {
  type ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  GoneException,
  LimitExceededException,
  PayloadTooLargeException,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import type { Connections } from '#ports/live.ts';

/** A client that takes longer than this for a frame is slow (ms). */
export const SLOW_MS = 2_000;

/**
 * Makes the connections.
 * @param client of the stage's management endpoint; it should not repeat calls for longer than {@link SLOW_MS}
 */
export function createGatewayConnections(client: ApiGatewayManagementApiClient): Connections {
  return {
    async send(ConnectionId, Data) {
      try {
        const abortSignal = AbortSignal.timeout(SLOW_MS);
        await client.send(new PostToConnectionCommand({ ConnectionId, Data }), { abortSignal });
        return 'sent';
      } catch (error) {
        if (error instanceof GoneException) return 'gone';
        if (error instanceof LimitExceededException || isNoAnswer(error)) return 'slow';
        throw error;
      }
    },
    async close(ConnectionId) {
      try {
        await client.send(new DeleteConnectionCommand({ ConnectionId }));
      } catch (error) {
        if (!(error instanceof GoneException)) throw error;
      }
    },
  };
}

/** What the service refused is a fault of ours; what it did not answer in time, or with a fault of its own, is not. */
function isNoAnswer(error: unknown): boolean {
  if (error instanceof PayloadTooLargeException) return false;
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  return status === undefined || status === 429 || status >= 500;
}
