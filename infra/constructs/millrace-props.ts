import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { IManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { AlarmOptions } from './alarms.ts';
import { DEFAULT_INSTALLATION, parseInstallation } from './installation.ts';
import type { OwnEntries } from './own-bundles.ts';
import { EVENT_STARTS_PER_MINUTE, TICK_MINUTES } from './settings.ts';
import { SynthesisError } from './synthesis-error.ts';
import { parseStateMachineNames } from './team-state-machines.ts';

/** What an installation is made of. Everything has a default. */
export interface MillraceProps {
  /**
   * Name of the installation, the prefix of all its physical names and of its executions' names: 1 to 20 lower-case letters
   * and digits, beginning with a letter. Two of one name cannot be in one account and region.
   * @default 'millrace'
   */
  readonly installation?: string;
  /** A directory of functions for pipelines to use; more can be added later. @default none */
  readonly functionsDirectory?: string;
  /** Names of state machines to be run as engines, beside those that begin with `millrace-`. @default none */
  readonly stateMachines?: readonly string[];
  /** Runs of one pipeline that events start in a minute, 1 to 1,000. @default 100 */
  readonly eventStartsPerMinute?: number;
  /** How long log lines are kept. @default RetentionDays.ONE_MONTH */
  readonly logRetention?: RetentionDays;
  /**
   * The time between two ticks, 1 to 15 whole minutes. What an event or a ring does at once, a tick does where they were
   * lost: so a longer time makes the wait after a crash longer, and an idle installation cheaper.
   * @default Duration.minutes(1)
   */
  readonly tickRate?: Duration;
  /**
   * What becomes of table and bucket when the installation goes. `DESTROY` also takes the table's protection against deletion
   * away; a bucket that is not empty fails the deletion.
   * @default RemovalPolicy.RETAIN: they are kept, and the table is protected
   */
  readonly removalPolicy?: RemovalPolicy.RETAIN | RemovalPolicy.DESTROY;
  /**
   * Who is told when something is wrong; `false` makes no alarms. There are about twenty, each with what to do in its description.
   * @default alarms that tell nobody
   */
  readonly alarms?: AlarmOptions | false;
  /** Whether there is a dashboard, under the name of the installation. @default true */
  readonly dashboard?: boolean;
  /** A permissions boundary for all roles that the construct makes. @default none */
  readonly permissionsBoundary?: IManagedPolicy;
  /** Source files of our own functions. @default those of this package */
  readonly ownEntries?: OwnEntries;
}

/** What the props come to. */
export interface MillraceSettings {
  readonly installation: string;
  readonly stateMachines: readonly string[];
  readonly eventStartsPerMinute: number;
  readonly logRetention: RetentionDays;
  readonly tickRate: Duration;
  readonly ephemeral: boolean;
  readonly entries: OwnEntries;
}

/**
 * Checks the props, and puts the defaults in.
 * @throws SynthesisError `INVALID_INSTALLATION`, or `INVALID_PROPS` naming the prop and what would be right
 */
export function toSettings(props: MillraceProps): MillraceSettings {
  const eventStartsPerMinute = props.eventStartsPerMinute ?? EVENT_STARTS_PER_MINUTE.default;
  checkWhole('eventStartsPerMinute', eventStartsPerMinute, EVENT_STARTS_PER_MINUTE);
  const tickRate = props.tickRate ?? Duration.minutes(TICK_MINUTES.default);
  checkWhole('tickRate', tickRate.toSeconds() / 60, TICK_MINUTES, 'minutes ');
  return {
    installation: parseInstallation(props.installation ?? DEFAULT_INSTALLATION),
    stateMachines: parseStateMachineNames(props.stateMachines ?? [], 'prop'),
    eventStartsPerMinute,
    logRetention: props.logRetention ?? RetentionDays.ONE_MONTH,
    tickRate,
    ephemeral: props.removalPolicy === RemovalPolicy.DESTROY,
    entries: props.ownEntries ?? {},
  };
}

function checkWhole(
  name: keyof MillraceProps,
  value: number,
  { min, max }: { readonly min: number; readonly max: number },
  unit = '',
): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  const allowed = `a whole number ${unit && `of ${unit}`}from ${min} to ${max}`;
  throw new SynthesisError('INVALID_PROPS', `The prop "${name}" is ${value}; it must be ${allowed}.`);
}
