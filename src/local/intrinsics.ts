import { HostError } from '#local/host-error.ts';

/** What intrinsic functions look up. */
export type ReferenceScope = {
  /** The value of `Ref`, for a resource, a parameter or a pseudo parameter. */
  ref(name: string): unknown;
  /** The value of `Fn::GetAtt`. */
  attribute(logicalId: string, attribute: string): unknown;
  /** Whether a condition of the template holds. */
  condition(name: string): boolean;
};

/** What `AWS::NoValue` refers to: the property that holds it is left out. */
export const noValue: unique symbol = Symbol('AWS::NoValue');

type Intrinsic = (argument: unknown, scope: ReferenceScope) => unknown;

const intrinsics: ReadonlyMap<string, Intrinsic> = new Map<string, Intrinsic>([
  ['Ref', (name, scope) => scope.ref(text(name, 'Ref'))],
  ['Fn::GetAtt', getAtt],
  ['Fn::Join', join],
  ['Fn::Sub', substitute],
  ['Fn::Select', select],
  ['Fn::Split', split],
  ['Fn::If', choose],
  ['Fn::Base64', (value, scope) => Buffer.from(text(resolveValue(value, scope), 'Fn::Base64')).toString('base64')],
  ['Fn::Equals', (pair, scope) => equals(list(pair, 'Fn::Equals', 2), scope)],
  ['Fn::And', (all, scope) => list(all, 'Fn::And').every((each) => resolveValue(each, scope) === true)],
  ['Fn::Or', (some, scope) => list(some, 'Fn::Or').some((each) => resolveValue(each, scope) === true)],
  ['Fn::Not', (one, scope) => resolveValue(list(one, 'Fn::Not', 1)[0], scope) !== true],
]);

/**
 * A value of a template with its intrinsic functions replaced by what they stand for.
 * @throws {HostError} `UNSUPPORTED_INTRINSIC`, naming the function
 */
export function resolveValue(value: unknown, scope: ReferenceScope): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveValue(item, scope)).filter((item) => item !== noValue);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [name, argument] = entries[0] ?? ['', undefined];
  if (entries.length === 1 && isIntrinsicName(name)) {
    const intrinsic = intrinsics.get(name);
    if (intrinsic === undefined) {
      throw new HostError('UNSUPPORTED_INTRINSIC', `the development host does not resolve ${name}`);
    }
    return intrinsic(argument, scope);
  }
  const resolved = entries.map(([key, item]) => [key, resolveValue(item, scope)] as const);
  return Object.fromEntries(resolved.filter(([, item]) => item !== noValue));
}

function isIntrinsicName(name: string): boolean {
  return name === 'Ref' || name.startsWith('Fn::');
}

/** Whether a condition of a template's `Conditions` section holds. */
export function resolveCondition(value: unknown, scope: ReferenceScope): boolean {
  return resolveValue(withConditionReferences(value), scope) === true;
}

/** In the `Conditions` section `{"Condition": "Name"}` is a reference; in properties it is an ordinary key, of a policy statement say. */
function withConditionReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withConditionReferences);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [name, argument] = entries[0] ?? ['', undefined];
  if (entries.length === 1 && name === 'Condition') return { 'Fn::If': [argument, true, false] };
  return Object.fromEntries(entries.map(([key, item]) => [key, withConditionReferences(item)]));
}

function getAtt(argument: unknown, scope: ReferenceScope): unknown {
  const path = Array.isArray(argument) ? argument : text(argument, 'Fn::GetAtt').split('.');
  const [logicalId, ...attribute] = path.map((part) => text(resolveValue(part, scope), 'Fn::GetAtt'));
  return scope.attribute(text(logicalId, 'Fn::GetAtt'), attribute.join('.'));
}

function join(argument: unknown, scope: ReferenceScope): string {
  const [separator, values] = list(argument, 'Fn::Join', 2);
  const parts = list(resolveValue(values, scope), 'Fn::Join');
  return parts.map((part) => text(part, 'Fn::Join')).join(text(separator, 'Fn::Join'));
}

function substitute(argument: unknown, scope: ReferenceScope): string {
  const [template, given] = Array.isArray(argument) ? argument : [argument, {}];
  const names = new Map(Object.entries(resolveValue(given, scope) as Record<string, unknown>));
  return text(template, 'Fn::Sub').replaceAll(/\$\{([^}]*)\}/g, (_, name: string) => {
    if (name.startsWith('!')) return `\${${name.slice(1)}}`;
    if (names.has(name)) return text(names.get(name), 'Fn::Sub');
    const dot = name.indexOf('.');
    const value = dot < 0 ? scope.ref(name) : scope.attribute(name.slice(0, dot), name.slice(dot + 1));
    return text(value, 'Fn::Sub');
  });
}

function select(argument: unknown, scope: ReferenceScope): unknown {
  const [index, values] = list(argument, 'Fn::Select', 2);
  const items = list(resolveValue(values, scope), 'Fn::Select');
  const at = Number(resolveValue(index, scope));
  if (!(at in items)) throw invalid('Fn::Select', `has no element ${at}`);
  return items[at];
}

function split(argument: unknown, scope: ReferenceScope): string[] {
  const [separator, value] = list(argument, 'Fn::Split', 2);
  return text(resolveValue(value, scope), 'Fn::Split').split(text(separator, 'Fn::Split'));
}

function choose(argument: unknown, scope: ReferenceScope): unknown {
  const [name, yes, no] = list(argument, 'Fn::If', 3);
  return resolveValue(scope.condition(text(name, 'Fn::If')) ? yes : no, scope);
}

function equals(pair: readonly unknown[], scope: ReferenceScope): boolean {
  const [left, right] = pair.map((side) => JSON.stringify(resolveValue(side, scope)));
  return left === right;
}

function list(value: unknown, where: string, length?: number): readonly unknown[] {
  if (!Array.isArray(value) || (length !== undefined && value.length !== length)) {
    throw invalid(where, length === undefined ? 'needs a list' : `needs a list of ${length}`);
  }
  return value;
}

function text(value: unknown, where: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw invalid(where, `needs text, not ${JSON.stringify(value) ?? typeof value}`);
}

function invalid(where: string, what: string): HostError {
  return new HostError('TEMPLATE_INVALID', `${where} ${what}`);
}
