/**
 * Breaks the core in named ways, one at a time, in a copy of the tree, and shows that the simulation notices each:
 * `npm run mutations`, or `npm run mutations -- --only TEXT` for those whose name contains a text. Ends with 1 where
 * one of them lives: a hole in the invariants.
 */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { MUTATIONS, type Mutation } from './mutations.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** What the simulation needs of the tree. */
const COPIED = ['package.json', 'vitest.config.ts', 'src', 'test/simulation', 'test/reference'];
/** Longer than the simulation takes: a mutant that keeps it busy for ever is noticed too (ms). */
const TIME_LIMIT_MS = 600_000;

const report = z.object({
  testResults: z.array(
    z.object({
      message: z.string(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ),
});

/** What became of a mutant. */
type Verdict = { readonly kind: 'caught'; readonly by: string } | { readonly kind: 'alive' | 'stuck' };

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });

process.exitCode = await main(MUTATIONS.filter(({ name }) => name.includes(values.only)));

async function main(mutations: readonly Mutation[]): Promise<number> {
  const outdated = await outdatedMutations(mutations);
  if (outdated.length > 0) return say(`the code has changed under these mutations:\n${outdated.join('\n')}`, 1);
  const tree = await mkdtemp(path.join(tmpdir(), 'millrace-mutations-'));
  try {
    for (const name of COPIED) await cp(path.join(ROOT, name), path.join(tree, name), { recursive: true });
    await symlink(path.join(ROOT, 'node_modules'), path.join(tree, 'node_modules'));
    const untouched = await simulate(tree);
    if (untouched.kind !== 'alive') return say('the simulation fails without any mutation', 1);
    let alive = 0;
    for (const mutation of mutations) {
      const verdict = await tryMutation(tree, mutation);
      if (verdict.kind === 'alive') alive += 1;
      say(
        `${verdict.kind.padEnd(6)} ${mutation.name}${verdict.kind === 'caught' ? `\n         ${verdict.by}` : ''}`,
        0,
      );
    }
    return say(`${mutations.length - alive} of ${mutations.length} noticed`, alive > 0 ? 1 : 0);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

function say(line: string, exitCode: number): number {
  process.stdout.write(`${line}\n`);
  return exitCode;
}

/** Mutations whose text does not occur once any more. */
async function outdatedMutations(mutations: readonly Mutation[]): Promise<string[]> {
  const told: string[] = [];
  for (const { name, file, from } of mutations) {
    const times = (await readFile(path.join(ROOT, file), 'utf8')).split(from).length - 1;
    if (times !== 1) told.push(`"${name}": its text occurs ${times} times in ${file}, not once:\n${from}`);
  }
  return told;
}

/** The text of a file with a mutation in it. */
async function mutatedText(tree: string, { file, from, to }: Mutation): Promise<string> {
  return (await readFile(path.join(tree, file), 'utf8')).replace(from, () => to);
}

async function tryMutation(tree: string, mutation: Mutation): Promise<Verdict> {
  const file = path.join(tree, mutation.file);
  const original = await readFile(file, 'utf8');
  await writeFile(file, await mutatedText(tree, mutation));
  try {
    return await simulate(tree);
  } finally {
    await writeFile(file, original);
  }
}

/** Runs the simulation on a tree, up to its first failure. */
async function simulate(tree: string): Promise<Verdict> {
  const results = path.join(tree, 'results.json');
  await rm(results, { force: true });
  const vitest = path.join(tree, 'node_modules/vitest/vitest.mjs');
  const args = ['run', '--project', 'simulation', '--bail', '1', '--reporter', 'json', '--outputFile', results];
  const child = spawn(process.execPath, [vitest, ...args], { cwd: tree, stdio: 'ignore', timeout: TIME_LIMIT_MS });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('exit', resolve);
    child.once('error', reject);
  });
  if (code === 0) return { kind: 'alive' };
  if (code === null) return { kind: 'stuck' };
  return { kind: 'caught', by: await firstFailure(results) };
}

async function firstFailure(results: string): Promise<string> {
  const { testResults } = report.parse(JSON.parse(await readFile(results, 'utf8')));
  for (const { message, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    if (failed) return `${failed.fullName}: ${told(failed.failureMessages)}`;
    if (message !== '') return firstLine(message);
  }
  return 'a failure that vitest does not name';
}

/** What went wrong, in one line: the broken invariant where fast-check names one behind a counterexample. */
function told(messages: readonly string[]): string {
  const text = messages.join('\n');
  return firstLine(/InvariantError: (.*)/.exec(text)?.[1] ?? text);
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 160);
}
