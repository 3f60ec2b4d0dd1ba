/** Large payloads, played by the real pass in a simulated world: stores of texts and passes that die around them. */
import { describe, expect, it } from 'vitest';
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import { createMemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import type { NodeDefinition } from '#domain/definition.ts';
import { refIn, toEnvelope } from '#domain/payload-ref.ts';
import { type Faults, World } from './world.ts';

const node = (id: string, dependsOn: string[], params: object): NodeDefinition => ({
  id,
  dependsOn,
  params: { function: 'f', ...params },
});

/** `a` and `b` return directly, `big` by reference; `join` gets all of it put aside, `read` what an expression reads. */
async function play(faults: Faults = {}) {
  const payloads = createMemoryPayloads();
  const big = toEnvelope(await payloads.put(JSON.stringify({ rows: 7, fill: 'x'.repeat(300_000) })));
  const outputs = new Map<string, unknown>([
    ['a', 'a'.repeat(150_000)],
    ['b', 'b'.repeat(150_000)],
    ['big', big],
  ]);
  const nodes = [
    ...['a', 'b', 'big'].map((id) => node(id, [], { payload: {} })),
    node('join', ['a', 'b', 'big'], { byReference: true }),
    node('read', ['big'], { payload: '{% $nodes.big.output.rows %}' }),
  ];
  const world = new World(
    {
      name: 'payloads',
      definition: { name: 'payloads', nodes, output: '{% $nodes.big.output %}' },
      evaluator: createInlineEvaluator(),
      payloads,
      script: (id) => ({
        durationMs: 1_000,
        end: { status: 'SUCCEEDED', output: JSON.stringify(outputs.get(id) ?? 1) },
      }),
    },
    faults,
  );
  await world.play();
  const inputs = [...world.executions.started.values()].map(({ input }) => JSON.parse(input));
  const payloadOf = (id: string) => inputs.find(({ millrace }) => millrace.node === id)?.params.payload;
  return { world, payloads, big, run: world.runs.latest(world.run?.id ?? ''), payloadOf };
}

async function check({ world, payloads, big, run, payloadOf }: Awaited<ReturnType<typeof play>>) {
  expect([run.state, run.nodes]).toEqual(['SUCCEEDED', 'SSSSS']);
  expect(payloadOf('read')).toBe(7);
  const { key = '' } = refIn(payloadOf('join')) ?? {};
  const { upstream } = JSON.parse(payloads.stored.get(key) as string);
  expect(upstream).toEqual({ a: 'a'.repeat(150_000), b: 'b'.repeat(150_000), big });
  expect(JSON.parse((await world.runs.readValue(run, run.outputKey ?? '')) as string)).toEqual(big);
}

describe('large payloads', () => {
  it('are put aside before the start that refers to them', async () => {
    const played = await play();
    await check(played);
    expect(played.payloads.stored.size).toBe(2);
  });

  it.each(['kill', 'fail'] as const)(
    'are the same at whatever await a pass dies or a call fails (%s)',
    async (kind) => {
      const { world } = await play();
      for (let at = 0; at < world.trace.operations.length + 3; at++) {
        for (const when of ['before', 'after'] as const) {
          await check(await play({ at: new Map([[at, { kind, when }]]) }));
        }
      }
    },
  );

  it('are the same by ticks alone, and with every message delivered five times', async () => {
    await check(await play({ drop: true }));
    await check(await play({ copies: 5 }));
  });
});
