import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { postJson } from '../http.ts';
import { folderOf, installNode } from '../install.ts';
import { type Kill, type OpenPeer, type Peer, type Probe, repeated, Unavailable } from '../peer.ts';
import { freePort, type PeerProcess, startProcess, untilAnswers } from '../process.ts';
import type { Dag } from '../shapes.ts';

/** What a node of a Restate peer is. */
export interface RestateOptions {
  readonly name: string;
  readonly title: string;
  /** `steps` of the handler that runs the DAG, or `calls` of a service, which the server dispatches. */
  readonly nodes: 'steps' | 'calls';
}

/** Restate, one server with its log on disk, and one process with the services. */
export function restate({ name, title, nodes }: RestateOptions): Peer {
  return {
    name,
    title,
    nodeIs:
      nodes === 'steps'
        ? 'a function call in the handler of the DAG, recorded in the server’s log; nothing is dispatched'
        : 'a call of a service that is up, dispatched by the server',
    async prepare(say) {
      await installNode('restate', say);
      serverProgram();
    },
    open: (state) => open(state, nodes),
  };
}

interface Ports {
  readonly ingress: number;
  readonly admin: number;
  readonly fabric: number;
  readonly services: number;
}

async function open(state: string, nodes: RestateOptions['nodes']): Promise<OpenPeer> {
  const ports = {
    ingress: await freePort(),
    admin: await freePort(),
    fabric: await freePort(),
    services: await freePort(),
  };
  let services = await startServices(ports);
  let server = await startServer(state, ports);
  await register(ports);
  const ingress = `http://127.0.0.1:${ports.ingress}/${nodes}`;
  const begin = async (probe: Probe) => {
    await postJson(`${ingress}/chain/send`, { length: probe.length, probe });
  };
  const kills: readonly Kill[] = [
    {
      what: 'the server',
      begin,
      kill: () => server.end('SIGKILL'),
      async restart() {
        server = await startServer(state, ports);
      },
    },
    {
      what: 'the services',
      begin,
      kill: () => services.end('SIGKILL'),
      async restart() {
        services = await startServices(ports);
      },
    },
  ];
  return {
    versions: `Restate ${await versionOf('restate-server')}, its TypeScript SDK ${await versionOf('restate-sdk')}, Node ${process.versions.node}`,
    settings: 'all defaults: 24 partitions, one replica, every append to the log waits for fsync',
    pids: [server.pid, services.pid],
    measure: ({ dag, runs }, say) =>
      repeated(say, async () => {
        const begun = performance.now();
        await Promise.all(Array.from({ length: runs }, () => postJson(...callOf(ingress, dag))));
        return performance.now() - begun;
      }),
    kills,
    async close() {
      await server.end('SIGTERM');
      await services.end('SIGTERM');
    },
  };
}

function callOf(ingress: string, dag: Dag): [string, object] {
  return [`${ingress}/${dag.kind}`, dag.kind === 'chain' ? { length: dag.length } : { width: dag.width }];
}

async function startServices({ services }: Ports): Promise<PeerProcess> {
  const folder = folderOf('restate');
  const env = { PORT: String(services), RESTATE_LOGGING: 'ERROR', NODE_ENV: 'production' };
  const app = startProcess(process.execPath, [join(folder, 'app.mjs')], { cwd: folder, env });
  await app.sees(/^ready$/);
  return app;
}

async function startServer(state: string, ports: Ports): Promise<PeerProcess> {
  const env = {
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_ADDRESS: `127.0.0.1:${ports.fabric}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
    RESTATE_LOG_FILTER: 'error',
  };
  const server = startProcess(
    serverProgram(),
    ['--base-dir', join(state, 'restate'), '--node-name', 'peer', '--no-logo'],
    { cwd: state, env },
  );
  await Promise.race([untilAnswers(`http://127.0.0.1:${ports.admin}/health`), server.sees(/(?!)/)]);
  await untilAnswers(`http://127.0.0.1:${ports.ingress}/restate/health`);
  return server;
}

async function register({ admin, services }: Ports): Promise<void> {
  await postJson(`http://127.0.0.1:${admin}/deployments`, { uri: `http://127.0.0.1:${services}` });
}

/** The program itself: its JavaScript wrapper would outlive it. */
function serverProgram(): string {
  const { resolve } = createRequire(join(folderOf('restate'), 'package.json'));
  try {
    return resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
  } catch (cause) {
    throw new Unavailable(`there is no server of Restate for ${process.platform} ${process.arch}`, { cause });
  }
}

async function versionOf(name: string): Promise<string> {
  const text = await readFile(join(folderOf('restate'), 'node_modules/@restatedev', name, 'package.json'), 'utf8');
  return JSON.parse(text).version;
}
