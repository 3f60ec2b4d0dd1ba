/** Every crash of every small scenario, and every two crashes of some; `npm run simulate -- --exhaustive` plays all. */
import { afterAll, describe, expect, it } from 'vitest';
import { crashesFromText, crashesToText, type Portion, playPortion, portionsOf } from './exhaustive.ts';
import { SMALL_SCENARIOS } from './exhaustive-scenarios.ts';
import { Totals, tableOf } from './exhaustive-table.ts';
import type { SmallScenario } from './exhaustive-worlds.ts';

/** Those whose pairs take a minute together. */
const WITH_PAIRS: ReadonlySet<string> = new Set(['chain', 'diamond', 'retry', 'stop race', 'map']);

const totals = new Totals();

async function playAll(portions: readonly Portion[]): Promise<void> {
  for (const portion of portions) {
    const outcome = await playPortion(portion);
    const { failure } = outcome;
    if (failure) expect.fail(`${failure.mode}, ${crashesToText(failure.crashes)}: ${failure.message}`);
    totals.add(portion, outcome);
  }
}

describe('C101 a small run whose functions crash', () => {
  afterAll(() => {
    process.stdout.write(`${tableOf(totals.rows())}\n`);
  });

  const isLast = ({ name }: SmallScenario) => Number(WITH_PAIRS.has(name));
  for (const scenario of [...SMALL_SCENARIOS].sort((a, b) => isLast(a) - isLast(b))) {
    const withPairs = WITH_PAIRS.has(scenario.name);
    it(`ends right after every ${withPairs ? 'two crashes' : 'crash'}: ${scenario.name}`, async () => {
      const portions = await portionsOf(scenario, withPairs);
      expect(portions.length).toBeGreaterThan(30);
      await playAll(portions);
    });
  }
});

describe('crashes on the command line', () => {
  it('are read as they are printed', () => {
    expect(crashesToText(crashesFromText('3-after,17-before'))).toBe('3-after,17-before');
    expect(() => crashesFromText('3-between')).toThrow('is no crash');
  });
});
