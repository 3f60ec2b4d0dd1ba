/**
 * Runs the definition of the lane: as much of the states language, in JSONata, as that one needs. The machine itself
 * goes to AWS as it is; what the development host runs today is JSONPath and Lambda tasks alone.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import jsonata from 'jsonata';
import type { LaneDefinition, LaneState } from './lane-definition.ts';

/** An error of a task, as `Retry` and `Catch` see it. */
export class StateError extends Error {
  constructor(name: string, cause: string) {
    super(cause);
    this.name = name;
  }
}

/** What a run needs from outside. */
export interface ExpressSurroundings {
  /** Carries a task out. @throws StateError */
  runTask(resource: string, args: unknown): Promise<unknown>;
  /** Told of each state as it is entered. */
  entered?(state: string): void;
  /** Wait before a retry (ms). @default a second, then twice as long each time, 20 s at most */
  retryMs?(retry: number): number;
}

/** What the expressions of a state see. */
interface Scope {
  readonly variables: Map<string, unknown>;
  readonly states: { readonly input: unknown; readonly result?: unknown; readonly errorOutput?: unknown };
}

const compiled = new Map<string, jsonata.Expression>();

/** Runs an execution from its first state to its end, and gives the name of its last state. */
export async function runExpress(
  { StartAt, States }: LaneDefinition,
  input: unknown,
  around: ExpressSurroundings,
): Promise<string> {
  const variables = new Map<string, unknown>();
  let at = StartAt;
  let value = input;
  for (;;) {
    around.entered?.(at);
    const state = States[at];
    if (state === undefined) throw new StateError('States.Runtime', `there is no state ${at}`);
    if (state.Type === 'Succeed') return at;
    const { next, output } = await runState(state, { variables, states: { input: value } }, around);
    if (next === undefined) return at;
    at = next;
    value = output;
  }
}

/** Assignments see the variables from before the state, so they take effect together, after its output is made. */
async function runState(state: LaneState, scope: Scope, around: ExpressSurroundings) {
  try {
    const result = state.Type === 'Task' ? await runTaskState(state, scope, around) : undefined;
    return { next: state.Next, output: await leave(state, { ...scope, states: { ...scope.states, result } }) };
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    const rule = state.Catch?.find(({ ErrorEquals }) => matches(ErrorEquals, error));
    if (rule === undefined) throw error;
    const errorOutput = { Error: error.name, Cause: error.message };
    return { next: rule.Next, output: await leave(rule, { ...scope, states: { ...scope.states, errorOutput } }) };
  }
}

async function leave({ Output, Assign = {} }: Pick<LaneState, 'Output' | 'Assign'>, scope: Scope): Promise<unknown> {
  const output = Output === undefined ? scope.states.input : await fill(Output, scope);
  const assigned = (await fill(Assign, scope)) as Record<string, unknown>;
  for (const [name, value] of Object.entries(assigned)) scope.variables.set(name, value);
  return output;
}

async function runTaskState(state: LaneState, scope: Scope, around: ExpressSurroundings): Promise<unknown> {
  const { Resource = '', Retry = [] } = state;
  const retryMs = around.retryMs ?? ((retry: number) => Math.min(20_000, 1000 * 2 ** retry));
  for (let retry = 0; ; retry++) {
    const args = await fill(state.Arguments, scope);
    const seconds = state.TimeoutSeconds === undefined ? undefined : Number(await fill(state.TimeoutSeconds, scope));
    try {
      return await within(seconds, around.runTask(Resource, args));
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      const rule = Retry.find(({ ErrorEquals }) => matches(ErrorEquals, error));
      if (rule === undefined || retry >= rule.MaxAttempts) throw error;
      await sleep(retryMs(retry));
    }
  }
}

async function within<T>(seconds: number | undefined, work: Promise<T>): Promise<T> {
  if (seconds === undefined) return work;
  const timer = new AbortController();
  const late = sleep(seconds * 1000, undefined, { signal: timer.signal }).then(() => {
    throw new StateError('States.Timeout', '');
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}

function matches(errorEquals: readonly string[], error: StateError): boolean {
  return errorEquals.includes(error.name) || errorEquals.includes('States.ALL');
}

/** Fills a template in: each string `{% … %}` is replaced by its value. */
async function fill(template: unknown, scope: Scope): Promise<unknown> {
  if (Array.isArray(template)) return Promise.all(template.map((item) => fill(item, scope)));
  if (typeof template === 'object' && template !== null) {
    const entries = Object.entries(template).map(async ([key, value]) => [key, await fill(value, scope)] as const);
    return Object.fromEntries(await Promise.all(entries));
  }
  if (typeof template !== 'string') return template;
  const match = /^\{%([\s\S]*)%\}$/.exec(template);
  if (match === null) return template;
  const value: unknown = await expressionOf(match[1] ?? '').evaluate(undefined, {
    ...Object.fromEntries(scope.variables),
    states: scope.states,
  });
  if (value === undefined) throw new StateError('States.QueryEvaluationError', `nothing comes of ${template}`);
  return value;
}

function expressionOf(text: string): jsonata.Expression {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const expression = jsonata(text);
  expression.registerFunction('uuid', () => randomUUID(), '<:s>');
  expression.registerFunction('parse', (json: string) => JSON.parse(json) as unknown, '<s:x>');
  compiled.set(text, expression);
  return expression;
}
