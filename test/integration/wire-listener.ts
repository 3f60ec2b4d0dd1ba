import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WireAnswer } from '#local/wire-answer.ts';

type Handle = (target: string, body: Buffer) => Promise<WireAnswer>;

/** Opens a loopback listener that hands each request to the service of its `X-Amz-Target` prefix. */
export async function listen(services: Readonly<Record<string, Handle>>) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const target = String(request.headers['x-amz-target']);
      const handle = services[target.slice(0, target.indexOf('.'))] as Handle;
      const { status, body, headers } = await handle(target, Buffer.concat(chunks));
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    clientConfig: {
      endpoint: url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      maxAttempts: 1,
    },
    close(): Promise<void> {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
