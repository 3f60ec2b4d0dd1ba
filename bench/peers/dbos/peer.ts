import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AppProcess, startApp } from '../app-process.ts';
import { installNode } from '../install.ts';
import { type Kill, type OpenPeer, type Peer, repeated } from '../peer.ts';
import { openPostgres, preparePostgres } from '../postgres.ts';

/** The guarantee of the database of a DBOS peer: its own default, or that of Millrace's development host. */
export interface DbosOptions {
  readonly name: string;
  readonly title: string;
  /** Whether a commit waits for the disk, so that it survives a power cut, not only a kill. */
  readonly synchronousCommit: boolean;
}

/** DBOS with PostgreSQL: workflows run in the app that starts them, and a step is a row. */
export function dbos({ name, title, synchronousCommit }: DbosOptions): Peer {
  let folder = '';
  let programs = '';
  return {
    name,
    title,
    nodeIs: 'a function call in the app itself, recorded as a row; nothing is dispatched',
    async prepare(say) {
      programs = await preparePostgres(say);
      folder = await installNode('dbos', say);
    },
    async open(state) {
      const settings = { ...(!synchronousCommit && { synchronous_commit: 'off' }) };
      const postgres = await openPostgres(programs, state, settings);
      const env = { DBOS_SYSTEM_DATABASE_URL: `postgresql://${postgres.address}` };
      const start = () => startApp(process.execPath, [join(folder, 'app.mjs')], { cwd: folder, env });
      return opened({ start, app: await start(), postgres, version: await versionOf(folder), synchronousCommit });
    },
  };
}

interface Parts {
  readonly start: () => Promise<AppProcess>;
  readonly app: AppProcess;
  readonly postgres: Awaited<ReturnType<typeof openPostgres>>;
  readonly version: string;
  readonly synchronousCommit: boolean;
}

function opened({ start, app: first, postgres, version, synchronousCommit }: Parts): OpenPeer {
  let app = first;
  const kill: Kill = {
    what: 'the app',
    async begin(probe) {
      await app.ask({ probe });
    },
    kill: () => app.process.end('SIGKILL'),
    async restart() {
      app = await start();
    },
  };
  return {
    versions: `DBOS ${version}, ${postgres.version}, Node ${process.versions.node}`,
    settings: synchronousCommit ? 'all defaults: every commit waits for fsync' : 'synchronous_commit = off',
    pids: [app.process.pid, postgres.pid],
    measure: ({ dag, runs }, say) => repeated(say, () => app.ask({ dag, runs })),
    kills: [kill],
    async close() {
      await app.process.end('SIGTERM');
      await postgres.close();
    },
  };
}

async function versionOf(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'node_modules/@dbos-inc/dbos-sdk/package.json'), 'utf8');
  return JSON.parse(text).version;
}
