import { startHost } from '#local/host.ts';

/** A host in a process of its own, so that a test can kill it: `node host-process.ts CDK_OUT DATA`. */
const [cdkOut = '', dataDir = ''] = process.argv.slice(2);
const host = await startHost({ cdkOut, dataDir, port: 0 });
process.stdout.write(`${JSON.stringify({ url: host.url, wireUrl: host.wireUrl })}\n`);
