/**
 * What a function threw, as the run is to see it. Lambda takes an error's `name`, which a plain subclass does not set;
 * Step Functions keeps 32,768 characters of everything that Lambda tells of it.
 */

/** Longest message, in characters of its JSON text: the frames of the stack have to fit in beside it. */
const MAX_MESSAGE = 24 * 1024;
const MAX_NAME = 100;
const MAX_FRAMES = 20;
const MAX_LINE = 200;
const CUT_MARK = '… (cut)';

/** Makes the error to throw to Lambda: name, message and stack of what was thrown, each of a length that arrives whole. */
export function toToldError(thrown: unknown): Error {
  const told = new Error(cutMessage(messageOf(thrown).toWellFormed()), { cause: thrown });
  told.name = cut(nameOf(thrown).toWellFormed(), MAX_NAME) || 'Error';
  told.stack = [cut(`${told.name}: ${told.message}`, MAX_LINE), ...framesOf(thrown)].join('\n');
  return told;
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return String(thrown.message);
  const { message } = Object(thrown) as { message?: unknown };
  if (typeof message === 'string') return message;
  try {
    return String(thrown);
  } catch {
    return typeof thrown;
  }
}

/** The name that the error was given, or else that of its class: `BadInput` for `class BadInput extends Error {}`. */
function nameOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return 'Error';
  const { name } = thrown as { name?: unknown };
  const given = typeof name === 'string' ? name : 'Error';
  const prototype: unknown = Object.getPrototypeOf(thrown);
  const isGiven = [thrown, prototype].some((each) => Object.hasOwn(Object(each), 'name'));
  return isGiven || !(thrown instanceof Error) ? given : thrown.constructor.name || given;
}

function framesOf(thrown: unknown): string[] {
  const { stack } = Object(thrown) as { stack?: unknown };
  if (typeof stack !== 'string') return [];
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames.slice(0, MAX_FRAMES).map((line) => cut(line, MAX_LINE));
}

function cutMessage(message: string): string {
  let end = message.length;
  for (let text = message; ; text = cut(message, end)) {
    const length = JSON.stringify(text).length;
    if (length <= MAX_MESSAGE) return text;
    end = Math.floor(Math.min(end, message.length) * (MAX_MESSAGE / length)) - CUT_MARK.length;
  }
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - CUT_MARK.length).toWellFormed()}${CUT_MARK}`;
}
