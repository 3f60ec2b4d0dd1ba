/** What a definition may say of schedules and concurrency, and what its errors are. */
import { describe, expect, it } from 'vitest';
import { DEFINITION_LIMITS, type DefinitionError, type PipelineDefinition } from '#domain/definition.ts';
import { parseDefinition } from '#domain/definition-schema.ts';
import { compilePipeline } from '#domain/graph.ts';

const nodes = [{ id: 'a', engine: 'task' }];

function errorsOf(fields: object): readonly DefinitionError[] {
  const result = parseDefinition({ name: 'p', nodes, ...fields });
  return result.ok ? [] : result.errors;
}

const codesAt = (fields: object) => errorsOf(fields).map(({ path, code }) => `${path} ${code}`);
const scheduled = (...schedule: readonly unknown[]) => codesAt({ schedule });

describe('a schedule', () => {
  it('is given back as it was, and compiled with its defaults', () => {
    const definition = {
      name: 'p',
      schedule: [
        {
          id: 'nightly',
          cron: '0 3 * * *',
          timezone: 'Europe/Berlin',
          input: [1],
          catchUp: 'all',
          catchUpWindowSeconds: 60,
        },
        { rate: '15 minutes' },
      ],
      concurrency: { maxActiveRuns: 1, onOverlap: 'skip' },
      nodes: [{ ...nodes[0], pool: 'warehouse', priority: -5, cleanup: true, heartbeatSeconds: 60 }],
    };
    const result = parseDefinition(definition);
    expect(result).toEqual({ ok: true, definition });
    const compiled = compilePipeline((result as { definition: PipelineDefinition }).definition, 'r');
    const berlin = { id: 'nightly', kind: 'cron', cron: '0 3 * * *', timezone: 'Europe/Berlin', input: [1] };
    const rate = { id: '1', kind: 'rate', everyMs: 900_000, timezone: 'UTC', input: {} };
    expect(compiled.schedule).toEqual([
      { ...berlin, catchUp: 'all', catchUpWindowMs: 60_000 },
      { ...rate, catchUp: 'none', catchUpWindowMs: 86_400_000 },
    ]);
    expect(compiled).toMatchObject({ maxActiveRuns: 1, onOverlap: 'skip' });
    expect(compiled.nodes[0]).toMatchObject({ pool: 'warehouse', priority: -5, cleanup: true, heartbeatMs: 60_000 });
  });

  it('has defaults where nothing is said', () => {
    const compiled = compilePipeline({ name: 'p', nodes }, 'r');
    expect(compiled).toMatchObject({ maxActiveRuns: undefined, onOverlap: 'queue', schedule: [] });
    expect(compiled.nodes[0]).toMatchObject({ pool: undefined, priority: 0, cleanup: false, heartbeatMs: undefined });
  });

  it('has entries with either cron or rate', () => {
    expect(scheduled({}, { cron: '* * * * *', rate: '1 hour' })).toEqual([
      'schedule[0] INVALID_FIELD',
      'schedule[1] INVALID_FIELD',
    ]);
  });

  it('is wrong in every entry at once, each with its place', () => {
    expect(scheduled(5, { cron: 1 }, { rate: '1 day', catchUp: 'last' }, { cron: '* * *', timezone: '' })).toEqual([
      'schedule[0] INVALID_TYPE',
      'schedule[1].cron INVALID_TYPE',
      'schedule[2].catchUp INVALID_FIELD',
      'schedule[3].timezone INVALID_TIMEZONE',
      'schedule[3].cron INVALID_CRON',
    ]);
  });

  it('suggests the field that was meant', () => {
    expect(errorsOf({ schedule: [{ crn: '* * * * *' }] })[0]).toMatchObject({
      path: 'schedule[0].crn',
      code: 'UNKNOWN_FIELD',
      suggestion: 'cron',
    });
  });

  it('has an id for each entry, of its own', () => {
    const rate = '1 hour';
    expect(scheduled({ id: 'a', rate }, { id: 'b', rate }, { id: 'a', rate })).toEqual([
      'schedule[2].id DUPLICATE_ENTRY_ID',
    ]);
    expect(scheduled({ id: '1', rate }, { rate })).toEqual(['schedule[1] DUPLICATE_ENTRY_ID']);
    expect(scheduled({ id: 'a b', rate }, { id: '', rate })).toEqual([
      'schedule[0].id INVALID_ID',
      'schedule[1].id INVALID_ID',
    ]);
    expect(scheduled({ id: '__proto__', rate }, { id: 'constructor', rate })).toEqual(['schedule[0].id INVALID_ID']);
  });

  it('has a hundred entries at most', () => {
    const entries = (count: number) => Array.from({ length: count }, () => ({ rate: '1 hour' }));
    expect(scheduled(...entries(DEFINITION_LIMITS.scheduleEntries))).toEqual([]);
    expect(scheduled(...entries(DEFINITION_LIMITS.scheduleEntries + 1))).toEqual(['schedule INVALID_LIMIT']);
  });
});

describe('a cron', () => {
  it.each([
    '* * * * *',
    '0 3 * * *',
    '*/15 0-6/2,12 1,15,L JAN,jul-Sep MON-FRI',
    '59 23 31 12 7',
    '  0   0\t* * *  ',
    '0 9 * * 1#1,5L',
    '0 0 29 2 *',
  ])('may be %j', (cron) => {
    expect(scheduled({ cron })).toEqual([]);
  });

  it.each([
    ['60 * * * *', 'minute'],
    ['-1 * * * *', 'minute'],
    ['1.5 * * * *', 'minute'],
    ['5/15 * * * *', 'minute'],
    ['1,,2 * * * *', 'minute'],
    ['*/0 * * * *', 'minute'],
    ['0 24 * * *', 'hour'],
    ['0 22-2 * * *', 'hour'],
    ['0 H * * *', 'hour'],
    ['0 0 0 * *', 'day of month'],
    ['0 0 32 * *', 'day of month'],
    ['0 0 ? * *', 'day of month'],
    ['0 0 15W * *', 'day of month'],
    ['0 0 1 13 *', 'month'],
    ['0 0 1 JANUARY *', 'month'],
    ['0 0 * * 8', 'day of week'],
    ['0 0 * * +1', 'day of week'],
    ['0 0 * * 1#6', 'day of week'],
    ['0 0 * * L', 'day of week'],
  ])('C73 %j is refused, with the field: %s', (cron, field) => {
    const [error, ...others] = errorsOf({ schedule: [{ cron }] });
    expect(others).toEqual([]);
    expect(error).toMatchObject({ path: 'schedule[0].cron', code: 'INVALID_CRON', value: cron });
    expect(error?.message).toContain(`its ${field} is`);
    expect(error?.allowed).toContain(`${field}: `);
  });

  it.each(['', ' ', '* * * *', '* * * * * *', '@daily', '2026-01-01T00:00:00', '0 3 * * ? 2026', '* '.repeat(5000)])(
    'C73 has five fields: %#',
    (cron) => {
      const [error] = errorsOf({ schedule: [{ cron }] });
      expect(error).toMatchObject({ code: 'INVALID_CRON', allowed: expect.stringContaining('five fields') });
    },
  );

  it.each([
    ['0 0 30 2 *', 'UTC'],
    ['0 0 31 2,4,6,9,11 *', 'UTC'],
    ['30 2 * 3 7L', 'Europe/Berlin'],
    ['* 2 * 3 7L', 'Europe/Berlin'],
    ['*/20 2 * 3 0#2', 'America/New_York'],
  ])('that never fires is refused: %s in %s', (cron, timezone) => {
    expect(scheduled({ cron, timezone })).toEqual(['schedule[0].cron NEVER_FIRES']);
  });

  it('that fires in some zones only is judged in its own', () => {
    expect(scheduled({ cron: '30 2 * 3 7L' }, { cron: '30 2 * 3 0#2', timezone: 'Europe/Berlin' })).toEqual([]);
  });

  it('that never fires is found in time, a hundred times over', () => {
    const minutes = { cron: '* 2 * 3 7L', timezone: 'Europe/Berlin' };
    const schedule = Array.from({ length: DEFINITION_LIMITS.scheduleEntries / 2 }, () => [
      { cron: '0 0 30 2 *' },
      minutes,
    ]);
    const begin = performance.now();
    expect(errorsOf({ schedule: schedule.flat() })).toHaveLength(DEFINITION_LIMITS.scheduleEntries);
    expect(performance.now() - begin).toBeLessThan(5000);
  });
});

describe('C70 a zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'EST5EDT', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'])(
    'may be %s',
    (timezone) => {
      expect(scheduled({ cron: '* * * * *', timezone })).toEqual([]);
    },
  );

  it.each(['Mars/Base', '', ' ', '+01:00', 'UTC+1', '__proto__'])('is none: %j', (timezone) => {
    expect(scheduled({ cron: '* * * * *', timezone })).toEqual(['schedule[0].timezone INVALID_TIMEZONE']);
    expect(scheduled({ rate: '1 hour', timezone })).toEqual(['schedule[0].timezone INVALID_TIMEZONE']);
  });

  it('is suggested where it was nearly written', () => {
    const [error] = errorsOf({ schedule: [{ cron: '* * * * *', timezone: 'Europe/Berln' }] });
    expect(error).toMatchObject({ suggestion: 'Europe/Berlin' });
  });
});

describe('a rate', () => {
  it.each(['1 minute', '15 minutes', '1 hour', '1 hours', '7 days', '365 days', '525600 minutes'])(
    'may be %s',
    (rate) => {
      expect(scheduled({ rate })).toEqual([]);
    },
  );

  it.each([
    '',
    '15',
    'minutes',
    '0 minutes',
    '-1 hours',
    '1.5 hours',
    '90 seconds',
    '1 week',
    '15  minutes',
    '366 days',
    '525601 minutes',
    '1e3 minutes',
    '9999999999 days',
    'rate(1 hour)',
  ])('is none: %j', (rate) => {
    expect(scheduled({ rate })).toEqual(['schedule[0].rate INVALID_RATE']);
  });
});

describe('limits of concurrency and of nodes', () => {
  it.each([
    [{ concurrency: { maxActiveRuns: 0 } }, 'concurrency.maxActiveRuns INVALID_LIMIT'],
    [{ concurrency: { maxActiveRuns: 1001 } }, 'concurrency.maxActiveRuns INVALID_LIMIT'],
    [{ concurrency: { maxActiveRuns: '1' } }, 'concurrency.maxActiveRuns INVALID_LIMIT'],
    [{ concurrency: { onOverlap: 'cancel' } }, 'concurrency.onOverlap INVALID_FIELD'],
    [{ concurrency: 1 }, 'concurrency INVALID_TYPE'],
    [{ schedule: {} }, 'schedule INVALID_TYPE'],
    [{ schedule: [{ rate: '1 hour', catchUpWindowSeconds: 59 }] }, 'schedule[0].catchUpWindowSeconds INVALID_LIMIT'],
    [{ nodes: [{ ...nodes[0], pool: 'a pool' }] }, 'nodes[0].pool INVALID_ID'],
    [{ nodes: [{ ...nodes[0], priority: 1001 }] }, 'nodes[0].priority INVALID_LIMIT'],
    [{ nodes: [{ ...nodes[0], priority: 0.5 }] }, 'nodes[0].priority INVALID_LIMIT'],
    [{ nodes: [{ ...nodes[0], cleanup: 'yes' }] }, 'nodes[0].cleanup INVALID_TYPE'],
    [{ nodes: [{ ...nodes[0], heartbeatSeconds: 0 }] }, 'nodes[0].heartbeatSeconds INVALID_LIMIT'],
    [{ nodes: [{ ...nodes[0], heartbeatSeconds: 86_401 }] }, 'nodes[0].heartbeatSeconds INVALID_LIMIT'],
  ])('%j is %s', (fields, error) => {
    expect(codesAt(fields)).toEqual([error]);
  });
});
