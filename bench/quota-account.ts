/**
 * An AWS account with quotas: Step Functions in memory behind the token buckets of its API, and a number of Lambda functions
 * that may run at the same time. It speaks to the real adapter as the SDK's client does, throttling included.
 */
import {
  DescribeExecutionCommand,
  ListExecutionsCommand,
  type SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { TokenBucket } from 'limiter';
import type { CallRate, CallRates, CountedCall } from '#adapters/aws/service-quotas.ts';
import { createMemoryExecutions, type MemoryExecution } from '#adapters/memory/memory-executions.ts';
import type { Clock } from '#ports/index.ts';

/** What an account may do. */
export interface AccountQuotas {
  /** Calls of Step Functions; one that is missing is not limited. */
  readonly calls: Partial<CallRates>;
  /** Lambda functions that run at the same time, the scheduler's among them. */
  readonly lambdas: number;
}

/** us-east-1, us-west-2, eu-west-1. https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
export const LARGE_REGION: CallRates = {
  StartExecution: { burst: 1_300, perSecond: 300 },
  StopExecution: { burst: 1_000, perSecond: 200 },
  DescribeExecution: { burst: 300, perSecond: 15 },
  ListExecutions: { burst: 200, perSecond: 5 },
};

/** All other regions. */
export const OTHER_REGION: CallRates = {
  StartExecution: { burst: 800, perSecond: 150 },
  StopExecution: { burst: 500, perSecond: 25 },
  DescribeExecution: { burst: 250, perSecond: 10 },
  ListExecutions: { burst: 100, perSecond: 2 },
};

/** The state machine of the engine `lambda`. */
export const MACHINE_ARN = 'arn:aws:states:us-east-1:000000000000:stateMachine:bench-lambda-engine';
const EXECUTION_ARN = MACHINE_ARN.replace(':stateMachine:', ':execution:');
/** Executions that are over can be forgotten after this time (ms): nobody asks for them any more. */
const KEPT_MS = 3_600_000;

/** How often a call was made, and how often there was no token for it. */
export interface CallTally {
  made: number;
  throttled: number;
}

/** The account. */
export class QuotaAccount {
  readonly tallies = new Map<CountedCall, CallTally>();
  /** Lambda functions that run. */
  running = 0;
  /** The most that ran at the same time. */
  mostRunning = 0;
  private readonly executions: ReturnType<typeof createMemoryExecutions>;
  private readonly buckets: ReadonlyMap<string, TokenBucket>;
  private readonly quotas: AccountQuotas;
  private readonly clock: Clock;
  private readonly over: { readonly key: string; readonly at: number }[] = [];
  private forgotten = 0;

  /** Its buckets are full; `performance.now()` has to be its clock already. */
  constructor(quotas: AccountQuotas, clock: Clock, onChange: (execution: MemoryExecution) => void) {
    this.quotas = quotas;
    this.clock = clock;
    this.executions = createMemoryExecutions(clock, onChange);
    this.buckets = new Map(Object.entries(quotas.calls).map(([call, rate]) => [call, bucketOf(rate)]));
  }

  /** What the SDK's client is to the adapter. */
  client(): SFNClient {
    return { send: (command: unknown) => this.answer(command) } as unknown as SFNClient;
  }

  /** Uses up the bursts of all buckets. */
  useUp(): void {
    for (const bucket of this.buckets.values()) bucket.content = 0;
  }

  /** Takes the place of a Lambda function, if there is one left. */
  takeLambda(): boolean {
    if (this.running >= this.quotas.lambdas) return false;
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    return true;
  }

  /** Gives the place back. */
  giveLambda(): void {
    this.running -= 1;
  }

  /** Whether an execution of this name was ever started; those that have been over for an hour are unknown. */
  has(name: string): boolean {
    return this.executions.started.has(`${MACHINE_ARN}/${name}`);
  }

  /** Ends an execution with success. */
  end(name: string): void {
    if (!this.executions.end(name, { status: 'SUCCEEDED', output: '{}' })) return;
    this.over.push({ key: `${MACHINE_ARN}/${name}`, at: this.clock.now() });
    this.forget();
  }

  private async answer(command: unknown): Promise<unknown> {
    if (command instanceof StartExecutionCommand) {
      this.spend('StartExecution');
      const { name = '', input = '' } = command.input;
      const { kind } = await this.executions.start(MACHINE_ARN, name, input);
      if (kind === 'exists') throw serviceError('ExecutionAlreadyExists');
      return {};
    }
    if (command instanceof DescribeExecutionCommand) {
      this.spend('DescribeExecution');
      return this.describe(nameOf(command.input.executionArn));
    }
    if (command instanceof ListExecutionsCommand) {
      this.spend('ListExecutions');
      return this.list(command.input.nextToken);
    }
    if (command instanceof StopExecutionCommand) {
      this.spend('StopExecution');
      const said = await this.executions.stop(MACHINE_ARN, nameOf(command.input.executionArn), '');
      if (said === 'missing') throw serviceError('ExecutionDoesNotExist');
      return {};
    }
    throw new Error('the scheduler makes no other call');
  }

  private async describe(name: string): Promise<unknown> {
    const seen = await this.executions.describe(MACHINE_ARN, name);
    if (seen.kind === 'missing' || seen.kind === 'unanswered') throw serviceError('ExecutionDoesNotExist');
    const startDate = new Date(seen.startedAt);
    if (seen.kind === 'running') return { status: 'RUNNING', startDate };
    return { status: seen.status, startDate, stopDate: new Date(seen.endedAt), output: seen.output };
  }

  private async list(nextToken = '0'): Promise<unknown> {
    const from = Number(nextToken);
    const listed = await this.executions.listRunning(MACHINE_ARN, from + 1);
    if (listed.kind !== 'listed') throw new Error('the memory adapter always lists');
    const page = [...listed.startedAt].slice(from * 1_000);
    const executions = page.map(([name, startedAt]) => ({ name, startDate: new Date(startedAt) }));
    return { executions, ...(page.length === 1_000 && { nextToken: String(from + 1) }) };
  }

  /** @throws what the SDK throws where the account has no token left */
  private spend(call: CountedCall): void {
    const tally = this.tallies.get(call) ?? { made: 0, throttled: 0 };
    this.tallies.set(call, tally);
    tally.made += 1;
    if (this.buckets.get(call)?.tryRemoveTokens(1) ?? true) return;
    tally.throttled += 1;
    throw serviceError('ThrottlingException', 'Rate exceeded');
  }

  private forget(): void {
    const until = this.clock.now() - KEPT_MS;
    for (let next = this.over[this.forgotten]; next && next.at < until; next = this.over[this.forgotten]) {
      this.executions.started.delete(next.key);
      this.forgotten += 1;
    }
  }
}

function bucketOf({ burst, perSecond }: CallRate): TokenBucket {
  const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: perSecond, interval: 'second' });
  bucket.content = burst;
  return bucket;
}

function nameOf(executionArn = ''): string {
  return executionArn.slice(EXECUTION_ARN.length + 1);
}

function serviceError(name: string, message = name): Error {
  return Object.assign(new Error(message), { name, $fault: 'client', $metadata: { httpStatusCode: 400 } });
}
