import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { Json } from '#domain/json.ts';
import { parseJsonStrict } from '#domain/json-text.ts';
import { CliError } from './cli-error.ts';
import { readTextFile } from './text-file.ts';

/** The parsers of option values. Each throws InvalidArgumentError with what would be right. */

/** A TCP port; 0 takes a free one. */
export function parsePort(text: string): number {
  const port = wholeNumber(text);
  if (port === undefined || port > 65_535) throw new InvalidArgumentError('A port is a whole number from 0 to 65535.');
  return port;
}

/** A seed of `--chaos`. */
export function parseSeed(text: string): number {
  const seed = wholeNumber(text);
  if (seed === undefined || seed > 0x7fff_ffff) {
    throw new InvalidArgumentError('A seed is a whole number from 0 to 2147483647.');
  }
  return seed;
}

/** A whole number within bounds. */
export function wholeNumberBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const found = wholeNumber(text);
    if (found !== undefined && found >= least && found <= most) return found;
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  };
}

/** A label: key and value with `=` between. */
export function parseLabel(text: string): string {
  if (text.indexOf('=') > 0) return text;
  throw new InvalidArgumentError('A label is KEY=VALUE, such as team=data.');
}

/** How many entries a list shows. */
export function parseLimit(text: string): number {
  const limit = wholeNumber(text);
  if (limit === undefined || limit < 1 || limit > 1000) {
    throw new InvalidArgumentError('A limit is a whole number from 1 to 1000.');
  }
  return limit;
}

/** A factor from 0 up. */
export function parseFactor(text: string): number {
  const factor = /^\d*\.?\d+(?:e-?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(factor)) throw new InvalidArgumentError('A factor is a number from 0 up, such as 0.001.');
  return factor;
}

const SECONDS_IN: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60 };
/** How often the tick of a development host comes unless told otherwise. */
export const DEFAULT_TICK = { seconds: 2, text: '2s' } as const;
const LEAST_TICK_SECONDS = 0.1;
const LONGEST_TICK_SECONDS = 3600;

/** The time from one tick to the next, in seconds. */
export function parseTick(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text);
  const seconds = match === null ? Number.NaN : Number(match[1]) * (SECONDS_IN[match[2] ?? ''] ?? Number.NaN);
  if (seconds >= LEAST_TICK_SECONDS && seconds <= LONGEST_TICK_SECONDS) return seconds;
  throw new InvalidArgumentError('A tick is a number with ms, s or m, from 100ms to 60m, such as 2s.');
}

/** Adds a value to those of an option that may come several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/**
 * Reads the value of an option that takes JSON, or `@FILE` with JSON in it.
 * @throws CliError `INVALID_INPUT` with line and column
 */
export async function readInput(value: string, cwd: string, option = '--input'): Promise<Json> {
  const name = value.startsWith('@') ? value.slice(1) : undefined;
  const text = name === undefined ? value : await inputFile(resolve(cwd, name), name, option);
  const parsed = parseJsonStrict(text);
  if (parsed.ok) return parsed.value;
  const where = name === undefined ? option : `${option} @${name}`;
  const what = parsed.errors
    .map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`)
    .join('; ');
  const next = `It takes JSON, such as ${option} '{"day": "2026-11-30"}', or @FILE.`;
  throw new CliError('INVALID_INPUT', `${where}: ${what}.`, { next });
}

/** More than the API takes. */
const MAX_INPUT_BYTES = 4 * 1024 * 1024;

async function inputFile(path: string, name: string, option: string): Promise<string> {
  const file = await readTextFile(path, MAX_INPUT_BYTES);
  if (file.ok) return file.text;
  throw new CliError('INVALID_INPUT', `${option} @${name}: ${file.message}.`);
}
