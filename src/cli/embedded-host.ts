import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Host } from '#local/host.ts';
import { CliError } from './cli-error.ts';

/** How a command line asks for a host. */
export interface HostSettings {
  readonly port: number;
  /** An absolute path. @default a temporary folder that goes with the process */
  readonly dataDir?: string;
  readonly tickSeconds: number;
  /** A directory of users' functions. */
  readonly functionsDir?: string;
  /** The command that runs the CDK app, in the folder that it runs in. @default our own app */
  readonly app?: { readonly command: string; readonly cwd: string };
  readonly chaos?: string;
  readonly seed?: number;
  /** Told of what should not happen on the host. */
  readonly log: (line: string) => void;
}

/** Where synthesized templates are kept for the next time: in the `node_modules` that this file lies in, or beside. */
const assemblies = cacheFolder(import.meta.dirname);

/**
 * Synthesizes the app and hosts its template.
 * @throws HostError, DiskError and CliError `FUNCTIONS_NOT_FOUND`, each with what to do
 */
export async function openHost(settings: HostSettings): Promise<{ host: Host; dataDir: string }> {
  const { chaos, functionsDir, app } = settings;
  const [{ startHost, synthesizeApp }, { parseChaos }] = await Promise.all([
    import('#local/host.ts'),
    import('#local/chaos-spec.ts'),
  ]);
  // What is wrong with the command line is said before anything takes time.
  if (chaos !== undefined) parseChaos(chaos);
  if (functionsDir !== undefined) await checkDirectory(functionsDir);
  const cdkOut = await synthesizeApp({
    outDir: assemblies,
    ...(functionsDir !== undefined && { functionsDir }),
    ...(app !== undefined && { app: app.command, projectDir: app.cwd }),
  });
  const dataDir = settings.dataDir ?? temporaryFolder();
  const host = await startHost({
    cdkOut,
    dataDir,
    port: settings.port,
    tickSeconds: settings.tickSeconds,
    log: settings.log,
    ...(chaos !== undefined && { chaos }),
    ...(settings.seed !== undefined && { seed: settings.seed }),
  });
  return { host, dataDir };
}

async function checkDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  const what = found === undefined ? 'there is no such folder' : 'this is a file, not a folder';
  throw new CliError('FUNCTIONS_NOT_FOUND', `--functions ${path}: ${what}.`, {
    next: 'It takes a folder with one NAME.ts or NAME/index.ts for each function.',
  });
}

/** Goes away with the process, also when that is left at once. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function cacheFolder(directory: string): string {
  const modules = basename(directory) === 'node_modules' ? directory : join(directory, 'node_modules');
  const isFound = existsSync(modules) || dirname(directory) === directory;
  return isFound ? join(modules, '.cache/millrace') : cacheFolder(dirname(directory));
}
