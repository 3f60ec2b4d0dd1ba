import { type HostOptions, startHost } from '#local/host.ts';

/** A host in a process of its own, so that it can be killed: `node run-host.ts OPTIONS`, the options as JSON. */
const options = JSON.parse(process.argv[2] ?? '{}') as HostOptions;
// Whoever started it may die first.
process.stdin.on('end', () => process.exit(0)).resume();
const host = await startHost({ ...options, log: (line) => process.stderr.write(`${line}\n`) });
process.stdout.write(`${JSON.stringify({ url: host.url, wireUrl: host.wireUrl })}\n`);
