/** A program of a peer that takes requests as JSON lines on standard input, one at a time, and answers with lines. */
import { z } from 'zod';
import type { Probe } from './peer.ts';
import { type PeerProcess, startProcess } from './process.ts';
import type { Dag } from './shapes.ts';

/** A request: run a DAG so many times at once and wait for all, or start the run that is going to be killed. */
export type AppRequest = { readonly dag: Dag; readonly runs: number } | { readonly probe: Probe };

const answer = z.object({ ms: z.number() });

/** A program that is up. */
export interface AppProcess {
  readonly process: PeerProcess;
  /** @returns the ms that the program itself took, from before its own request to the end of the last run */
  ask(request: AppRequest): Promise<number>;
}

/** Starts a program and waits until it has written `ready`. */
export async function startApp(...[command, args, options]: Parameters<typeof startProcess>): Promise<AppProcess> {
  const app = startProcess(command, args, options);
  const waiting: ((ms: number) => void)[] = [];
  app.onLine((line) => {
    if (line.startsWith('{"ms"')) waiting.shift()?.(answer.parse(JSON.parse(line)).ms);
  });
  await app.sees(/^ready$/);
  return {
    process: app,
    async ask(request) {
      const answered = new Promise<number>((resolve) => waiting.push(resolve));
      app.child.stdin?.write(`${JSON.stringify(request)}\n`);
      return Promise.race([answered, app.sees(/(?!)/).then(() => Number.NaN)]);
    },
  };
}
