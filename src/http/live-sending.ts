/** Sends frames, and takes leave of clients: those that are gone, and those that do not keep up. */
import pMap from 'p-map';
import type { LiveDeps } from './live-deps.ts';

/** Frames and rows on their way at the same time. */
const PARALLEL_CALLS = 20;

/**
 * Sends a frame to connections. One that does not take it is dropped, not waited for: its client connects again, and is
 * told how things stand then.
 * @returns whether all took it
 */
export async function sendFrame(deps: LiveDeps, to: readonly string[], text: string): Promise<boolean> {
  const dropped = await pMap(to, (connection) => sendTo(deps, connection, text), { concurrency: PARALLEL_CALLS });
  const isAnyDropped = dropped.some(Boolean);
  if (isAnyDropped) await settleFeed(deps);
  return !isAnyDropped;
}

async function sendTo(deps: LiveDeps, connection: string, text: string): Promise<boolean> {
  const outcome = await trySending(deps, connection, text);
  if (outcome === 'sent') return false;
  deps.log.info('connection dropped', { connection, why: outcome });
  if (outcome !== 'gone') {
    deps.count('ConnectionDropped');
    await deps.connections
      .close(connection)
      .catch((error) => deps.log.warn('connection not closed', { connection, error }));
  }
  await forget(deps, connection);
  return true;
}

/** What is wrong with one connection must not keep the others from hearing. */
async function trySending({ connections, log }: LiveDeps, connection: string, text: string) {
  try {
    return await connections.send(connection, text);
  } catch (error) {
    log.error('frame not sent', { connection, error });
    return 'failed';
  }
}

/** Takes a connection out of all that it looked at, and closes the feed where it was the last. */
export async function removeConnection(deps: LiveDeps, connection: string): Promise<void> {
  if (await forget(deps, connection)) await settleFeed(deps);
}

async function forget({ live }: LiveDeps, connection: string): Promise<boolean> {
  const topics = await live.topicsOf(connection);
  await pMap(topics, (topic) => live.unsubscribe(connection, topic), { concurrency: PARALLEL_CALLS });
  return topics.length > 0;
}

/**
 * Closes the feed where nobody is there. Whoever comes puts a row first and opens the feed then; so one that came in between
 * either is found by the second look, or opens the feed after it was closed. Should this die between the two, the next
 * ping opens it.
 */
export async function settleFeed({ live, feed, clock, log }: LiveDeps): Promise<void> {
  if (await live.isAnybodyThere(clock.now())) return;
  await feed.close();
  log.info('feed closed', {});
  if (await live.isAnybodyThere(clock.now())) await feed.open();
}
