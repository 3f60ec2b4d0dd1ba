/** A part of a rule's target that cannot be used. */
export class InputTransformerError extends Error {
  override readonly name = 'InputTransformerError';
  readonly code = 'UNSUPPORTED_TARGET';
}

/** How a rule's target changes what it is given: at most one of these. */
export type TargetInput = {
  /** JSON text that is given instead of the event. */
  readonly Input?: string | undefined;
  /** The part of the event that is given. */
  readonly InputPath?: string | undefined;
  readonly InputTransformer?:
    | {
        readonly InputPathsMap?: Readonly<Record<string, string>> | undefined;
        readonly InputTemplate: string;
      }
    | undefined;
};

/** What a template may name besides the rule's own paths. */
export type RuleIdentity = { readonly ruleArn: string; readonly ruleName: string };

/** An event and the text that it came as. */
type EventText = { readonly event: Readonly<Record<string, unknown>>; readonly text: string };

/** Makes the text that a target is given of an event. */
export type InputMaker = (event: EventText) => string;

/**
 * Compiles what a target is given: the event as it is, a constant, a part, or a filled-in template.
 * @throws {InputTransformerError} for a path or a placeholder that cannot be resolved
 */
export function compileTargetInput(target: TargetInput, identity: RuleIdentity): InputMaker {
  const { Input, InputPath, InputTransformer } = target;
  const given = [Input, InputPath, InputTransformer].filter((part) => part !== undefined);
  if (given.length > 1) throw new InputTransformerError('Input, InputPath and InputTransformer exclude each other');
  if (Input !== undefined) return () => Input;
  if (InputPath !== undefined) {
    const read = compilePath(InputPath);
    return ({ event }) => JSON.stringify(read(event) ?? null);
  }
  if (InputTransformer !== undefined) return compileTransformer(InputTransformer, identity);
  return ({ text }) => text;
}

type PathReader = (event: Readonly<Record<string, unknown>>) => unknown;
const STEP = /\.([\w/-]+)|\[(\d+)\]|\['([^']+)'\]/y;

/** A path of the kind that EventBridge takes: `$.detail.items[0]`. Undefined where the event has nothing there. */
function compilePath(path: string): PathReader {
  const steps: string[] = [];
  STEP.lastIndex = 1;
  while (path.startsWith('$') && STEP.lastIndex < path.length) {
    const at = STEP.lastIndex;
    const match = STEP.exec(path);
    if (match === null) throw new InputTransformerError(`The path ${path} is not understood at character ${at + 1}`);
    steps.push(match[1] ?? match[2] ?? match[3] ?? '');
  }
  if (!path.startsWith('$')) throw new InputTransformerError(`The path ${path} does not begin with $`);
  return (event) => steps.reduce<unknown>(childOf, event);
}

function childOf(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Record<string, unknown>)[step];
}

/** A placeholder's JSON text, or undefined if the event has nothing for it. */
type Variable = (event: EventText) => string | undefined;

function reservedVariables({ ruleArn, ruleName }: RuleIdentity): [string, Variable][] {
  return [
    ['aws.events.rule-arn', () => JSON.stringify(ruleArn)],
    ['aws.events.rule-name', () => JSON.stringify(ruleName)],
    ['aws.events.event.ingestion-time', ({ event: { time } }) => JSON.stringify(time)],
    ['aws.events.event.json', ({ text }) => text],
    [
      'aws.events.event',
      ({ event }) => {
        const { detail: _, ...rest } = event;
        return JSON.stringify(rest);
      },
    ],
  ];
}

const PLACEHOLDER = /<([\w.-]+)>/g;

function compileTransformer(
  transformer: NonNullable<TargetInput['InputTransformer']>,
  identity: RuleIdentity,
): InputMaker {
  const variables = new Map<string, Variable>(reservedVariables(identity));
  for (const [name, path] of Object.entries(transformer.InputPathsMap ?? {})) {
    if (/^aws/i.test(name))
      throw new InputTransformerError(`The variable ${name} begins with "aws", which is reserved`);
    const read = compilePath(path);
    variables.set(name, ({ event }) => JSON.stringify(read(event)));
  }
  const parts = partsOf(transformer.InputTemplate, variables);
  return (event) => parts.map((part) => (typeof part === 'string' ? part : part(event))).join('');
}

/** The template cut into constant text and placeholders, each filled in by where it stands. */
function partsOf(template: string, variables: ReadonlyMap<string, Variable>): (string | InputMaker)[] {
  const isJson = /^\s*([{[]|<[^<>]*>\s*$)/.test(template);
  const parts: (string | InputMaker)[] = [];
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const variable = variables.get(match[1] ?? '');
    if (variable === undefined) throw new InputTransformerError(`The template has no variable for ${match[0]}`);
    const before = template.slice(0, match.index);
    const fill = isInsideText(before) ? insideText : isJson ? asJson : asPlainText;
    parts.push(template.slice(end, match.index), (event) => fill(variable(event)));
    end = match.index + match[0].length;
  }
  return [...parts, template.slice(end)];
}

/** Whether a JSON text that begins like this is in the middle of a string. */
function isInsideText(beginning: string): boolean {
  return (beginning.replace(/\\./g, '').split('"').length - 1) % 2 === 1;
}

/** A value in the place of a JSON value; an empty text if the event has nothing for it. */
function asJson(json: string | undefined): string {
  return json ?? '""';
}

/** A value within quotes: text as it is, still escaped; anything else as JSON whose quotes are escaped. */
function insideText(json: string | undefined): string {
  if (json === undefined) return '';
  return json.startsWith('"') ? json.slice(1, -1) : JSON.stringify(json).slice(1, -1);
}

/** A value in a template that is no JSON at all. */
function asPlainText(json: string | undefined): string {
  if (json === undefined) return '';
  return json.startsWith('"') ? String(JSON.parse(json)) : json;
}
