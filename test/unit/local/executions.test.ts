import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareDefinition } from '#local/asl-definition.ts';
import { statusChangeEvent } from '#local/execution-event.ts';
import { type ExecutionRecord, openExecutionStore } from '#local/execution-store.ts';
import { ExecutionExistsError, Executions } from '#local/executions.ts';
import { temporaryDisk } from './temporary-disk.ts';

const machine = {
  arn: 'arn:aws:states:us-east-1:000000000000:stateMachine:m',
  name: 'm',
  prepared: prepareDefinition({
    StartAt: 'A',
    States: { A: { Type: 'Task', Resource: 'arn:aws:states:::lambda:invoke', End: true } },
  }),
};

let folder: Awaited<ReturnType<typeof temporaryDisk>>;

beforeEach(async () => {
  folder = await temporaryDisk();
});
afterEach(async () => {
  await folder.remove();
});

/** Executions whose one task ends when the test says so. */
function open(publish: (record: ExecutionRecord) => Promise<void> = async () => {}) {
  const store = openExecutionStore(folder.disk);
  const tasks: { argument: unknown; finish: (value: unknown) => void; fail: (error: Error) => void }[] = [];
  const events: { record: ExecutionRecord; onDisk: ExecutionRecord | undefined }[] = [];
  const errors: unknown[] = [];
  const waiting: (() => void)[] = [];
  const executions = new Executions({
    store,
    runTask: (_, argument) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      tasks.push({ argument, finish: resolve, fail: reject });
      for (const wake of waiting.splice(0)) wake();
      return promise;
    },
    transition: () => {},
    async publish(record) {
      events.push({ record, onDisk: await store.get(record.machineArn, record.name) });
      for (const wake of waiting.splice(0)) wake();
      await publish(record);
    },
    failed: (error) => errors.push(error),
  });
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise<void>((wake) => waiting.push(wake));
  };
  const statuses = () => events.map(({ record }) => `${record.name} ${record.status}`);
  return { executions, store, tasks, events, errors, until, statuses };
}

describe('Executions', () => {
  it('has an execution on disk before its first state, and its end on disk before its event', async () => {
    const { executions, store, tasks, events, until } = open();
    const started = await executions.start(machine, 'one', '{"a":1}');
    expect(await store.get(machine.arn, 'one')).toEqual(started);
    await until(() => tasks.length === 1);
    tasks[0]?.finish({ b: 2 });
    await until(() => events.length === 2);
    expect(events.map(({ onDisk }) => onDisk?.status)).toEqual(['RUNNING', 'SUCCEEDED']);
    expect(events[1]?.record).toMatchObject({ output: '{"b":2}', stopDate: expect.any(Number) });
    expect(executions.running).toBe(0);
  });

  it('finds the running execution of the same name and input, and refuses every other', async () => {
    const { executions, tasks, until, events } = open();
    const both = await Promise.all([executions.start(machine, 'one', '{}'), executions.start(machine, 'one', '{}')]);
    expect(both[0]).toBe(both[1]);
    await expect(executions.start(machine, 'one', '{"a":1}')).rejects.toThrow(ExecutionExistsError);
    await until(() => tasks.length === 1);
    tasks[0]?.finish(null);
    await until(() => events.length === 2);
    await expect(executions.start(machine, 'one', '{}')).rejects.toThrow(ExecutionExistsError);
    expect(tasks).toHaveLength(1);
  });

  it('runs cut-off executions again under the same name and date', async () => {
    const before = open();
    const { startDate } = await before.executions.start(machine, 'cut', '{"a":1}');
    await before.until(() => before.tasks.length === 1);
    await before.executions.close();
    before.tasks[0]?.finish('too late');
    await folder.reopen();
    const after = open();
    expect(await after.executions.resume(machine)).toBe(1);
    await after.until(() => after.tasks.length === 1);
    expect(after.tasks[0]?.argument).toEqual({ a: 1 });
    after.tasks[0]?.finish('in time');
    await after.until(() => after.events.length === 1);
    expect(await after.store.get(machine.arn, 'cut')).toMatchObject({
      status: 'SUCCEEDED',
      output: '"in time"',
      startDate,
    });
  });

  it('publishes again what was ended and not published', async () => {
    const lost = open((record) =>
      record.status === 'RUNNING' ? Promise.resolve() : Promise.reject(new Error('down')),
    );
    await lost.executions.start(machine, 'one', '{}');
    await lost.until(() => lost.tasks.length === 1);
    lost.tasks[0]?.finish(1);
    await lost.until(() => lost.events.length === 2);
    await lost.executions.close();
    expect(lost.errors).toEqual([new Error('down')]);
    await folder.reopen();
    const again = open();
    await again.executions.announceLeftOver();
    await again.until(() => again.events.length === 1);
    expect(again.statuses()).toEqual(['one SUCCEEDED']);
    await again.executions.close();
    expect(await again.store.unannounced()).toEqual([]);
  });

  it('ends once: the first of stop and result counts', async () => {
    const { executions, tasks, until, statuses, events } = open();
    await executions.start(machine, 'one', '{}');
    await until(() => tasks.length === 1);
    const stopping = executions.stop(machine.arn, 'one', { error: 'Stopped' });
    tasks[0]?.finish('late');
    expect(await stopping).toMatchObject({ status: 'ABORTED', error: 'Stopped' });
    await until(() => events.length === 2);
    expect(statuses()).toEqual(['one RUNNING', 'one ABORTED']);
    const again = await executions.stop(machine.arn, 'one', { error: 'Other' });
    expect(again).toMatchObject({ status: 'ABORTED', error: 'Stopped' });
    expect(await executions.stop(machine.arn, 'nobody', {})).toBeUndefined();
  });

  it('stops an execution that has just been started', async () => {
    const { executions, statuses, until, events } = open();
    const starting = executions.start(machine, 'one', '{}');
    const stopped = await executions.stop(machine.arn, 'one', {});
    await starting;
    expect(stopped?.status).toBe('ABORTED');
    await until(() => events.length === 2);
    expect(statuses()).toEqual(['one RUNNING', 'one ABORTED']);
  });
});

describe('statusChangeEvent', () => {
  const record: ExecutionRecord = {
    arn: 'arn:aws:states:us-east-1:000000000000:execution:m:e',
    machineArn: machine.arn,
    name: 'e',
    status: 'SUCCEEDED',
    input: '{"a":1}',
    output: '{"b":2}',
    startDate: 1000,
    stopDate: 2000,
  };

  it('has the shape that AWS documents', () => {
    expect(statusChangeEvent(record)).toEqual({
      source: 'aws.states',
      detailType: 'Step Functions Execution Status Change',
      resources: [record.arn],
      time: 2000,
      detail: {
        executionArn: record.arn,
        stateMachineArn: machine.arn,
        name: 'e',
        status: 'SUCCEEDED',
        startDate: 1000,
        stopDate: 2000,
        input: '{"a":1}',
        output: '{"b":2}',
        inputDetails: { included: true },
        outputDetails: { included: true },
      },
    });
  });

  it('shows neither error nor cause, and no output where there is none', () => {
    const { output: _, ...rest } = record;
    const { detail } = statusChangeEvent({ ...rest, status: 'FAILED', error: 'E', cause: 'C' });
    expect(detail).toMatchObject({ status: 'FAILED', output: null, outputDetails: null });
    expect(Object.keys(detail)).not.toContain('error');
  });

  it('leaves the input out above 248 KiB together, and the output above 248 KiB alone', () => {
    const half = JSON.stringify('x'.repeat(130 * 1024));
    const large = JSON.stringify('"'.repeat(70 * 1024));
    expect(statusChangeEvent({ ...record, input: half, output: half }).detail).toMatchObject({
      input: null,
      inputDetails: { included: false },
      output: half,
      outputDetails: { included: true },
    });
    expect(statusChangeEvent({ ...record, output: large }).detail).toMatchObject({
      input: null,
      output: null,
      outputDetails: { included: false },
    });
  });
});
