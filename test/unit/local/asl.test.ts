import { describe, expect, it } from 'vitest';
import { DefinitionError, longestTimerSeconds, prepareDefinition } from '#local/asl-definition.ts';
import { evaluateIntrinsic, parseIntrinsic, pathsOf } from '#local/asl-intrinsics.ts';
import type { ExecutionRecord } from '#local/execution-store.ts';
import { TaskError } from '#local/lambda-task.ts';
import { runMachine } from '#local/machine-run.ts';

const invoke = 'arn:aws:states:::lambda:invoke';
const record: ExecutionRecord = {
  arn: 'arn:aws:states:us-east-1:000000000000:execution:m:e',
  machineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:m',
  name: 'e',
  status: 'RUNNING',
  input: '{}',
  startDate: 0,
};

/** Runs a machine on an input, with a function in place of Lambda. */
async function run(states: Record<string, unknown>, input: unknown, task: (argument: unknown) => unknown = (x) => x) {
  let transitions = 0;
  const definition = { StartAt: Object.keys(states)[0], States: states };
  const { ending } = runMachine(
    prepareDefinition(definition),
    { ...record, input: JSON.stringify(input) },
    {
      runTask: async (_, argument) => task(argument),
      transition: () => {
        transitions += 1;
      },
    },
  );
  return { ...(await ending), transitions };
}

const task = (fields: Record<string, unknown> = {}) => ({ Type: 'Task', Resource: invoke, End: true, ...fields });

describe('parseIntrinsic', () => {
  it('reads nested calls, paths, text and values', () => {
    const call = parseIntrinsic(
      `States.Format('{} of \\'{}\\'', $.a['b,)'].c, States.JsonToString($$.Execution.Name))`,
    );
    expect(call && pathsOf(call)).toEqual([`$.a['b,)'].c`, '$$.Execution.Name']);
    expect(call && evaluateIntrinsic(call, ['x', { y: '"\\' }])).toBe(`x of '{"y":"\\"\\\\"}'`);
  });

  it.each([
    [`States.Base64Encode('ü節')`, Buffer.from('ü節').toString('base64')],
    [`States.Base64Decode('w7w=')`, 'ü'],
    [`States.StringToJson('[1,2]')`, [1, 2]],
    [`States.Format('\\{{}\\}', 5)`, '{5}'],
    ['States.JsonToString(null)', 'null'],
  ])('computes %s', (expression, value) => {
    const call = parseIntrinsic(expression);
    expect(call && evaluateIntrinsic(call, [])).toEqual(value);
  });

  it('leaves functions that it does not know, and what is no call, to others', () => {
    for (const text of [
      'States.MathAdd(1, 2)',
      'States.Format(States.UUID())',
      '$.path',
      'States.Format(',
      'States.Format() x',
    ]) {
      expect(parseIntrinsic(text)).toBeUndefined();
    }
  });

  it('fails on wrong arguments', () => {
    const call = parseIntrinsic('States.Base64Encode($.a)');
    expect(() => call && evaluateIntrinsic(call, [{}])).toThrow('takes text');
    expect(() => call && evaluateIntrinsic(call, ['x'.repeat(10_001)])).toThrow('10000');
  });
});

describe('prepareDefinition', () => {
  it.each([
    [{ A: task({ Resource: 'arn:aws:states:::sqs:sendMessage' }) }, 'sqs:sendMessage'],
    [{ A: task({ Resource: `${invoke}.waitForTaskToken` }) }, 'waitForTaskToken'],
    [{ A: task({ HeartbeatSeconds: 5 }) }, 'HeartbeatSeconds'],
    [{ A: task({ QueryLanguage: 'JSONata' }) }, 'JSONata'],
    [{ A: { Type: 'Pass', Assign: {}, End: true } }, 'Assign'],
    [
      { A: { Type: 'Parallel', End: true, Branches: [{ StartAt: 'B', States: { B: task({ Credentials: {} }) } }] } },
      'Credentials',
    ],
  ])('refuses what the host cannot run, by name', (states, what) => {
    const machine = { StartAt: 'A', States: states };
    expect(() => prepareDefinition(machine)).toThrow(DefinitionError);
    expect(() => prepareDefinition(machine)).toThrow(what);
  });

  it('takes no longer time limit than a timer can', () => {
    const { definition } = prepareDefinition({
      StartAt: 'A',
      TimeoutSeconds: 1e9,
      States: { A: task({ TimeoutSeconds: 99_999_999 }) },
    });
    expect(definition.TimeoutSeconds).toBe(longestTimerSeconds);
    expect(definition.States['A']).toMatchObject({ TimeoutSeconds: longestTimerSeconds });
  });
});

describe('runMachine', () => {
  it('hands a task its parameters, whatever text they hold', async () => {
    const states = {
      A: task({
        Parameters: { 'context.$': 'States.Base64Encode(States.JsonToString($.m))', list: [{ 'x.$': '$.m.n' }] },
      }),
    };
    const result = await run(states, { m: { n: 'ü"\\', __proto__: null } });
    const { context, list } = JSON.parse(result.output ?? '');
    expect(JSON.parse(Buffer.from(context, 'base64').toString())).toEqual({ n: 'ü"\\' });
    expect(list).toEqual([{ x: 'ü"\\' }]);
  });

  it('reads the time limit from the input, not from the parameters', async () => {
    const states = { A: task({ Parameters: { a: 1 }, TimeoutSecondsPath: '$.limit' }) };
    expect(await run(states, { limit: 31_536_000 })).toMatchObject({ status: 'SUCCEEDED', output: '{"a":1}' });
    const never = () => new Promise(() => {});
    expect(await run(states, { limit: 1 }, never)).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
  });

  it.each([0, -1, 1.5, 'x', null])('fails, and invokes nothing, on the time limit %j', async (limit) => {
    let invoked = false;
    const result = await run({ A: task({ Parameters: { a: 1 }, TimeoutSecondsPath: '$.limit' }) }, { limit }, () => {
      invoked = true;
    });
    expect(result).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
    expect(invoked).toBe(false);
  });

  it('fails with States.Runtime where a path leads nowhere', async () => {
    const result = await run({ A: task({ Parameters: { 'a.$': '$.nowhere' } }) }, {});
    expect(result).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause: expect.stringContaining('$.nowhere'),
    });
  });

  it('retries and catches by the names of errors, and counts a transition for each try', async () => {
    let tries = 0;
    const Retry = [{ ErrorEquals: ['Busy'], IntervalSeconds: 0, MaxAttempts: 2 }];
    const Catch = [{ ErrorEquals: ['States.TaskFailed'], Next: 'B' }];
    const states = { A: { Type: 'Task', Resource: invoke, Retry, Catch, Next: 'B' }, B: { Type: 'Pass', End: true } };
    const result = await run(states, {}, () => {
      tries += 1;
      throw new TaskError('Busy', 'later');
    });
    expect(tries).toBe(3);
    expect(result).toMatchObject({ status: 'SUCCEEDED', output: '{"Error":"Busy","Cause":"later"}', transitions: 4 });
  });

  it('lets no Catch match States.DataLimitExceeded', async () => {
    const Catch = [{ ErrorEquals: ['States.ALL'], Next: 'B' }];
    const states = { A: { Type: 'Task', Resource: invoke, Catch, Next: 'B' }, B: { Type: 'Pass', End: true } };
    const result = await run(states, {}, () => {
      throw new TaskError('States.DataLimitExceeded', 'large', { isFinal: true });
    });
    expect(result).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' });
  });

  it('ends as a Fail state says', async () => {
    const result = await run({ A: { Type: 'Fail', Error: 'Mine', Cause: 'because' } }, {});
    expect(result).toMatchObject({ status: 'FAILED', error: 'Mine', cause: 'because' });
  });

  it('begins no task after an abort, not even a retry', async () => {
    let tries = 0;
    const states = { A: task({ Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1 }] }) };
    const failed = Promise.withResolvers<void>();
    const machine = runMachine(prepareDefinition({ StartAt: 'A', States: states }), record, {
      runTask: async () => {
        tries += 1;
        setImmediate(failed.resolve);
        throw new TaskError('Busy', 'later');
      },
      transition: () => {},
    });
    await failed.promise;
    machine.abort();
    expect(await machine.ending).toBeUndefined();
    await new Promise(setImmediate);
    expect(tries).toBe(1);
  });
});
