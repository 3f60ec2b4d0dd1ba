import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import { evaluateIntrinsic, type IntrinsicCall, parseIntrinsic, pathsOf } from '#local/asl-intrinsics.ts';

/**
 * Prepares a state machine's definition for aws-local-stepfunctions, which knows the language and not the services: each
 * task is rewritten so that its handler gets what the host needs, and what the package cannot do is refused by name.
 *
 * The package resolves `TimeoutSecondsPath` against a task's parameters instead of its input, takes 60 s where no time limit
 * is given, and fires at once above 2^31 ms. So parameters and time limit are put side by side into one object, and no limit is longer than
 * {@link longestTimerSeconds} (24 days; a host does not live that long, and it runs its executions again when it starts).
 */

/** What the handler of a task must know. */
export type PreparedTask = {
  /** Function of a task whose resource is a function's ARN; missing for `lambda:invoke`. */
  readonly functionArn?: string;
  /** Whether the package reads the time limit from `timeoutSeconds` of what it hands over, after it has called the handler. */
  readonly readsTimeLimit: boolean;
  /** Takes the task's arguments out of what the package hands over. */
  open(input: unknown): unknown;
};

/** A definition in the form that the package runs. */
export type PreparedDefinition = {
  readonly definition: StateMachineDefinition;
  /** Tasks by state name, those inside maps and parallel states included. */
  readonly tasks: ReadonlyMap<string, PreparedTask>;
};

/** Something in a definition that the host cannot run. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
}

/** The longest time of a timer of Node.js, in whole seconds. */
export const longestTimerSeconds = 2_147_483;

type State = Readonly<Record<string, unknown>>;
type Machine = { readonly StartAt: string; readonly States: Readonly<Record<string, State>> } & State;

const lambdaInvoke = 'arn:aws:states:::lambda:invoke';
const refusedFields = [
  ...['HeartbeatSeconds', 'HeartbeatSecondsPath', 'Credentials', 'Assign', 'Arguments', 'Output'],
  ...['ItemReader', 'ItemBatcher', 'ResultWriter'],
];

/**
 * Prepares a definition that has been found to be valid.
 * @throws {DefinitionError} naming the state and the field
 */
export function prepareDefinition(machine: unknown): PreparedDefinition {
  const tasks = new Map<string, PreparedTask>();
  const definition = prepareMachine(machine as Machine, tasks);
  return { definition: definition as unknown as StateMachineDefinition, tasks };
}

function prepareMachine(machine: Machine, tasks: Map<string, PreparedTask>): Machine {
  refuseJsonata(machine, 'the state machine');
  const states = Object.entries(machine.States).map(([name, state]) => [name, prepareState(name, state, tasks)]);
  const { TimeoutSeconds } = machine;
  const timeout = typeof TimeoutSeconds === 'number' ? { TimeoutSeconds: clamp(TimeoutSeconds) } : {};
  return { ...machine, ...timeout, States: Object.fromEntries(states) };
}

function prepareState(name: string, state: State, tasks: Map<string, PreparedTask>): State {
  refuseJsonata(state, `state "${name}"`);
  const refused = refusedFields.find((field) => Object.hasOwn(state, field));
  if (refused !== undefined)
    throw new DefinitionError(`state "${name}" has ${refused}, which the development host does not run`);
  const { Type, Branches, Iterator, ItemProcessor, Seconds } = state;
  switch (Type) {
    case 'Task':
      return prepareTask(name, state, tasks);
    case 'Parallel':
      return { ...state, Branches: (Branches as Machine[]).map((branch) => prepareMachine(branch, tasks)) };
    case 'Map': {
      const inner = (ItemProcessor ?? Iterator) as Machine;
      return { ...state, [ItemProcessor === undefined ? 'Iterator' : 'ItemProcessor']: prepareMachine(inner, tasks) };
    }
    case 'Wait':
      return typeof Seconds === 'number' ? { ...state, Seconds: clamp(Seconds) } : state;
    default:
      return state;
  }
}

function refuseJsonata({ QueryLanguage }: State, what: string): void {
  if (QueryLanguage === undefined || QueryLanguage === 'JSONPath') return;
  throw new DefinitionError(
    `${what} has the query language ${String(QueryLanguage)}; the development host runs JSONPath`,
  );
}

function prepareTask(name: string, state: State, tasks: Map<string, PreparedTask>): State {
  const { Resource, Parameters, TimeoutSeconds, TimeoutSecondsPath, ...rest } = state;
  const resource = String(Resource);
  const isFunctionArn = /^arn:aws:lambda:[^:]*:[^:]*:function:/.test(resource);
  if (!isFunctionArn && resource !== lambdaInvoke) {
    throw new DefinitionError(
      `state "${name}" has the resource ${resource}; the development host runs ${lambdaInvoke} and function ARNs`,
    );
  }
  const target = isFunctionArn ? { functionArn: resource } : {};
  const limit = { TimeoutSeconds: typeof TimeoutSeconds === 'number' ? clamp(TimeoutSeconds) : longestTimerSeconds };
  if (Parameters === undefined && TimeoutSecondsPath === undefined) {
    tasks.set(name, { ...target, readsTimeLimit: false, open: (input) => input });
    return { ...rest, Resource, ...limit };
  }
  const calls: LocatedCall[] = [];
  const template = Parameters === undefined ? { 'argument.$': '$' } : { argument: withoutCalls(Parameters, [], calls) };
  const readsTimeLimit = TimeoutSecondsPath !== undefined;
  tasks.set(name, { ...target, readsTimeLimit, open: (input) => openWrapped(input, calls) });
  if (!readsTimeLimit) return { ...rest, Resource, Parameters: template, ...limit };
  return {
    ...rest,
    Resource,
    Parameters: { ...template, 'timeoutSeconds.$': TimeoutSecondsPath },
    TimeoutSecondsPath: '$.timeoutSeconds',
  };
}

/** A call of an intrinsic function and its place in a task's parameters, where the values of its paths stand. */
type LocatedCall = { readonly place: readonly (string | number)[]; readonly call: IntrinsicCall };

/** A payload template in which calls that the host evaluates are replaced by the values of their paths. */
function withoutCalls(template: unknown, place: readonly (string | number)[], calls: LocatedCall[]): unknown {
  if (Array.isArray(template)) return template.map((item, index) => withoutCalls(item, [...place, index], calls));
  if (typeof template !== 'object' || template === null) return template;
  const entries = Object.entries(template).map(([key, value]): [string, unknown] => {
    const call = key.endsWith('.$') && typeof value === 'string' ? parseIntrinsic(value) : undefined;
    if (call === undefined) return [key, withoutCalls(value, [...place, key], calls)];
    const bareKey = key.slice(0, -2);
    calls.push({ place: [...place, bareKey], call });
    return [bareKey, pathsOf(call).map((path) => ({ 'value.$': path }))];
  });
  return Object.fromEntries(entries);
}

function openWrapped(input: unknown, calls: readonly LocatedCall[]): unknown {
  const { argument } = input as { argument: unknown };
  for (const { place, call } of calls) replaceByResult(argument, place, call);
  return argument;
}

function replaceByResult(root: unknown, place: readonly (string | number)[], call: IntrinsicCall): void {
  const parent = place.slice(0, -1).reduce((value, key) => Reflect.get(value as object, key), root) as object;
  const key = place.at(-1) ?? '';
  const values = Reflect.get(parent, key) as { value: unknown }[];
  const result = evaluateIntrinsic(
    call,
    values.map(({ value }) => value),
  );
  Object.defineProperty(parent, key, { value: result, configurable: true, enumerable: true, writable: true });
}

function clamp(seconds: number): number {
  return Math.min(seconds, longestTimerSeconds);
}
