/** A client of the WebSocket of live updates. */
import './loopback-names.mjs';
import type { CallApi } from './signed-api.ts';

/** What the WebSocket says. */
// biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they expect
export type Frame = any;

/** Connects with a ticket, looks at a run, and gives what is told of it until it is over. */
export async function watchRun(call: CallApi, run: string, whenConnected: () => Promise<unknown>): Promise<Frame[]> {
  const { body } = await call('POST', '/v1/live-tickets');
  const socket = new WebSocket(`${body.url}?ticket=${body.ticket}`);
  const frames: Frame[] = [];
  const over = new Promise<void>((resolve, reject) => {
    socket.onopen = () => socket.send(JSON.stringify({ action: 'subscribe', run }));
    socket.onclose = ({ code }) => reject(new Error(`closed with ${code} after ${JSON.stringify(frames)}`));
    socket.onerror = () => reject(new Error(`no connection to ${body.url}`));
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(String(data));
      frames.push(frame);
      if (frame.type === 'Snapshot') whenConnected().catch(reject);
      if (frame.type === 'RunChanged' && frame.state === 'SUCCEEDED') resolve();
    };
  });
  try {
    await over;
    return frames;
  } finally {
    socket.onclose = null;
    socket.close();
  }
}
