/** The entry of the command line: takes from the process what commands need, and gives it their exit code. */
import packageJson from '../../package.json' with { type: 'json' };
import { EXIT } from './exit-codes.ts';
import { createOutput } from './output.ts';
import { runCli } from './program.ts';

// A reader that has seen enough, such as `head`, is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed));
}
// Only the way to notice that the process which started this one is gone; see bin/millrace.js.
process.channel?.unref();

process.exitCode = await runCli(process.argv.slice(2), packageJson.version, {
  output: createOutput(process.stdout, process.stderr, process.env),
  env: process.env,
  cwd: process.cwd(),
  now: Date.now,
});
