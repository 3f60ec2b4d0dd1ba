import type { LoopbackAnswer, LoopbackRequest } from '#local/loopback-server.ts';
import type { WriteGuard } from '#local/write-guard.ts';

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Answers requests that would have to wait for room on the disk at once: 503 with the reason. What only reads goes on. */
export function whileDiskIsFull(
  handle: (request: LoopbackRequest) => Promise<LoopbackAnswer>,
  guard: Pick<WriteGuard, 'hasRoom' | 'fullError'>,
): typeof handle {
  return async (request) => {
    if (reading.has(request.method) || guard.hasRoom()) return handle(request);
    const { code, message } = guard.fullError;
    const problem = { type: 'about:blank', title: 'The disk of the development host is full', status: 503 };
    return {
      status: problem.status,
      headers: { 'content-type': 'application/problem+json', 'retry-after': '5' },
      body: JSON.stringify({ ...problem, code, detail: message }),
    };
  };
}
