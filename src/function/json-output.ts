/** Turns what a function returned into JSON text, and refuses what `JSON.stringify` would change or drop in silence. */
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { formatPath, type PathSegment } from '#domain/definition-path.ts';

/** A value that JSON cannot carry: retrying makes nothing better, so it is never retried. */
export class UnserializableOutput extends Error {
  override readonly name = 'Millrace.UnserializableOutput';
}

const MAX_INTEGER = 2 ** 53;
/** From here on, numbers are written with an exponent, which promises no last digit. */
const FIRST_EXPONENT = 1e21;

/**
 * The JSON text of an output; that of `undefined` is `null`, as with Lambda itself.
 * @throws UnserializableOutput naming the path of the first value that JSON cannot carry
 */
export function toJsonText(output: unknown): string {
  const walk: Walk = { open: [] };
  const text: string | undefined = JSON.stringify(output, function (this: unknown, key: string, value: unknown) {
    visit(walk, this as object, key, value);
    return value;
  });
  return text ?? 'null';
}

/** The objects and lists around the value that is being looked at, the outermost first, each with its key. */
interface Walk {
  readonly open: { readonly container: object; readonly key: PathSegment }[];
}

function visit({ open }: Walk, holder: object, name: string, value: unknown): void {
  while (open.length > 0 && open.at(-1)?.container !== holder) open.pop();
  const isRoot = open.length === 0;
  const key = Array.isArray(holder) ? Number(name) : name;
  const fault =
    (isRoot && value === undefined ? undefined : faultOf(holder, name, value)) ?? containerFault(open, value);
  if (fault !== undefined) throw new UnserializableOutput(describe(isRoot ? [] : [...pathOf(open), key], fault));
  if (typeof value === 'object' && value !== null) open.push({ container: value, key });
}

function faultOf(holder: object, name: string, value: unknown): string | undefined {
  if (!name.isWellFormed()) return 'has half of a surrogate pair in its key';
  switch (typeof value) {
    case 'undefined':
      return 'is undefined, which JSON has not: leave it out, or give null';
    case 'number':
      return numberFault(value);
    case 'string':
      return value.isWellFormed() ? undefined : 'holds half of a surrogate pair, which is no Unicode character';
    case 'bigint':
      return 'is a BigInt: give it as text';
    case 'function':
    case 'symbol':
      return `is a ${typeof value}`;
    case 'object':
      return value === null ? nullFault(holder, name) : objectFault(value);
    default:
      return undefined;
  }
}

function numberFault(value: number): string | undefined {
  if (!Number.isFinite(value)) return `is ${value}, which JSON has not`;
  const isTooLarge = Number.isInteger(value) && Math.abs(value) > MAX_INTEGER && Math.abs(value) < FIRST_EXPONENT;
  return isTooLarge ? `is ${value}, an integer beyond 2^53, which loses digits on its way: give it as text` : undefined;
}

/** A date that is none turns into null. */
function nullFault(holder: object, name: string): string | undefined {
  return Reflect.get(holder, name) === null ? undefined : 'is no valid date';
}

/** Of maps, sets, promises, errors and the like, `JSON.stringify` makes an empty object. */
function objectFault(value: object): string | undefined {
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return kind === 'Object' || kind === 'Array' ? undefined : `is a ${kind}, of which JSON keeps nothing`;
}

function containerFault(open: Walk['open'], value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (open.some(({ container }) => container === value)) return 'holds itself';
  const { nestingDepth } = DEFINITION_LIMITS;
  return open.length < nestingDepth ? undefined : `is nested more than ${nestingDepth} levels deep`;
}

function pathOf(open: Walk['open']): PathSegment[] {
  return open.slice(1).map(({ key }) => key);
}

function describe(path: readonly PathSegment[], fault: string): string {
  const where = path.length === 0 ? 'the output' : `${formatPath(path).toWellFormed()} in the output`;
  return `${where} ${fault}`;
}
