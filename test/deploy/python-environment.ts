/** The Python environment that MiniStack runs in: made once from `requirements.txt`, kept in the cache of this project. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '../..');
const CACHE = join(PROJECT, 'node_modules/.cache/millrace');
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/** Oldest Python that all of `requirements.txt` takes. */
const PYTHON = { major: 3, minor: 10 } as const;

/** A machine without what the emulator needs; the message says what that is. */
export class PythonMissingError extends Error {
  override readonly name = 'PythonMissingError';
}

/**
 * Gives the interpreter of the environment, which is made if it is not there: about ten seconds, and the only step that
 * needs a package index. Processes may ask at once; the first that is done is taken.
 *
 * The interpreter that it is made from is `python3` of the PATH, or what `PYTHON` names.
 * @throws PythonMissingError if there is no Python 3.10 or newer with `venv`, or if the packages cannot be installed
 */
export async function pythonEnvironment(): Promise<string> {
  const requirements = await readFile(REQUIREMENTS, 'utf8');
  const { PYTHON: python = 'python3' } = process.env;
  const version = await pythonVersion(python);
  const hash = createHash('sha256').update(requirements).update(version).digest('hex').slice(0, 12);
  const folder = join(CACHE, `ministack-${hash}`);
  const interpreter = join(folder, 'bin', 'python');
  if (!existsSync(interpreter)) await makeEnvironment(python, folder);
  return interpreter;
}

async function pythonVersion(python: string): Promise<string> {
  const question = 'import sys, venv, ensurepip; print("%d.%d.%d" % sys.version_info[:3])';
  const { stdout } = await run(python, ['-c', question]).catch((error: Error) => {
    throw missing(`"${python}" does not answer (${lastLine(error.message)})`);
  });
  const version = stdout.trim();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major === PYTHON.major && minor >= PYTHON.minor) return version;
  throw missing(`"${python}" is Python ${version}`);
}

/** An environment that is renamed runs as before, since its interpreter is called by path; so nobody sees half of one. */
async function makeEnvironment(python: string, folder: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const draft = await mkdtemp(`${folder}-draft-`);
  try {
    await run(python, ['-m', 'venv', draft]);
    const install = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-input',
      '--disable-pip-version-check',
      '-r',
      REQUIREMENTS,
    ];
    await run(join(draft, 'bin', 'python'), install);
    await rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } catch (error) {
    throw missing(`the packages of test/deploy/requirements.txt cannot be installed (${lastLine(String(error))})`);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function missing(what: string): PythonMissingError {
  return new PythonMissingError(
    `The deployment test needs Python ${PYTHON.major}.${PYTHON.minor} or newer with its modules venv and ensurepip, and a package index for pip: ${what}.`,
  );
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
