import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Item, Table } from '#adapters/aws/table.ts';
import type { ItemKey } from '#adapters/aws/table-keys.ts';
import { runExpress, StateError } from '../../bench/spike/express-run.ts';
import { laneDefinition } from '../../bench/spike/lane-definition.ts';
import { createLaneExecutions } from '../../bench/spike/lane-executions.ts';
import { GIVENS, LANES, SHAPES } from '../../bench/spike/lane-units.ts';

const RUN = 'a'.repeat(26);
const NAME = `millrace-${RUN}-bbbbbbbb-3-1`;
const NOW = Date.UTC(2026, 10, 30);

type PutArguments = {
  readonly Item: Parameters<typeof unmarshall>[0];
  readonly ExpressionAttributeValues: { readonly ':owner': { readonly S: string } };
};

/** A lane without AWS: a table in memory, a function that is counted, and an inbox that is a list. */
class Lane {
  readonly items = new Map<string, Item>();
  readonly told: unknown[] = [];
  readonly rung: string[] = [];
  invocations = 0;
  /** What the function does; another may be put in its place. */
  work: () => Promise<unknown> = async () => ({ done: true });
  /** Writes whose answer is lost although they took effect. */
  lostAnswers = 0;
  now = NOW;
  private input = '';

  readonly executions = createLaneExecutions({
    express: {
      send: async ({ input }: { input: { input: string } }) => {
        this.input = input.input;
      },
    } as never,
    table: this.table(),
    inbox: { ringAbout: async (_run: string, name: string) => void this.rung.push(name) } as never,
    clock: { now: () => this.now },
    installation: 'millrace',
  });

  start(timeoutSeconds = 60) {
    const millrace = { run: RUN, node: 'c', attempt: 1, timeoutSeconds, token: 't' };
    return this.executions.start('arn', NAME, JSON.stringify({ millrace, params: { function: 'f' } }));
  }

  /** Runs the execution that was started once more, and gives its last state. */
  run(): Promise<string> {
    const definition = laneDefinition({ table: 'table', inboxUrl: 'inbox' });
    const runTask = (resource: string, args: unknown) => this.runTask(resource, args);
    return runExpress(definition, JSON.parse(this.input), { runTask, retryMs: () => 0 });
  }

  private async runTask(resource: string, args: unknown): Promise<unknown> {
    if (resource.endsWith('putItem')) return this.put(args as PutArguments);
    if (resource.endsWith('sendMessage'))
      return this.told.push(JSON.parse((args as { MessageBody: string }).MessageBody));
    this.invocations += 1;
    return { Payload: await this.work() };
  }

  private async put({ Item: marshalled, ExpressionAttributeValues }: PutArguments): Promise<void> {
    const item = unmarshall(marshalled) as Item;
    const existing = this.items.get(keyOf(item));
    if (existing !== undefined && existing['o'] !== ExpressionAttributeValues[':owner'].S) {
      const error = new ConditionalCheckFailedException({ message: 'taken', $metadata: {} });
      throw new StateError(`DynamoDB.${error.name}`, error.message);
    }
    this.items.set(keyOf(item), item);
    if (this.lostAnswers-- > 0) throw new StateError('DynamoDB.SdkClientException', 'no answer');
  }

  private table(): Table {
    const putOrGet = async (item: Item) => {
      const existing = this.items.get(keyOf(item));
      if (existing !== undefined) return { existing };
      this.items.set(keyOf(item), unmarshall(marshall(item)) as Item);
      return {};
    };
    const putIf = async (item: Item) => (await putOrGet(item)).existing === undefined;
    return { putOrGet, putIf, get: async (key: ItemKey) => this.items.get(keyOf(key)) } as never;
  }
}

const keyOf = ({ pk, sk }: ItemKey) => `${pk}/${sk}`;
const describeIt = (lane: Lane) => lane.executions.describe('arn', NAME);

describe('an attempt by the lane', () => {
  it('is claimed, invoked, put and told, and its end can be read', async () => {
    const lane = new Lane();
    expect(await lane.start()).toEqual({ kind: 'started' });
    expect(await describeIt(lane)).toEqual({ kind: 'missing' });
    expect(await lane.run()).toBe('Tell');
    expect(lane.told).toMatchObject([{ kind: 'execution', name: NAME, status: 'SUCCEEDED', output: '{"done":true}' }]);
    expect(await describeIt(lane)).toMatchObject({ kind: 'ended', status: 'SUCCEEDED', output: '{"done":true}' });
  });

  it('is invoked once, however often its execution runs', async () => {
    const lane = new Lane();
    await lane.start();
    const ends = await Promise.all([lane.run(), lane.run(), lane.run()]);
    expect(await lane.run()).toBe('NotMine');
    expect(ends.toSorted()).toEqual(['NotMine', 'NotMine', 'Tell']);
    expect(lane.invocations).toBe(1);
    expect(lane.told).toHaveLength(1);
  });

  it('goes on where the answers to its own writes were lost', async () => {
    const lane = new Lane();
    await lane.start();
    lane.lostAnswers = 2;
    expect(await lane.run()).toBe('Tell');
    expect(lane.invocations).toBe(1);
  });

  it('fails by the error of the function, which is not retried', async () => {
    const lane = new Lane();
    await lane.start();
    lane.work = () => Promise.reject(new StateError('TypeError', '{"errorMessage":"no such thing"}'));
    await lane.run();
    expect(lane.invocations).toBe(1);
    expect(await describeIt(lane)).toMatchObject({
      status: 'FAILED',
      error: { name: 'TypeError', message: 'no such thing' },
    });
  });

  it('never runs once it was stopped before it began', async () => {
    const lane = new Lane();
    await lane.start();
    expect(await lane.executions.stop('arn', NAME, 'Stopped')).toBe('accepted');
    expect(await lane.run()).toBe('NotMine');
    expect(lane.invocations).toBe(0);
    expect(lane.rung).toEqual([NAME]);
    expect(await describeIt(lane)).toMatchObject({ kind: 'ended', status: 'ABORTED' });
  });

  it('is not heard once it was stopped while it ran', async () => {
    const lane = new Lane();
    await lane.start();
    lane.work = async () => {
      await lane.executions.stop('arn', NAME, 'Stopped');
      return { done: true };
    };
    expect(await lane.run()).toBe('NotMine');
    expect(lane.told).toEqual([]);
    expect(await describeIt(lane)).toMatchObject({ kind: 'ended', status: 'ABORTED' });
  });

  it('is lost where it was claimed and its execution can live no more', async () => {
    const lane = new Lane();
    await lane.start();
    lane.work = () => Promise.reject(new Error('the service died'));
    await expect(lane.run()).rejects.toThrow('the service died');
    lane.now = Date.now();
    expect(await describeIt(lane)).toMatchObject({ kind: 'running' });
    lane.now += 331_000;
    expect(await describeIt(lane)).toMatchObject({ kind: 'ended', error: { name: 'Millrace.WorkerLost' } });
    expect(await lane.run()).toBe('NotMine');
  });

  it('is refused where its time limit is longer than an Express execution', async () => {
    expect(await new Lane().start(3600)).toMatchObject({ kind: 'refused' });
  });
});

describe('the units of lanes', () => {
  it('are those that were counted, for the lane of today', () => {
    for (const shape of SHAPES) {
      const units = LANES[0]?.unitsOf(shape, { ms: 1_000, memoryMb: 256 }, GIVENS);
      expect(units).toMatchObject({ writeUnits: shape.counters.writeUnits, transitions: 1 });
    }
  });

  it('are finite numbers, for every lane and shape', () => {
    const units = LANES.flatMap((lane) =>
      SHAPES.map((shape) => lane.unitsOf(shape, { ms: 100, memoryMb: 128 }, GIVENS)),
    );
    expect(units.flatMap((each) => Object.values(each)).every((amount) => Number.isFinite(amount) && amount >= 0)).toBe(
      true,
    );
  });
});
