import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { startApp } from '../app-process.ts';
import { postJson } from '../http.ts';
import { folderOf, installPython } from '../install.ts';
import { type Kill, type OpenPeer, type Peer, type Probe, repeated } from '../peer.ts';
import { openPostgres, preparePostgres } from '../postgres.ts';
import { freePort, run, startProcess, untilAnswers } from '../process.ts';

const VERSION = 'from importlib.metadata import version; print(version("prefect"))';
const deployment = z.object({ id: z.string() });
/** Loading it takes long on a machine that is busy (ms). */
const START_MS = 300_000;
let programs = '';

/** Prefect: flows run in a process that is up, and its server keeps their states in PostgreSQL. */
export const prefect: Peer = {
  name: 'prefect',
  title: 'Prefect, PostgreSQL',
  nodeIs: 'a function call in the process of its flow, whose states go to a server',
  async prepare(say) {
    programs = await preparePostgres(say);
    await installPython('prefect', say);
  },
  open,
};

async function open(state: string): Promise<OpenPeer> {
  const folder = folderOf('prefect');
  const python = join(folder, 'venv/bin/python');
  const home = join(state, 'prefect');
  await mkdir(home);
  const postgres = await openPostgres(programs, state);
  const port = await freePort();
  const api = `http://127.0.0.1:${port}/api`;
  const env = {
    PREFECT_HOME: home,
    PREFECT_API_URL: api,
    PREFECT_SERVER_DATABASE_CONNECTION_URL: `postgresql+asyncpg://${postgres.address}`,
    PREFECT_SERVER_ANALYTICS_ENABLED: 'false',
    PREFECT_LOGGING_LEVEL: 'ERROR',
  };
  const options = { cwd: folder, env };
  const serve = ['-m', 'prefect', 'server', 'start', '--host', '127.0.0.1', '--port', String(port), '--no-ui'];
  const server = startProcess(python, serve, options);
  await Promise.race([untilAnswers(`${api}/health`, START_MS), server.sees(/(?!)/)]);
  const app = await startApp(python, ['app.py'], options);
  const kill = serving(api, () => startProcess(python, ['serve.py'], { ...options, detached: true }));
  return {
    versions: `Prefect ${await run(python, ['-c', VERSION], options)}, ${postgres.version}`,
    settings: 'all defaults: states of tasks are sent to the server but not awaited, results are not kept',
    pids: [server.pid, app.process.pid, postgres.pid],
    measure: ({ dag, runs }, say) => repeated(say, () => app.ask({ dag, runs })),
    kills: [kill],
    async close() {
      await kill.kill();
      await app.process.end('SIGKILL');
      await server.end('SIGTERM');
      await postgres.close();
    },
  };
}

/** The process that serves a deployment, with the processes of its runs. */
function serving(api: string, start: () => ReturnType<typeof startProcess>): Kill {
  let runner: ReturnType<typeof startProcess> | undefined;
  const found = () => fetch(`${api}/deployments/name/killed/peer`);
  return {
    what: 'the serving process and that of the flow',
    async begin(probe) {
      runner = start();
      await untilAnswers(`${api}/deployments/name/killed/peer`, START_MS);
      const { id } = deployment.parse(await (await found()).json());
      await postJson(`${api}/deployments/${id}/create_flow_run`, {
        parameters: parametersOf(probe),
        state: { type: 'SCHEDULED' },
      });
    },
    async kill() {
      await runner?.end('SIGKILL');
    },
    async restart() {
      runner = start();
    },
  };
}

function parametersOf({ log, length, slowNode, slowMs }: Probe): object {
  return { log, length, slow_node: slowNode, slow_ms: slowMs };
}
