/** Names of users in sentences: in double quotes, cut where they are long, counted where they are many. */
import type { ErrorInfo } from './run.ts';

const LONGEST_NAME = 200;
const LONGEST_MESSAGE = 300;
const NAMED = 3;

/** A name in double quotes. */
export function inQuotes(name: string): string {
  return JSON.stringify(name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME).toWellFormed()}…`);
}

/** A list of names: `"a", "b", "c" and 7 more`. */
export function listInWords(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).map(inQuotes);
  if (names.length > NAMED) return `${shown.join(', ')} and ${names.length - NAMED} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** A number and its noun: `1 node`, `2 nodes`. */
export function countInWords(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

/** An error in a sentence: its name and its message, cut where that is long. */
export function errorInWords({ name, message }: ErrorInfo): string {
  const text = message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE).toWellFormed()}…`;
  return text === '' ? name : `${name}: ${text}`;
}
