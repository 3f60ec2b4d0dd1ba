/** The tables of trigger rules, states and reasons say what the code does. */
import { describe, expect, it } from 'vitest';
import { TRIGGER_RULES } from '#domain/definition.ts';
import { isVector, type NodeState, statusOf } from '#domain/node-status.ts';
import { REASONS } from '#domain/reasons.ts';
import { isRetried, toRetryPolicy } from '#domain/retry.ts';
import { RUN_STATES } from '#domain/run.ts';
import { decideTrigger, type TriggerDecision } from '#domain/trigger.ts';
import { NODE_STATES } from '#http/field-schemas.ts';
import { columnOf, readPage, tableRows } from './docs-pages.ts';

const rulesPage = readPage('docs/reference/trigger-rules.md');
const statesPage = readPage('docs/reference/states.md');

const DECISIONS: Record<TriggerDecision, string> = {
  wait: 'waits',
  run: 'RUN',
  skip: 'SKIPPED',
  upstreamFailed: 'UPSTREAM_FAILED',
};

/** `S B`: one upstream that succeeded, one that is bad. */
function countsOf(upstreams: string) {
  const kinds = upstreams.split(' ');
  const count = (kind: string) => kinds.filter((each) => each === kind).length;
  return { total: kinds.length, success: count('S'), bad: count('B'), skipped: count('K'), stopped: 0 };
}

describe('trigger rules', () => {
  it('are all there, in both tables', () => {
    expect(
      tableRows(rulesPage)
        .filter((row) => row.has('RUN'))
        .map((row) => row.get('rule')?.split(' ')[0]),
    ).toEqual(TRIGGER_RULES);
    expect(columnOf(rulesPage, 'What each rule makes of its upstreams', 'rule')).toEqual(TRIGGER_RULES);
  });

  it.each(TRIGGER_RULES)('%s decides as its row says', (rule) => {
    const row = tableRows(rulesPage, 'What each rule makes of its upstreams').find((each) => each.get('rule') === rule);
    const { rule: _rule, ...told } = Object.fromEntries(row ?? []);
    const decided = Object.keys(told).map((upstreams) => [
      upstreams,
      DECISIONS[decideTrigger(rule, countsOf(upstreams))],
    ]);
    expect(Object.keys(told).length).toBeGreaterThan(5);
    expect(told).toEqual(Object.fromEntries(decided));
  });
});

/** Every state of a node with its reasons, from the letters that a run is stored in. */
const statuses = Array.from({ length: 128 }, (_, byte) => String.fromCharCode(byte))
  .filter(isVector)
  .map((letter) => statusOf(letter.charCodeAt(0)));

describe('states', () => {
  it('of nodes are all there', () => {
    expect(columnOf(statesPage, 'States of a node', 'state')).toEqual(NODE_STATES);
  });

  it('of nodes say which are over', () => {
    const over = new Set(statuses.filter(({ standing }) => standing !== 'open').map(({ state }) => state));
    for (const row of tableRows(statesPage, 'States of a node')) {
      expect(row.get('over')).toBe(over.has(row.get('state') as NodeState) ? 'yes' : 'no');
    }
  });

  it('of runs are all there', () => {
    expect(columnOf(statesPage, 'States of a run', 'state').sort()).toEqual([...RUN_STATES].sort());
  });
});

describe('reasons', () => {
  const rows = tableRows(statesPage, 'Reasons');
  const ofNodes = rows.filter((row) => row.has('state of a node'));

  it('of nodes that the code gives are in the table, with their states', () => {
    const told = new Set(ofNodes.map((row) => `${row.get('state of a node')} ${row.get('reason')}`));
    expect(statuses.map(({ state, reason }) => `${state} ${reason}`).filter((status) => !told.has(status))).toEqual([]);
  });

  it('are all on the page', () => {
    const given = new Set(rows.flatMap((row) => row.get('reason')?.split(', ') ?? []));
    expect([...given].sort()).toEqual([...REASONS].sort());
  });
});

describe('errors of attempts', () => {
  const policy = toRetryPolicy({ maxAttempts: 2 });
  const rows = tableRows(statesPage, 'Errors of attempts').flatMap((row) =>
    (row.get('name') ?? '')
      .split(', ')
      .filter((name) => /^[A-Z]\w+\.\w+$/.test(name))
      .map((name) => ({ name, told: row.get('tried again by States.ALL') })),
  );
  /** Decided without a policy: no execution of an attempt can end so. */
  const undecided = [
    'ExpressionError',
    'InvalidParams',
    'ItemsFailed',
    'MarkedByUser',
    'QueueTimeout',
    'UpstreamFailed',
    'AbortedOutside',
    'StopUnconfirmed',
  ].map((name) => `Millrace.${name}`);

  it('are many', () => {
    expect(rows.length).toBeGreaterThan(12);
  });

  it.each(rows)('$name is tried again: $told', ({ name, told }) => {
    const isTried = !undecided.includes(name) && isRetried(policy, 1, name);
    expect(told).toBe(isTried ? 'yes' : 'no');
  });
});
