import type { PreparedDefinition } from '#local/asl-definition.ts';
import { hostArn } from '#local/cloud-address.ts';
import type { ExecutionRecord, ExecutionStore } from '#local/execution-store.ts';
import { type Ending, type MachineRun, type RunSurroundings, runMachine } from '#local/machine-run.ts';

/** A state machine as executions need it. */
export type RunnableMachine = { readonly arn: string; readonly name: string; readonly prepared: PreparedDefinition };

/** What executions need from the host. */
export type ExecutionsSurroundings = RunSurroundings & {
  readonly store: ExecutionStore;
  /** Publishes the status of an execution; resolves when the event cannot be lost any more. */
  publish(record: ExecutionRecord): Promise<void>;
  /** Told of what must not fail and did. */
  failed(error: unknown): void;
};

type LiveExecution = {
  /** As it is on disk, or about to be put there by `starting`. */
  record: ExecutionRecord;
  /** Resolves when the start is on disk; rejects if there was an execution of that name. */
  starting: Promise<void>;
  run: MachineRun | undefined;
  /** Resolves when the end is on disk. */
  ending: Promise<void> | undefined;
};

/** The name is taken by an execution that is over, or that runs on another input. */
export class ExecutionExistsError extends Error {
  override readonly name = 'ExecutionExistsError';
}

/**
 * The running executions of a host. An execution is on disk before its first state and before its start is answered; its
 * end is on disk before anything says so. Those that the host's death cut off run again, under the same name and from the first state.
 */
export class Executions {
  readonly #around: ExecutionsSurroundings;
  readonly #live = new Map<string, LiveExecution>();
  readonly #announcing = new Set<Promise<void>>();
  #closed = false;

  constructor(around: ExecutionsSurroundings) {
    this.#around = around;
  }

  /** How many run. */
  get running(): number {
    return this.#live.size;
  }

  /**
   * Starts an execution, or finds the one of that name and input that runs.
   * @throws {ExecutionExistsError}
   */
  async start(machine: RunnableMachine, name: string, input: string): Promise<ExecutionRecord> {
    const arn = executionArn(machine.name, name);
    const known = this.#live.get(arn);
    if (known !== undefined) {
      await known.starting;
      if (known.record.input !== input) throw new ExecutionExistsError(arn);
      return known.record;
    }
    const record: ExecutionRecord = {
      arn,
      machineArn: machine.arn,
      name,
      status: 'RUNNING',
      input,
      startDate: Date.now(),
    };
    const live: LiveExecution = { record, starting: this.#store(record), run: undefined, ending: undefined };
    this.#live.set(arn, live);
    try {
      await live.starting;
    } catch (error) {
      this.#live.delete(arn);
      throw error;
    }
    this.#run(machine, live);
    this.#announce(record);
    return record;
  }

  /** Ends an execution as ABORTED; one that is over stays as it is. Undefined if there is none. */
  async stop(
    machineArn: string,
    name: string,
    reason: Pick<ExecutionRecord, 'error' | 'cause'>,
  ): Promise<ExecutionRecord | undefined> {
    const live = await this.#started(executionArn(nameOf(machineArn), name));
    if (live !== undefined) {
      await this.#end(live, { status: 'ABORTED', ...reason });
      live.run?.abort();
    }
    return this.#around.store.get(machineArn, name);
  }

  /** An execution as it is on disk. */
  async find(machineArn: string, name: string): Promise<ExecutionRecord | undefined> {
    const live = await this.#started(executionArn(nameOf(machineArn), name));
    return live?.record ?? (await this.#around.store.get(machineArn, name));
  }

  /** Takes up what an earlier host left: runs the executions of a machine that were cut off again. */
  async resume(machine: RunnableMachine): Promise<number> {
    const cutOff = await this.#around.store.running(machine.arn);
    for (const record of cutOff) {
      const live: LiveExecution = { record, starting: Promise.resolve(), run: undefined, ending: undefined };
      this.#live.set(record.arn, live);
      this.#run(machine, live);
    }
    return cutOff.length;
  }

  /** Publishes the ends that an earlier host did not get to publish. */
  async announceLeftOver(): Promise<void> {
    for (const record of await this.#around.store.unannounced()) this.#announce(record);
  }

  /** Lets go of all that runs; it stays on disk as running. Waits for ends under way. */
  async close(): Promise<void> {
    this.#closed = true;
    const live = [...this.#live.values()];
    for (const { run } of live) run?.abort();
    await Promise.all(live.map(({ ending }) => ending));
    await Promise.all(this.#announcing);
  }

  async #started(arn: string): Promise<LiveExecution | undefined> {
    const live = this.#live.get(arn);
    if (live === undefined) return undefined;
    return live.starting.then(
      () => live,
      () => undefined,
    );
  }

  async #store(record: ExecutionRecord): Promise<void> {
    if ((await this.#around.store.get(record.machineArn, record.name)) !== undefined) {
      throw new ExecutionExistsError(record.arn);
    }
    await this.#around.store.putStarted(record);
  }

  #run(machine: RunnableMachine, live: LiveExecution): void {
    if (this.#closed || live.ending !== undefined) return;
    live.run = runMachine(machine.prepared, live.record, this.#around);
    void live.run.ending.then((ending) => {
      if (ending !== undefined) void this.#end(live, ending);
    });
  }

  /** Whoever comes first ends it; later ends change nothing. */
  #end(live: LiveExecution, how: Ending | { status: 'ABORTED'; error?: string; cause?: string }): Promise<void> {
    if (live.ending === undefined && !this.#closed) live.ending = this.#putEnd(live, how);
    return live.ending ?? Promise.resolve();
  }

  async #putEnd(live: LiveExecution, how: Partial<ExecutionRecord>): Promise<void> {
    const record = { ...live.record, ...how, stopDate: Date.now() };
    try {
      await this.#around.store.putEnded(record);
    } catch (error) {
      this.#around.failed(error);
      return;
    }
    live.record = record;
    this.#live.delete(record.arn);
    this.#announce(record);
  }

  #announce(record: ExecutionRecord): void {
    const done = this.#publish(record).catch((error: unknown) => this.#around.failed(error));
    this.#announcing.add(done);
    void done.then(() => this.#announcing.delete(done));
  }

  async #publish(record: ExecutionRecord): Promise<void> {
    await this.#around.publish(record);
    if (record.status !== 'RUNNING') await this.#around.store.announced(record);
  }
}

/** The ARN of an execution. */
export function executionArn(machineName: string, name: string): string {
  return hostArn('states', `execution:${machineName}:${name}`);
}

function nameOf(machineArn: string): string {
  return machineArn.slice(machineArn.lastIndexOf(':') + 1);
}
