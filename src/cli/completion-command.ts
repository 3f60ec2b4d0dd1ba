import { Argument, type Command } from 'commander';
import { createClient } from '#client/index.ts';
import { addCommand } from './command-line.ts';
import { COMPLETION_SCRIPTS } from './completion-scripts.ts';
import { type Candidate, type Completions, completionsOf, type NamedThing } from './completions.ts';
import { credentialsFor } from './connect.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { oneLine } from './one-line.ts';
import { serverUrl } from './server-url.ts';

/** Adds `millrace completion`, and `millrace complete`, which shells ask. */
export function addCompletionCommand(program: Command, context: CliContext): void {
  addCommand(program, 'completion')
    .summary('print what completes commands in a shell')
    .description(
      'Prints a script that lets a shell complete commands, options, files, and names that the server knows.',
    )
    .addArgument(new Argument('<shell>', 'the shell that is to read it').choices(Object.keys(COMPLETION_SCRIPTS)))
    .addHelpText(
      'after',
      `
Examples:
  millrace completion bash > ~/.local/share/bash-completion/completions/millrace
  millrace completion zsh > ~/.zfunc/_millrace        with ~/.zfunc in fpath
  millrace completion fish > ~/.config/fish/completions/millrace.fish
  source <(millrace completion bash)                  for this shell alone`,
    )
    .action((shell: keyof typeof COMPLETION_SCRIPTS) => {
      context.output.line(COMPLETION_SCRIPTS[shell]);
      context.exit(EXIT.ok);
    });
  addCommand(program, 'complete [words...]', { hidden: true })
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      for (const line of await answerTo(program, words, context)) context.output.line(line);
      context.exit(EXIT.ok);
    });
}

async function answerTo(program: Command, words: readonly string[], context: CliContext): Promise<string[]> {
  const completions = completionsOf(program, words);
  const { candidates, kind } = completions;
  const isPath = kind === 'files' || kind === 'folders';
  const known = isPath || kind === 'nothing' ? [] : await askServer(kind, completions, context);
  const current = words.at(-1) ?? '';
  const all = [...candidates, ...known.filter(({ word }) => word.startsWith(current))];
  return [...all.map(({ word, meaning }) => `${word}\t${oneLine(meaning, 80)}`), `:${isPath ? kind : 'nothing'}`];
}

/** Who waits for a word to be completed does not wait long (ms). */
const PATIENCE_MS = 1000;
/** As many of a list are offered. */
const OFFERED = 50;

/** Names that the server knows; none where it does not answer. */
async function askServer(thing: NamedThing, { given }: Completions, { env }: CliContext): Promise<Candidate[]> {
  try {
    const url = serverUrl(given.url, env);
    const client = createClient({ url, retries: false, timeoutMs: PATIENCE_MS, ...credentialsFor(url, env) });
    return await OFFERS[thing](client, given.positionals);
  } catch {
    return [];
  }
}

type Client = ReturnType<typeof createClient>;

const OFFERS: Readonly<Record<NamedThing, (client: Client, given: readonly string[]) => Promise<Candidate[]>>> = {
  async runs(client) {
    const { items } = await client.runs.list({ limit: OFFERED }).page();
    return items.map(({ id, pipeline, state }) => ({ word: id, meaning: `${pipeline}, ${state}` }));
  },
  async nodes(client, [run = '']) {
    const { items } = await client.nodes.list(run, { limit: OFFERED }).page();
    return items.map(({ id, state }) => ({ word: id, meaning: state }));
  },
  async pipelines(client) {
    const { items } = await client.pipelines.list({ limit: OFFERED }).page();
    return items.map(({ name, paused }) => ({ word: name, meaning: paused ? 'paused' : '' }));
  },
  async engines(client) {
    const { items } = await client.engines.list({ limit: OFFERED }).page();
    return items.map(({ name, status }) => ({ word: name, meaning: status }));
  },
  async pools(client) {
    const { items } = await client.pools.list({ limit: OFFERED }).page();
    return items.map(({ name, slots }) => ({ word: name, meaning: `${slots} slots` }));
  },
};
