import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request as it came. */
type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly type: string; readonly id: string; readonly data: Readonly<Record<string, unknown>> };
  /** Milliseconds since the process began. */
  readonly at: number;
};

/** A server that webhooks are posted to. */
export type WebhookReceiver = {
  readonly url: string;
  /** Statuses to answer with by path, one after another; 200 afterwards. */
  readonly answers: Map<string, number[]>;
  /** The requests to a path, when there are so many. */
  received(path: string, count: number): Promise<readonly Received[]>;
  close(): void;
};

export async function openWebhookReceiver(): Promise<WebhookReceiver> {
  const all: Received[] = [];
  const answers = new Map<string, number[]>();
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const body = JSON.parse(await text(request));
    response.writeHead(answers.get(path)?.shift() ?? 200).end();
    all.push({ path, headers: request.headers, body, at: performance.now() });
    for (const look of waiting) look();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    received: (path, count) =>
      new Promise((resolve) => {
        const look = () => {
          const found = all.filter((each) => each.path === path);
          if (found.length < count) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    close: () => server.close(),
  };
}
