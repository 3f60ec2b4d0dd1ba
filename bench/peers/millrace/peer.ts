import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { measureBench } from '../../measure-bench.ts';
import { chain } from '../../pipelines.ts';
import { postJson } from '../http.ts';
import type { Kill, OpenPeer, Peer, Probe } from '../peer.ts';
import { startProcess } from '../process.ts';

const binary = fileURLToPath(new URL('../../../bin/millrace.js', import.meta.url));
const manifest = fileURLToPath(new URL('../../../package.json', import.meta.url));
const functionsDir = fileURLToPath(new URL('functions/', import.meta.url));
/** The figure of the benches that has what peers are compared by. */
const REQUEST_TO_END = 'from the request to the end, ms';

const ready = z.object({ url: z.url() });

/** Millrace on its development host: the benches of the same names, and `millrace dev` for what is killed. */
export const millrace: Peer = {
  name: 'millrace',
  title: 'Millrace, development host',
  nodeIs: 'a Lambda function in a process of its own, invoked by an execution that the scheduler starts',
  async prepare() {},
  async open(state) {
    let host = await startDev(state);
    const kill: Kill = {
      what: '`millrace dev`',
      begin: (probe) => begin(host.url, probe),
      kill: () => host.process.end('SIGKILL'),
      async restart() {
        host = await startDev(state);
      },
    };
    return {
      versions: `Millrace ${await ownVersion()}, Node ${process.versions.node}`,
      settings:
        'all defaults, a tick every 2 s: every write reaches the system before it is answered for, none waits for fsync',
      pids: [host.process.pid],
      async measure({ name }, say) {
        const figures = await measureBench(name, say);
        return figures.find(({ what }) => what === REQUEST_TO_END)?.values ?? [];
      },
      kills: [kill],
      close: () => host.process.end('SIGTERM'),
    } satisfies OpenPeer;
  },
};

async function startDev(state: string) {
  const args = [binary, 'dev', '--port', '0', '--data', join(state, 'millrace'), '--functions', functionsDir, '--json'];
  const dev = startProcess(process.execPath, args, { cwd: state });
  const url = new Promise<string>((resolve) => {
    dev.onLine((line) => line.startsWith('{') && resolve(ready.parse(JSON.parse(line)).url));
  });
  await dev.sees(/^\{/);
  return { process: dev, url: await url };
}

async function begin(url: string, { log, length, slowNode, slowMs }: Probe): Promise<void> {
  const { name, nodes } = chain(length);
  const definition = nodes.map((node, at) => {
    const payload = { number: at + 1, log, ms: at + 1 === slowNode ? slowMs : 0 };
    return { ...node, params: { function: 'node', payload } };
  });
  await postJson(`${url}/v1/pipelines/${name}`, { name, nodes: definition }, 'PUT');
  await postJson(`${url}/v1/pipelines/${name}/runs`, {});
}

async function ownVersion(): Promise<string> {
  return z.object({ version: z.string() }).parse(JSON.parse(await readFile(manifest, 'utf8'))).version;
}
