import { Token } from 'aws-cdk-lib';
import { CfnStateMachine, type IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { SynthesisError } from './synthesis-error.ts';

/** How nodes run on an engine. */
export interface EngineSettings {
  /** Attempts that run on it at once, 1 to 1000. @default no limit */
  readonly maxConcurrent?: number;
  /** For people and programs: at most 19, key and text. The stack sets one more, `cloudformation`. @default none */
  readonly labels?: Readonly<Record<string, string>>;
  /** JSON Schema (2020-12) of the params of its nodes, at most 64 KiB. @default any */
  readonly paramsSchema?: Readonly<Record<string, unknown>>;
  /** It is Unavailable when its owner has not reported for so long, 10 to 86,400 seconds. @default never */
  readonly heartbeatSeconds?: number;
}

/** A STANDARD state machine of the account and region of the installation: the construct, or its ARN. */
export type EngineMachine =
  | { readonly stateMachine: IStateMachine; readonly stateMachineArn?: never }
  | { readonly stateMachineArn: string; readonly stateMachine?: never };

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const NAME_ALLOWED = '1 to 128 letters, digits, ".", "_" and "-", beginning with a letter or a digit';
const BUILT_IN: ReadonlySet<string> = new Set(['lambda', 'pipeline', 'pass', 'approval', 'http']);
const ARN = /^arn:aws[a-z-]*:states:[a-z0-9-]+:\d{12}:stateMachine:[\w.-]{1,80}(?::[\w.-]{1,80})?$/;
const ARN_ALLOWED = 'arn:aws:states:REGION:ACCOUNT:stateMachine:NAME';
const LABEL_KEY = /^\P{C}{1,128}$/u;
/** Other keys stand in brackets in a path. */
const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/;
const MAX_LABEL_TEXT = 256;
const MAX_LABELS = 20;
/** The label by which the stack's resource knows its engine again. */
const OWN_LABEL = 'cloudformation';
const RANGES = { maxConcurrent: { min: 1, max: 1000 }, heartbeatSeconds: { min: 10, max: 86_400 } } as const;
const MAX_SCHEMA_BYTES = 65_536;

/**
 * Checks the name of an engine.
 *
 * @throws SynthesisError `INVALID_ENGINE` with the words of the API
 */
export function checkEngineName(name: string): void {
  if (BUILT_IN.has(name)) throw invalid(`The engine ${JSON.stringify(name)} is built in; it cannot be changed.`);
  if (!NAME.test(name)) throw invalid(`name: a name is ${NAME_ALLOWED}.`);
}

/**
 * Checks what an engine is registered with, as far as it is known before it is deployed; the registrar checks all of it.
 *
 * @throws SynthesisError `INVALID_ENGINE` with the words of the API
 */
export function checkEngine(settings: EngineSettings, machine: EngineMachine): void {
  for (const [field, { min, max }] of Object.entries(RANGES))
    checkWhole(field, settings[field as 'maxConcurrent'], min, max);
  checkLabels(settings.labels ?? {});
  checkSchemaSize(settings.paramsSchema);
  checkMachine(machine);
}

function checkWhole(field: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined || Token.isUnresolved(value)) return;
  if (!Number.isInteger(value)) throw invalid(`${field}: Invalid input: expected int, received number`);
  if (value < min) throw invalid(`${field}: Too small: expected number to be >=${min}`);
  if (value > max) throw invalid(`${field}: Too big: expected number to be <=${max}`);
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  for (const [key, text] of Object.entries(labels)) {
    const path = PLAIN_KEY.test(key) ? `labels.${key}` : `labels[${JSON.stringify(key)}]`;
    if (!LABEL_KEY.test(key)) throw invalid(`${path}: the key is 1 to 128 printable characters`);
    if (text.length > MAX_LABEL_TEXT) throw invalid(`${path}: has at most ${MAX_LABEL_TEXT} characters`);
    if (key === OWN_LABEL) throw invalid(`labels: ${JSON.stringify(OWN_LABEL)} is set by the stack`);
  }
  if (Object.keys(labels).length >= MAX_LABELS) {
    throw invalid(`labels: has at most ${MAX_LABELS} labels, one of which the stack sets`);
  }
}

function checkSchemaSize(schema: EngineSettings['paramsSchema']): void {
  const bytes = Buffer.byteLength(JSON.stringify(schema ?? {}));
  if (bytes > MAX_SCHEMA_BYTES) throw invalid(`paramsSchema: the schema of the params has ${bytes} bytes as JSON`);
}

function checkMachine({ stateMachine, stateMachineArn }: EngineMachine): void {
  if ((stateMachine === undefined) === (stateMachineArn === undefined)) {
    throw invalid('an engine needs either stateMachine or stateMachineArn');
  }
  if (stateMachine) {
    const made = stateMachine.node.defaultChild;
    if (made instanceof CfnStateMachine && made.stateMachineType === 'EXPRESS') {
      throw invalid('stateMachineArn: is an EXPRESS state machine; engines are STANDARD.');
    }
  } else if (!Token.isUnresolved(stateMachineArn) && !ARN.test(stateMachineArn ?? '')) {
    throw invalid(`stateMachineArn: must be the ARN of a state machine, ${ARN_ALLOWED}`);
  }
}

function invalid(message: string): SynthesisError {
  return new SynthesisError('INVALID_ENGINE', message);
}
