import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TRIGGER_RULES } from '#domain/definition.ts';
import { decideTrigger, type UpstreamCounts } from '#domain/trigger.ts';

const kinds = ['success', 'skipped', 'bad'] as const;

function countsOf(upstreams: readonly string[]): UpstreamCounts {
  const count = (kind: string) => upstreams.filter((upstream) => upstream === kind).length;
  return {
    total: upstreams.length,
    success: count('success'),
    skipped: count('skipped'),
    bad: count('bad'),
    stopped: 0,
  };
}

/** The rules as the reference words them, over upstreams that are all terminal. */
const FINAL: Record<string, (counts: UpstreamCounts) => string> = {
  all_success: (c) => (c.success === c.total ? 'run' : c.bad > 0 ? 'upstreamFailed' : 'skip'),
  all_done: () => 'run',
  one_success: (c) => (c.success > 0 ? 'run' : c.bad > 0 ? 'upstreamFailed' : 'skip'),
  one_failed: (c) => (c.bad > 0 ? 'run' : 'skip'),
  all_failed: (c) => (c.bad === c.total ? 'run' : 'skip'),
  none_failed: (c) => (c.bad > 0 ? 'upstreamFailed' : 'run'),
  none_failed_min_one_success: (c) => (c.bad > 0 ? 'upstreamFailed' : c.success > 0 ? 'run' : 'skip'),
  none_skipped: (c) => (c.skipped > 0 ? 'skip' : 'run'),
  always: () => 'run',
};

const upstreams = fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 6 });

describe('decideTrigger', () => {
  for (const rule of TRIGGER_RULES) {
    it(`decides ${rule} over terminal upstreams as the reference says`, () => {
      fc.assert(
        fc.property(upstreams, (all) => {
          const counts = countsOf(all);
          expect(decideTrigger(rule, counts)).toBe(FINAL[rule]?.(counts));
        }),
      );
    });

    it(`decides ${rule} only when no later completion could change it, and then at once (C16, C20)`, () => {
      fc.assert(
        fc.property(upstreams, fc.integer({ min: 0, max: 5 }), (known, open) => {
          const early = decideTrigger(rule, { ...countsOf(known), total: known.length + open });
          const finals = new Set(completions(open).map((rest) => FINAL[rule]?.(countsOf([...known, ...rest]))));
          // `all_done` knows what it will say, and has to wait all the same.
          if (rule === 'all_done') expect(early).toBe(open > 0 ? 'wait' : 'run');
          else if (early === 'wait') expect(finals.size).toBeGreaterThan(1);
          else expect([...finals]).toEqual([early]);
        }),
      );
    });
  }

  it('runs a root whatever its rule', () => {
    for (const rule of TRIGGER_RULES) expect(decideTrigger(rule, countsOf([]))).toBe('run');
  });
});

/** Every way in which so many upstreams may still end. */
function completions(open: number): string[][] {
  if (open === 0) return [[]];
  return completions(open - 1).flatMap((rest) => kinds.map((kind) => [kind, ...rest]));
}
