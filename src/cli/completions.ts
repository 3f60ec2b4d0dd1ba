/** What may come next on a command line. */
import type { Argument, Command, Option } from 'commander';

/** A word that may come next. */
export interface Candidate {
  readonly word: string;
  /** What it is. */
  readonly meaning: string;
}

/** Things of a server that a word may name. */
export type NamedThing = 'runs' | 'pipelines' | 'engines' | 'pools' | 'nodes';

/** What may come next. */
export interface Completions {
  readonly candidates: readonly Candidate[];
  /** What else may: paths, names that a server knows, or nothing. */
  readonly kind: 'files' | 'folders' | 'nothing' | NamedThing;
  /** The values of arguments and of `--url` before it, where a server is to be asked. */
  readonly given: { readonly positionals: readonly string[]; readonly url: string | undefined };
}

/** What of `engines NAME` is left out. */
const DEFAULT_SUBCOMMAND = 'show';

/**
 * Says what may come next.
 * @param words those after `millrace`; the last one is being written, and may be empty
 */
export function completionsOf(program: Command, words: readonly string[]): Completions {
  const current = words.at(-1) ?? '';
  const { command, positionals, url, waiting } = readWords(program, words.slice(0, -1));
  const found = { given: { positionals, url } };
  if (waiting !== undefined) return { ...found, ...valuesOf(waiting, command, current) };
  if (current.startsWith('-')) {
    return { ...found, candidates: startingWith(current, optionCandidates(command)), kind: 'nothing' };
  }
  const subcommands = positionals.length === 0 ? commandCandidates(command) : [];
  const argument = argumentAt(targetOf(command), positionals.length);
  const rest = argument === undefined ? NOTHING : valuesOf(argument, command, current);
  return { ...found, candidates: [...startingWith(current, subcommands), ...rest.candidates], kind: rest.kind };
}

const NOTHING = { candidates: [], kind: 'nothing' } as const;

/** Where a command line has come to. */
interface Place {
  readonly command: Command;
  readonly positionals: readonly string[];
  readonly url: string | undefined;
  /** The option that is still without its value. */
  readonly waiting: Option | undefined;
}

function readWords(program: Command, words: readonly string[]): Place {
  let command = program;
  let positionals: string[] = [];
  let url: string | undefined;
  let waiting: Option | undefined;
  for (const word of words) {
    if (waiting !== undefined) {
      if (waiting.long === '--url') url = word;
      waiting = undefined;
    } else if (word.startsWith('-')) {
      waiting = optionOf(targetOf(command), word);
    } else {
      const subcommand = positionals.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      command = subcommand ?? command;
      positionals = subcommand ? [] : [...positionals, word];
    }
  }
  return { command, positionals, url, waiting };
}

/** The option of a word, where it takes a value that is still to come. */
function optionOf(command: Command, word: string): Option | undefined {
  const option = command.options.find(({ short, long }) => word === short || word === long);
  return option?.required || option?.optional ? option : undefined;
}

/** The command whose options and arguments count where no subcommand is named. */
function targetOf(command: Command): Command {
  return command.commands.find((one) => one.name() === DEFAULT_SUBCOMMAND) ?? command;
}

function argumentAt({ registeredArguments }: Command, place: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[place] ?? (last?.variadic ? last : undefined);
}

function commandCandidates(command: Command): Candidate[] {
  const shown = command.createHelp().visibleCommands(command);
  return shown.map((one) => ({ word: one.name(), meaning: one.summary() || one.description() }));
}

function optionCandidates(command: Command): Candidate[] {
  const target = targetOf(command);
  const shown = target.createHelp().visibleOptions(target);
  return shown.map(({ long, short, description }) => ({ word: long ?? short ?? '', meaning: description }));
}

function valuesOf(
  what: Option | Argument,
  command: Command,
  current: string,
): Pick<Completions, 'candidates' | 'kind'> {
  if (what.argChoices) {
    const candidates = what.argChoices.map((word) => ({ word, meaning: '' }));
    return { candidates: startingWith(current, candidates), kind: 'nothing' };
  }
  return { candidates: [], kind: kindOf(what, command) };
}

/** By what the help calls them. */
const KINDS: ReadonlyMap<string, Completions['kind']> = new Map([
  ['file', 'files'],
  ['file|name', 'files'],
  ['dir', 'folders'],
  ['run', 'runs'],
  ['node', 'nodes'],
]);

/** What NAME names, by the command. */
const NAMED: ReadonlyMap<string, NamedThing> = new Map([
  ['pipelines', 'pipelines'],
  ['backfill', 'pipelines'],
  ['runs', 'pipelines'],
  ['engines', 'engines'],
  ['pools', 'pools'],
]);

function kindOf(what: Option | Argument, command: Command): Completions['kind'] {
  const name = 'flags' in what ? (/[<[](.+?)[\]>]/.exec(what.flags)?.[1] ?? '') : what.name();
  if (name !== 'name') return KINDS.get(name) ?? 'nothing';
  const ofParent = command.parent === null ? undefined : NAMED.get(command.parent.name());
  return NAMED.get(command.name()) ?? ofParent ?? 'nothing';
}

function startingWith(start: string, candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(start));
}
