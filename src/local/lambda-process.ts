import { Socket } from 'node:net';
import {
  type RuntimeInvocation,
  type RuntimeReport,
  type RuntimeSettings,
  serveInvocations,
} from '#local/lambda-runtime.ts';
import { LineSplitter } from '#local/line-splitter.ts';

/**
 * The entry of a process that is a Lambda environment of a user's function. It talks to the host over its file
 * descriptor 3, in lines of JSON: first come the settings, then invocations; reports go back.
 */
const channel = new Socket({ fd: 3, readable: true, writable: true });
/** How long the last report may take on its way. */
const lastWordMs = 1000;

/** Processes that the function started go with it. */
function endAll(): void {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    process.exit(0);
  }
}

channel.once('close', endAll);
channel.on('error', () => channel.destroy());

let take: (invocation: RuntimeInvocation) => void = () => {};
let isServing = false;

const lines = new LineSplitter(
  (line) => {
    if (isServing) {
      take(JSON.parse(line));
      return;
    }
    isServing = true;
    void serve(JSON.parse(line));
  },
  { maxCharacters: Number.POSITIVE_INFINITY },
);
channel.setEncoding('utf8').on('data', (text: string) => lines.push(text));

/** Resolves when what was printed so far is with the host, so that it is read before what is reported after it. */
async function printed(): Promise<void> {
  const unsent = [process.stdout, process.stderr].filter((stream) => stream.writable && stream.writableLength > 0);
  await Promise.all(unsent.map((stream) => new Promise((sent) => stream.write('', sent))));
}

function serve(settings: RuntimeSettings): Promise<void> {
  let reporting: Promise<unknown> = Promise.resolve();
  return serveInvocations(settings, {
    report(report: RuntimeReport) {
      // Whatever a function wrote there by itself ends with a line end of ours.
      reporting = reporting.then(printed).then(() => channel.write(`\n${JSON.stringify(report)}\n`));
    },
    onInvocation(takeOne) {
      take = takeOne;
    },
    exit(code) {
      channel.off('close', endAll);
      void reporting.then(() => channel.end(() => process.exit(code)));
      setTimeout(() => process.exit(code), lastWordMs);
    },
  });
}
