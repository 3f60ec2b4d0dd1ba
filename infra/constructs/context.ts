import type { Node } from 'constructs';
import { DEFAULT_INSTALLATION, parseInstallation } from './installation.ts';
import { EVENT_STARTS_PER_MINUTE } from './settings.ts';
import { SynthesisError } from './synthesis-error.ts';
import { parseStateMachineNames } from './team-state-machines.ts';

/** What a user may set by context (`cdk deploy -c NAME=VALUE`, or `CDK_CONTEXT_JSON`). */
export interface MillraceContext {
  /** Context `installation`. @default `millrace` */
  readonly installation: string;
  /** Context `functions`: a directory of functions for pipelines to use. @default none */
  readonly functionsDirectory?: string;
  /** Context `stateMachines`: names of state machines to be run as engines, separated by commas. @default none */
  readonly stateMachines: readonly string[];
  /** Context `eventStartsPerMinute`: runs of one pipeline that events start in a minute, 1 to 1,000. @default 100 */
  readonly eventStartsPerMinute: number;
  /** Context `ephemeral`: whether table and bucket go with the stack. @default false */
  readonly ephemeral: boolean;
}

/**
 * Reads and checks the context values of the app.
 *
 * @throws SynthesisError `INVALID_INSTALLATION` or `INVALID_CONTEXT`, naming the value and what would be right.
 */
export function readContext(node: Node): MillraceContext {
  const functions: unknown = node.tryGetContext('functions');
  if (functions !== undefined && (typeof functions !== 'string' || functions === '')) {
    throw invalid('functions', functions, 'the path of a directory');
  }
  return {
    installation: parseInstallation(node.tryGetContext('installation') ?? DEFAULT_INSTALLATION),
    ...(functions !== undefined && { functionsDirectory: functions }),
    stateMachines: parseStateMachineNames(node.tryGetContext('stateMachines') ?? [], 'context value'),
    eventStartsPerMinute: readStartsPerMinute(node.tryGetContext('eventStartsPerMinute')),
    ephemeral: readBoolean('ephemeral', node.tryGetContext('ephemeral') ?? false),
  };
}

function readStartsPerMinute(value: unknown = EVENT_STARTS_PER_MINUTE.default): number {
  const { min, max } = EVENT_STARTS_PER_MINUTE;
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof count === 'number' && Number.isInteger(count) && count >= min && count <= max) return count;
  throw invalid('eventStartsPerMinute', value, `a whole number from ${min} to ${max}`);
}

/** The command line of CDK gives every value as text. */
function readBoolean(name: string, value: unknown): boolean {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw invalid(name, value, 'true or false');
}

function invalid(name: string, value: unknown, allowed: string): SynthesisError {
  return new SynthesisError(
    'INVALID_CONTEXT',
    `The context value "${name}" is ${JSON.stringify(value)}; it must be ${allowed}.`,
  );
}
