import { spawn } from 'node:child_process';
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { existsSync, type Stats } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { bundle } from '#local/bundling.ts';
import { HostError } from '#local/host-error.ts';

/** Which app to synthesize. */
type SynthesisOptions = {
  /** The command that runs the app, as in cdk.json. @default our own app */
  readonly app?: string;
  /** A directory of users' functions, given to the app as the context value `functions`. */
  readonly functionsDir?: string;
  /** Where cloud assemblies are kept, each under a name of its own. */
  readonly outDir: string;
  /** The folder that the command runs in. @default the project that this file belongs to */
  readonly projectDir?: string;
};

const extension = path.extname(import.meta.filename);
const ownApp = `node infra/app${extension}`;
const ownProject = path.resolve(import.meta.dirname, '../..');
/** What the template of our own app is made from, besides users' functions. */
const ownInputs = ['infra', 'functions', 'src', 'package-lock.json', 'package.json', 'cdk.json', 'tsconfig.json'];
/** A marker in a cloud assembly that was finished. */
const finishedMark = '.finished';
/** Assemblies of earlier inputs that are left where they are; a host may still run on one. */
const keptAssemblies = 4;

/**
 * Runs a CDK app and gives the folder of its cloud assembly. An assembly of our own app is kept and found again by the
 * content of what it is made from; other apps are run every time, because only they know what they read.
 * @throws {HostError} `SYNTH_FAILED` with what the app wrote to standard error
 */
export async function synthesizeApp(options: SynthesisOptions): Promise<string> {
  const { app = ownApp, projectDir = ownProject, functionsDir } = options;
  const outDir = path.resolve(options.outDir);
  const functions = functionsDir === undefined ? undefined : path.resolve(functionsDir);
  const digest = app === ownApp && projectDir === ownProject ? await digestOfInputs(functions) : undefined;
  const target = path.join(outDir, digest ?? randomUUID());
  if (existsSync(path.join(target, finishedMark))) return target;
  await mkdir(outDir, { recursive: true });
  const draft = path.join(outDir, `draft-${randomUUID()}`);
  await runApp(app, projectDir, draft, functions);
  await writeFile(path.join(draft, finishedMark), '');
  await rename(draft, target).catch(async (error: unknown) => {
    // Somebody else finished the same one first.
    if (!existsSync(path.join(target, finishedMark))) throw error;
    await rm(draft, { recursive: true });
  });
  await removeOld(outDir, target);
  return target;
}

async function runApp(app: string, projectDir: string, draft: string, functions: string | undefined): Promise<void> {
  const context = { ...(await contextOf(projectDir)), ...(functions === undefined ? {} : { functions }) };
  const { PATH = '' } = process.env;
  const child = spawn(app, {
    cwd: projectDir,
    shell: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      PATH: `${path.dirname(process.execPath)}${path.delimiter}${PATH}`,
      CDK_OUTDIR: draft,
      CDK_CONTEXT_JSON: JSON.stringify(context),
    },
  });
  child.stderr.setEncoding('utf8');
  let said = '';
  child.stderr.on('data', (text: string) => {
    said += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0 && existsSync(path.join(draft, 'manifest.json'))) return;
  await rm(draft, { recursive: true, force: true });
  const reason = said.trim() || `it ended with code ${code} and wrote no cloud assembly to CDK_OUTDIR`;
  throw new HostError('SYNTH_FAILED', `\`${app}\` failed:\n${reason}`);
}

const cdkJson = z.object({ context: z.record(z.string(), z.unknown()).default({}) });

/** The context of cdk.json, which the command line of CDK passes on. */
async function contextOf(projectDir: string): Promise<Record<string, unknown>> {
  const file = path.join(projectDir, 'cdk.json');
  if (!existsSync(file)) return {};
  return cdkJson.parse(JSON.parse(await readFile(file, 'utf8'))).context;
}

/** Undefined if users' functions do not build: the app then says why. */
async function digestOfInputs(functions: string | undefined): Promise<string | undefined> {
  const hash = createHash('sha256').update(process.version);
  for (const input of ownInputs) await addTree(hash, path.join(ownProject, input));
  if (functions === undefined) return hash.digest('hex').slice(0, 32);
  hash.update(functions);
  return (await addBundles(hash, functions)) ? hash.digest('hex').slice(0, 32) : undefined;
}

async function addTree(hash: Hash, file: string): Promise<void> {
  const found: Stats | undefined = await stat(file).catch(() => undefined);
  if (found === undefined) return;
  hash.update(`\0${file}\0`);
  if (!found.isDirectory()) {
    hash.update(await readFile(file));
    return;
  }
  for (const name of (await readdir(file)).sort()) await addTree(hash, path.join(file, name));
}

/**
 * Users' functions may import from anywhere on the disk, so it is what they are bundled to that counts. Their own
 * files' names count too: they are the functions' names.
 */
async function addBundles(hash: Hash, directory: string): Promise<boolean> {
  const names = (await readdir(directory, { withFileTypes: true }).catch(() => [])).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  const entryPoints = names.flatMap((entry) => {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') return [];
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) return existsSync(path.join(file, 'index.ts')) ? [path.join(file, 'index.ts')] : [];
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts') ? [file] : [];
  });
  for (const entry of names) hash.update(`\0${entry.name}`);
  if (entryPoints.length === 0) return false;
  const settings = { bundle: true, write: false, platform: 'node', format: 'esm', logLevel: 'silent' } as const;
  const alias = { 'millrace/function': path.join(ownProject, `src/function/index${extension}`) };
  const built = await bundle({
    ...settings,
    alias,
    entryPoints,
    absWorkingDir: directory,
    outdir: path.join(directory, '.bundle'),
  }).catch(() => undefined);
  if (built === undefined) return false;
  for (const file of built.outputFiles) hash.update(`\0${file.path}\0`).update(file.contents);
  return true;
}

/** Nothing else in the folder is ours to delete. */
const assemblyName = /^(?:[0-9a-f]{32}|(?:draft-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

async function removeOld(outDir: string, current: string): Promise<void> {
  const names = (await readdir(outDir)).filter((name) => assemblyName.test(name));
  const others = names.map((name) => path.join(outDir, name)).filter((each) => each !== current);
  const dated = await Promise.all(
    others.map(async (each) => ({ each, at: (await stat(each).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  dated.sort((a, b) => b.at - a.at);
  for (const { each } of dated.slice(keptAssemblies)) await rm(each, { recursive: true, force: true });
}
