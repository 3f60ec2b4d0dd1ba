import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { postJson } from '../http.ts';
import { folderOf, installPython } from '../install.ts';
import { type Kill, type OpenPeer, type Peer, repeated, type Say } from '../peer.ts';
import { openPostgres, preparePostgres } from '../postgres.ts';
import { freePort, type PeerProcess, run, startProcess, untilAnswers } from '../process.ts';
import type { Shape } from '../shapes.ts';

/** Between two looks whether a run is over; its end is by the clock of the server (ms). */
/** Answers that are none, one after the other, before a look is given up. */
const MOST_BAD_LOOKS = 50;
const LOOK_MS = 200;
/** A task without a heartbeat is looked for after five minutes. */
const PATIENCE_MS = 420_000;
const DAGS = 4;
/** Loading it takes long on a machine that is busy (ms). */
const START_MS = 300_000;
const VERSION = 'from importlib.metadata import version; print(version("apache-airflow"))';

const token = z.object({ access_token: z.string() });
const dags = z.object({ total_entries: z.int() });
const dagRun = z.object({
  dag_run_id: z.string(),
  state: z.string(),
  end_date: z.iso.datetime({ offset: true }).nullable(),
});
let programs = '';

/** Airflow: a scheduler with the executor of one machine, a server for its API, a processor of DAG files. */
export const airflow: Peer = {
  name: 'airflow',
  title: 'Airflow, PostgreSQL',
  isLong: true,
  nodeIs: 'a process of its own, forked by the executor',
  async prepare(say) {
    programs = await preparePostgres(say);
    await installPython('airflow', say);
  },
  open,
};

async function open(state: string): Promise<OpenPeer> {
  const home = join(state, 'airflow');
  await mkdir(home);
  const postgres = await openPostgres(programs, state);
  const port = await freePort();
  const folder = folderOf('airflow');
  const python = join(folder, 'venv/bin/python');
  const options = { cwd: folder, env: environment({ home, folder, port, database: postgres.address }) };
  await run(python, ['-m', 'airflow', 'db', 'migrate'], options);
  const start = (...args: string[]) => startProcess(python, ['-m', 'airflow', ...args], { ...options, detached: true });
  const server = start('api-server', '--host', '127.0.0.1', '--port', String(port));
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([untilAnswers(`${url}/api/v2/monitor/health`, START_MS), server.sees(/(?!)/)]);
  const others = { scheduler: start('scheduler'), processor: start('dag-processor') };
  const api = await connect(url);
  await api.untilDags(DAGS);
  return {
    versions: `Airflow ${await run(python, ['-c', VERSION], options)}, ${postgres.version}`,
    settings:
      'LocalExecutor, otherwise all defaults: 32 tasks at once, 16 of a DAG, 16 runs of a DAG; killed tasks may be tried again once',
    pids: [server.pid, others.scheduler.pid, others.processor.pid, postgres.pid],
    measure: (shape, say) => measure(api, shape, say),
    kills: [killOf(api, others, () => start('scheduler'))],
    async close() {
      for (const each of [others.scheduler, others.processor, server]) await each.end('SIGKILL');
      await postgres.close();
    },
  };
}

/** It takes a minute a shape, so that one repetition, after a small one without effect, has to do. */
function measure(api: Api, { name, dag, runs }: Shape, say: Say): Promise<number[]> {
  const dagId = dag.kind === 'chain' ? `chain-${dag.length}` : name;
  return repeated(
    say,
    () => api.runAll(dagId, runs),
    1,
    () => api.runAll('chain-10', 1),
  );
}

function killOf(api: Api, running: { scheduler: PeerProcess }, start: () => PeerProcess): Kill {
  return {
    what: 'the scheduler and its executor',
    patienceMs: PATIENCE_MS,
    async begin({ log, slowNode, slowMs }) {
      await api.begin('killed-50', { log, slow_node: slowNode, slow_ms: slowMs });
    },
    kill: () => running.scheduler.end('SIGKILL'),
    async restart() {
      running.scheduler = start();
    },
  };
}

type Api = Awaited<ReturnType<typeof connect>>;

async function connect(url: string) {
  const { access_token } = token.parse(await (await fetch(`${url}/auth/token`)).json());
  const headers = { authorization: `Bearer ${access_token}` };
  const get = async (path: string): Promise<unknown> => {
    for (let looks = 1; ; looks++) {
      const response = await fetch(`${url}/api/v2/${path}`, { headers });
      if (response.ok) return response.json();
      // Its server answers 500 while many ask at once.
      if (looks === MOST_BAD_LOOKS) throw new Error(`GET ${path} answered ${response.status}`);
      await sleep(LOOK_MS);
    }
  };
  const begin = async (dagId: string, conf: object) => {
    const text = await postJson(`${url}/api/v2/dags/${dagId}/dagRuns`, { logical_date: null, conf }, 'POST', headers);
    return dagRun.parse(JSON.parse(text)).dag_run_id;
  };
  const endOf = async (dagId: string, id: string): Promise<number> => {
    for (;;) {
      const { state, end_date } = dagRun.parse(await get(`dags/${dagId}/dagRuns/${id}`));
      if (end_date !== null && state !== 'success') throw new Error(`the run of ${dagId} is ${state}`);
      if (end_date !== null) return Date.parse(end_date);
      await sleep(LOOK_MS);
    }
  };
  return {
    begin,
    /** Runs a DAG so many times at once. @returns ms from before the requests to the end of the last run */
    async runAll(dagId: string, runs: number): Promise<number> {
      const begun = Date.now();
      const ids = await Promise.all(Array.from({ length: runs }, () => begin(dagId, {})));
      return Math.max(...(await Promise.all(ids.map((id) => endOf(dagId, id))))) - begun;
    },
    async untilDags(count: number): Promise<void> {
      while (dags.parse(await get('dags')).total_entries < count) await sleep(LOOK_MS);
    },
  };
}

function environment({
  home,
  folder,
  port,
  database,
}: Record<'home' | 'folder' | 'database', string> & { port: number }) {
  return {
    AIRFLOW_HOME: home,
    AIRFLOW__DATABASE__SQL_ALCHEMY_CONN: `postgresql+psycopg2://${database}`,
    AIRFLOW__CORE__EXECUTOR: 'LocalExecutor',
    AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
    AIRFLOW__CORE__DAGS_FOLDER: join(folder, 'dags'),
    AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION: 'False',
    AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS: 'True',
    AIRFLOW__CORE__EXECUTION_API_SERVER_URL: `http://127.0.0.1:${port}/execution/`,
    AIRFLOW__API_AUTH__JWT_SECRET: 'a secret of this measurement that guards nothing else, 64 bytes',
    AIRFLOW__API__SECRET_KEY: 'another',
    AIRFLOW__USAGE_DATA_COLLECTION__ENABLED: 'False',
    AIRFLOW__LOGGING__LOGGING_LEVEL: 'WARNING',
  };
}
