import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { CHECKOUT } from './tarball.ts';

/** What was extracted says of itself. */
export interface PublishedPackage {
  readonly version: string;
  readonly bin: { readonly millrace: string };
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** How a process ended, and what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a project of somebody's may have installed beside Millrace; tools have a `bin`. */
const BESIDE = {
  '@types/node': {},
  'aws-cdk': { cdk: 'bin/cdk' },
  'aws-cdk-lib': {},
  constructs: {},
  typescript: { tsc: 'bin/tsc' },
  vitest: { vitest: 'vitest.mjs' },
} as const;

/**
 * A folder outside the checkout with the tarball installed in it. What the package depends on comes from the checkout's
 * `node_modules`, and nothing else does: an import of what the package does not declare fails, as it would for users.
 */
export class CleanProject {
  readonly folder: string;
  readonly package: PublishedPackage;

  private constructor(folder: string, content: PublishedPackage) {
    this.folder = folder;
    this.package = content;
  }

  /** Extracts the tarball, and links what `npm install` would bring. */
  static async make(): Promise<CleanProject> {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-package-'));
    const modules = join(folder, 'node_modules');
    await mkdir(join(modules, '.bin'), { recursive: true });
    const own = join(modules, 'millrace');
    await mkdir(own);
    await ended(spawn('tar', ['-xzf', inject('tarball'), '-C', own, '--strip-components=1']));
    const content = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as PublishedPackage;
    const beside = Object.keys({ ...content.dependencies, ...content.peerDependencies, ...BESIDE });
    for (const name of new Set(beside)) {
      await mkdir(dirname(join(modules, name)), { recursive: true });
      await symlink(join(CHECKOUT, 'node_modules', name), join(modules, name));
    }
    const tools = Object.entries(BESIDE).flatMap(([name, bin]) =>
      Object.entries(bin).map(([tool, file]) => [tool, join(name, file)] as const),
    );
    for (const [tool, file] of [...tools, ['millrace', join('millrace', content.bin.millrace)] as const]) {
      await symlink(join('..', file), join(modules, '.bin', tool));
    }
    // As npm notes it: the package came from a file.
    const lock = { packages: { 'node_modules/millrace': { resolved: `file:${inject('tarball')}` } } };
    await writeFile(join(modules, '.package-lock.json'), JSON.stringify(lock));
    return new CleanProject(folder, content);
  }

  /** Writes a file of the project. */
  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true });
    await writeFile(join(this.folder, path), text);
  }

  /** Starts a command as a shell in the project would, with `node` of one version. */
  start(node: string, command: string): ChildProcess {
    const { MILLRACE_URL: _not, NODE_OPTIONS: _nor, ...inherited } = process.env;
    const PATH = [join(this.folder, 'node_modules/.bin'), dirname(node), process.env['PATH']].join(':');
    return spawn('sh', ['-c', `exec ${command}`], {
      cwd: this.folder,
      env: { ...inherited, PATH, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Runs a command to its end. */
  run(node: string, command: string): Promise<Ended> {
    return ended(this.start(node, command));
  }

  /** Runs a module in the project, and reads the JSON that it prints. */
  async evaluate(node: string, code: string): Promise<unknown> {
    await this.write('evaluated.mjs', code);
    const { code: exit, stdout, stderr } = await this.run(node, 'node evaluated.mjs');
    if (exit !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  }

  /** Takes the folder away. */
  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Waits for the end of a process. */
export function ended(child: ChildProcess): Promise<Ended> {
  const written = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    written.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    written.stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...written }));
  });
}
