/**
 * JSONata's functions as expressions may call them: time and chance are fixed, `$eval` is switched off, and functions
 * that could ask for any amount of memory in one native call ask for no more than the limits.
 */
import jsonata from 'jsonata';
import type { ExpressionLimits } from './expression-limits.ts';
import { type FixedSources, SOURCES_VARIABLE } from './expression-variables.ts';

type Implementation = (this: jsonata.Focus, ...args: never[]) => unknown;

/** A function as JSONata keeps it. Where it was last called from is written into it, and read for messages of errors. */
export interface FunctionRecord {
  readonly implementation: Implementation;
  position?: number | undefined;
  token?: string | undefined;
}

/** All functions that an expression may call, by name without `$`. */
export interface SandboxFunctions {
  /** Names of the functions that stand in for JSONata's own. */
  readonly replaced: readonly string[];
  find(name: string): FunctionRecord | undefined;
}

/** Makes the functions for expressions under these limits. */
export async function createSandboxFunctions(limits: ExpressionLimits): Promise<SandboxFunctions> {
  // JSONata's functions can only be had from an environment, and that only by a function that is called in it.
  let environment: jsonata.Environment | undefined;
  const probe = jsonata('$probe()');
  probe.registerFunction('probe', function () {
    environment = this.environment;
  });
  await probe.evaluate(undefined);
  const find = (name: string): FunctionRecord | undefined => {
    const found = environment?.lookup(name);
    return typeof found === 'object' && found !== null ? found : undefined;
  };
  const replacements = [...fixedFunctions(find), ...boundedFunctions(find, limits)];
  for (const [name, signature, implementation] of replacements) {
    probe.registerFunction(name, implementation as Implementation as (...args: unknown[]) => unknown, signature);
  }
  return { replaced: replacements.map(([name]) => name), find };
}

type Find = SandboxFunctions['find'];
type Replacement = readonly [name: string, signature: string, implementation: Implementation];

/** The function that JSONata itself has under a name, taken before it is replaced. */
function original(find: Find, name: string) {
  const implementation = find(name)?.implementation;
  if (!implementation) throw new Error(`this version of jsonata has no function $${name}`);
  return implementation as (this: unknown, ...args: unknown[]) => unknown;
}

function sourcesOf(focus: jsonata.Focus): FixedSources {
  return focus.environment.lookup(SOURCES_VARIABLE);
}

/** A time of day without an offset would be read in the zone of the machine. */
const WITHOUT_OFFSET = /T[\d:.]+$/;

function fixedFunctions(find: Find): Replacement[] {
  const toMillis = original(find, 'toMillis');
  const fromMillis = original(find, 'fromMillis');
  return [
    ['millis', '<:n>', millis],
    ['random', '<:n>', random],
    ['shuffle', '<a:a>', shuffle],
    ['eval', '<sx?:x>', refuseEval],
    [
      'now',
      '<s?s?:s>',
      function (picture?: string, timezone?: string) {
        return fromMillis.call(this, sourcesOf(this).now, boundedPicture(picture), timezone);
      },
    ],
    [
      'fromMillis',
      '<n-s?s?:s>',
      function (millis?: number, picture?: string, timezone?: string) {
        return fromMillis.call(this, millis, boundedPicture(picture), timezone);
      },
    ],
    [
      'toMillis',
      '<s-s?:n>',
      function (text?: string, picture?: string) {
        // Parts of a date that the picture leaves out are those of the environment's time.
        const environment = { timestamp: new Date(sourcesOf(this).now) };
        const zoned = picture === undefined && text !== undefined && WITHOUT_OFFSET.test(text) ? `${text}Z` : text;
        return toMillis.call({ environment }, zoned, boundedPicture(picture));
      },
    ],
  ];
}

function millis(this: jsonata.Focus) {
  return sourcesOf(this).now;
}

function random(this: jsonata.Focus) {
  return sourcesOf(this).random();
}

function shuffle(this: jsonata.Focus, list?: readonly unknown[]) {
  if (list === undefined) return undefined;
  const { random: draw } = sourcesOf(this);
  const shuffled = [...list];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const chosen = Math.floor(draw() * (last + 1));
    [shuffled[last], shuffled[chosen]] = [shuffled[chosen], shuffled[last]];
  }
  return shuffled;
}

function refuseEval(): never {
  throw new Error('$eval is not available');
}

/** A width modifier of four digits or more: `[Y,1000000000]` would be padded to that many characters. */
const WIDE_FIELD = /\[[^\]]*,[^\]]*\d{4}/;

function boundedPicture(picture: string | undefined): string | undefined {
  if (picture !== undefined && WIDE_FIELD.test(picture)) throw new Error('a field of a picture is at most 999 wide');
  return picture;
}

function boundedFunctions(find: Find, { textLength }: ExpressionLimits): Replacement[] {
  const pad = original(find, 'pad');
  const join = original(find, 'join');
  const refuseLonger = (length: number) => {
    if (length > textLength)
      throw new Error(`it makes a text of ${length} characters; at most ${textLength} are possible`);
  };
  return [
    [
      'pad',
      '<s-ns?:s>',
      function (text?: string, width = 0, char?: string) {
        refuseLonger(Math.abs(width) * Math.max(1, char?.length ?? 1));
        return pad.call(this, text, width, char);
      },
    ],
    [
      'join',
      '<a<s>s?:s>',
      function (texts?: readonly string[], separator = '') {
        if (texts === undefined) return undefined;
        refuseLonger(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
        return join.call(this, texts, separator);
      },
    ],
  ];
}
