/**
 * Breaks the core in named ways, one at a time, in copies of the tree, and shows that the simulation notices each:
 * `npm run mutations`, or `npm run mutations -- --only TEXT` for those whose name contains a text. Ends with 1 where
 * one of them lives: a hole in the invariants.
 */
import { execFile } from 'node:child_process';
import { appendFile, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { z } from 'zod';
import { MUTATIONS, type Mutation } from './mutations.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** What the simulation needs of the tree. */
const COPIED = [
  'package.json',
  'vitest.config.ts',
  'src',
  'functions',
  'schemas',
  'test/simulation',
  'test/functions/installation.ts',
  'test/reference',
  'test/mutations',
];
/** Longer than the simulation takes (ms). */
const TIME_LIMIT_MS = 1_800_000;
const MOST_OUTPUT_BYTES = 256 * 1024 * 1024;

const foundSchema = z.object({ by: z.string(), message: z.string() });
const reportSchema = z.object({
  testResults: z.array(
    z.object({
      message: z.string(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ),
});

/** What became of a mutant: who noticed it, and by which broken promise. */
type Verdict =
  | { readonly kind: 'caught'; readonly by: string; readonly message: string }
  | { readonly kind: 'alive' | 'stuck' };

const ALIVE: Verdict = { kind: 'alive' };

const { only, part, threads, record, worldsOnly } = new Command('npm run mutations --')
  .description('Breaks the core in named ways and shows that the simulation notices each.')
  .option('--only <texts...>', 'those whose name contains one of the texts', [''])
  .option('--part <n/of>', 'every so many of them, so that several machines share them', '1/1')
  .option('--threads <number>', 'how many are tried at the same time', Number, availableParallelism())
  .option('--worlds-only', 'leaves out the tests, which take far longer than the worlds and come after them')
  .option('--record <file>', 'a file that gets a line of JSON for each')
  .parse()
  .opts<{
    readonly only: readonly string[];
    readonly part: string;
    readonly threads: number;
    readonly record?: string;
    readonly worldsOnly?: true;
  }>();

const [place = 1, of = 1] = part.split('/').map(Number);
process.exitCode = await main(
  MUTATIONS.filter(({ name }, at) => only.some((text) => name.includes(text)) && at % of === place - 1),
);

async function main(mutations: readonly Mutation[]): Promise<number> {
  const outdated = await outdatedMutations(mutations);
  if (outdated.length > 0) return say(`the code has changed under these mutations:\n${outdated.join('\n')}`, 1);
  const left = [...mutations];
  const alive: string[] = [];
  const stuck: string[] = [];
  const work = async (isFirst: boolean) => {
    await inTree(async (tree) => {
      if (isFirst) await checkUntouched(tree);
      for (let next = left.shift(); next; next = left.shift()) {
        const verdict = await tryMutation(tree, next);
        if (verdict.kind === 'alive') alive.push(next.name);
        if (verdict.kind === 'stuck') stuck.push(next.name);
        await tell(next, verdict);
      }
    });
  };
  await Promise.all(Array.from({ length: Math.min(threads, mutations.length) }, (_, at) => work(at === 0)));
  const noticed = mutations.length - alive.length - stuck.length;
  const more = stuck.length > 0 ? `, and ${stuck.length} took too long to tell` : '';
  return say(`${noticed} of ${mutations.length} noticed${more}`, noticed < mutations.length ? 1 : 0);
}

async function inTree(work: (tree: string) => Promise<void>): Promise<void> {
  const tree = await mkdtemp(path.join(tmpdir(), 'millrace-mutations-'));
  try {
    for (const name of COPIED) await cp(path.join(ROOT, name), path.join(tree, name), { recursive: true });
    await symlink(path.join(ROOT, 'node_modules'), path.join(tree, 'node_modules'));
    await work(tree);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

/**
 * That the simulation finds something means nothing where it finds something without a mutation.
 * @throws where it does
 */
async function checkUntouched(tree: string): Promise<void> {
  const verdict = await playWorlds(tree, []);
  if (verdict.kind !== 'alive')
    throw new Error(`the simulation fails without any mutation: ${JSON.stringify(verdict)}`);
}

async function tell({ name }: Mutation, verdict: Verdict): Promise<void> {
  const how = verdict.kind === 'caught' ? `\n         ${verdict.by}: ${verdict.message}` : '';
  say(`${verdict.kind.padEnd(6)} ${name}${how}`, 0);
  if (record) await appendFile(record, `${JSON.stringify({ name, ...verdict })}\n`);
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

async function tryMutation(tree: string, mutation: Mutation): Promise<Verdict> {
  const file = path.join(tree, mutation.file);
  const original = await readFile(file, 'utf8');
  await writeFile(
    file,
    original.replace(mutation.from, () => mutation.to),
  );
  try {
    const { kinds = [], tests } = mutation;
    for (const step of [
      () => (tests ? runTests(tree, tests) : ALIVE),
      () => playWorlds(tree, kinds),
      () => (worldsOnly ? ALIVE : runTests(tree, [])),
    ]) {
      const verdict = await step();
      if (verdict.kind !== 'alive') return verdict;
    }
    return ALIVE;
  } finally {
    await writeFile(file, original);
  }
}

/** Plays random worlds and small scenarios: most mutants do not outlive the first hundred worlds. */
async function playWorlds(tree: string, kinds: readonly string[]): Promise<Verdict> {
  const { code, stdout } = await run(tree, ['test/mutations/play.ts', ...kinds]);
  if (code === 0) return { kind: 'alive' };
  if (code === undefined) return { kind: 'stuck' };
  const line = stdout.trim().split('\n').at(-1) ?? '';
  if (line === '') return { kind: 'caught', by: 'the process', message: `it ends with ${code}` };
  const { by, message } = foundSchema.parse(JSON.parse(line));
  return { kind: 'caught', by, message: firstLine(message) };
}

/** Runs tests of the simulation, all where none is named, up to their first failure. */
async function runTests(tree: string, files: readonly string[]): Promise<Verdict> {
  const results = path.join(tree, 'results.json');
  await rm(results, { force: true });
  const vitest = path.join(tree, 'node_modules/vitest/vitest.mjs');
  const args = ['run', '--project', 'simulation', '--bail', '1', '--reporter', 'json', '--outputFile', results];
  const { code } = await run(tree, [vitest, ...args, ...files.map((file) => `test/simulation/${file}`)]);
  if (code === 0) return { kind: 'alive' };
  if (code === undefined) return { kind: 'stuck' };
  const { testResults } = reportSchema.parse(JSON.parse(await readFile(results, 'utf8')));
  if (testResults.length === 0) throw new Error(`no test ran of ${files.join(', ') || 'the simulation'}`);
  for (const { message, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    // On a busy machine a test may take too long whatever the code says.
    if (failed?.failureMessages.some((text) => text.includes('timed out in'))) return { kind: 'stuck' };
    if (failed) return { kind: 'caught', by: failed.fullName, message: told(failed.failureMessages) };
    if (message !== '') return { kind: 'caught', by: 'a test file', message: firstLine(message) };
  }
  return { kind: 'caught', by: 'a test', message: 'vitest does not name it' };
}

/** Runs node in a tree; no code where it had to be killed. */
function run(
  tree: string,
  args: readonly string[],
): Promise<{ readonly code: number | undefined; readonly stdout: string }> {
  const options = { cwd: tree, timeout: TIME_LIMIT_MS, maxBuffer: MOST_OUTPUT_BYTES };
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], options, (error, stdout) => {
      const code = error ? error.code : 0;
      resolve({ code: typeof code === 'number' ? code : undefined, stdout });
    });
  });
}

/** What went wrong, in one line: the broken invariant where fast-check names one behind a counterexample. */
function told(messages: readonly string[]): string {
  const text = messages.join('\n');
  return firstLine(/InvariantError: (.*)/.exec(text)?.[1] ?? text);
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 160);
}
