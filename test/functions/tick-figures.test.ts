import { describe, expect, it } from 'vitest';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { startRun } from '#scheduler/start-run.ts';
import { createHandler } from '../../functions/scheduler/handler.ts';
import { CONTEXT, createInstallation } from './installation.ts';

/** The figures that ticks told, one object a tick. */
async function figuresOf(ticksLate: readonly number[]) {
  const { deps, time } = createInstallation();
  let told: Record<string, number> = {};
  const logger = { info: () => {}, error: () => {} };
  const handler = createHandler({
    pass: deps,
    logger,
    count: (name, by = 1) => void Object.assign(told, { [name]: by }),
  });
  const tick = async () => {
    told = {};
    await handler({ kind: 'tick' }, CONTEXT);
    return told;
  };
  const figures = [await tick()];
  await putPipeline(deps, { definition: { name: 'etl', nodes: [{ id: 'a', engine: 'pass' }] }, revision: 'r1' });
  await startRun(deps, { pipeline: 'etl', trigger: { type: 'api' } });
  for (const ticks of ticksLate) {
    time.now += ticks * deps.options.tickMs;
    figures.push(await tick());
  }
  return figures;
}

describe('the tick', () => {
  it('tells at each tick how late the work is, and what is 0 at rest only where it is more', async () => {
    const [idle, onItsWay, late, stuck] = await figuresOf([1, 5, 20]);
    expect(idle).toEqual({ OldestDueSeconds: 0 });
    expect(onItsWay).toEqual({ OldestDueSeconds: 0, DueRung: 1 });
    expect(late).toEqual({ OldestDueSeconds: expect.any(Number), DueRung: 1 });
    expect(late?.['OldestDueSeconds']).toBeGreaterThanOrEqual(5 * 60);
    expect(stuck).toEqual({ OldestDueSeconds: expect.any(Number), DueRung: 1, StuckDue: 1 });
  });
});
