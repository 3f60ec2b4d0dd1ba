/** The acceptance cases on definitions, each as a test of its own. */
import { describe, expect, it } from 'vitest';
import type { DefinitionError } from '#domain/definition.ts';
import { parseDefinition } from '#domain/definition-schema.ts';
import { taskNodes } from './task-nodes.ts';

/** Errors of a definition with these nodes; empty if it was accepted. */
function errorsOf(nodes: unknown, rest: object = {}): readonly DefinitionError[] {
  const result = parseDefinition({ name: 'case', nodes: taskNodes(nodes), ...rest });
  return result.ok ? [] : result.errors;
}

function codesAt(errors: readonly DefinitionError[]): string[] {
  return errors.map(({ path, code }) => `${path} ${code}`);
}

function milliseconds(work: () => void): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}

describe('T39 C01 cycle behind a valid root', () => {
  it('names exactly the members of the cycle, in order', () => {
    const errors = errorsOf([{ id: 'c' }, { id: 'a', dependsOn: ['c', 'b'] }, { id: 'b', dependsOn: ['a'] }]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code: 'CYCLE', path: 'nodes[1].dependsOn[1]', value: ['a', 'b'] });
    expect(errors[0]?.message).toContain('"a" → "b" → "a"');
  });

  it('leaves out an unrelated chain, and what lies below or between cycles', () => {
    const errors = errorsOf([
      { id: 'x' },
      { id: 'y', dependsOn: ['x', 'f'] },
      { id: 'd', dependsOn: ['f'] },
      { id: 'e', dependsOn: ['d'] },
      { id: 'f', dependsOn: ['e'] },
      { id: 'p', dependsOn: ['q', 'y'] },
      { id: 'q', dependsOn: ['p'] },
    ]);
    expect(errors.map(({ code, value }) => [code, value])).toEqual([
      ['CYCLE', ['d', 'e', 'f']],
      ['CYCLE', ['p', 'q']],
    ]);
  });
});

describe('C02 self-loop in a one-node pipeline', () => {
  it.each([
    ['alone', [{ id: 'a', dependsOn: ['a'] }], 'a'],
    ['behind another node', [{ id: 'a' }, { id: 'b', dependsOn: ['a', 'b'], trigger: 'one_failed' }], 'b'],
  ])('is refused %s', (_, nodes, member) => {
    expect(errorsOf(nodes).map(({ code, value }) => [code, value])).toEqual([['CYCLE', [member]]]);
  });
});

describe('C04 misspelt dependency field turns a node into a root', () => {
  it('names the node and the field and what was meant', () => {
    const errors = errorsOf([{ id: 'a' }, { id: 'b', dependOn: ['a'] }, { id: 'c', dependsOn: ['a'] }]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code: 'UNKNOWN_FIELD', path: 'nodes[1].dependOn', suggestion: 'dependsOn' });
    expect(errors[0]?.message).toContain('"dependOn" is no field of node "b"');
  });

  it('holds at the top, in retry and in defaults', () => {
    const nodes = [{ id: 'a', retry: { maxAttempt: 2 } }];
    const errors = errorsOf(nodes, { fail_fast: true, defaults: { retrys: {}, retry: { backOffRate: 2 } } });
    expect(errors.map(({ path, code, suggestion }) => [path, code, suggestion])).toEqual([
      ['defaults.retry.backOffRate', 'UNKNOWN_FIELD', 'backoffRate'],
      ['defaults.retrys', 'UNKNOWN_FIELD', 'retry'],
      ['fail_fast', 'UNKNOWN_FIELD', 'failFast'],
      ['nodes[0].retry.maxAttempt', 'UNKNOWN_FIELD', 'maxAttempts'],
    ]);
  });
});

describe('C05 blank dependency, dependency on something undeclared', () => {
  it('lists all of them in one answer', () => {
    const errors = errorsOf([
      { id: 'a' },
      { id: 'b', dependsOn: [null] },
      { id: 'c', dependsOn: [''] },
      { id: 'd', dependsOn: ['iris'] },
      { id: 'e', dependsOn: [' a'] },
      { id: 'f', dependsOn: ['  '] },
    ]);
    expect(new Set(codesAt(errors))).toEqual(
      new Set([
        'nodes[1].dependsOn[0] EMPTY_DEPENDENCY',
        'nodes[2].dependsOn[0] EMPTY_DEPENDENCY',
        'nodes[3].dependsOn[0] UNKNOWN_DEPENDENCY',
        'nodes[4].dependsOn[0] UNKNOWN_DEPENDENCY',
        'nodes[5].dependsOn[0] EMPTY_DEPENDENCY',
      ]),
    );
    const named = errors.find(({ path }) => path.startsWith('nodes[4]'));
    expect(named).toMatchObject({ value: ' a', suggestion: 'a' });
    expect(named?.message).toContain('" a"');
  });
});

describe('T32 C07 pipeline with no nodes', () => {
  it.each([
    ['an empty list', [], 'EMPTY_PIPELINE'],
    ['no field', undefined, 'INVALID_TYPE'],
    ['null', null, 'INVALID_TYPE'],
    ['an object', {}, 'INVALID_TYPE'],
  ])('refuses %s', (_, nodes, code) => {
    expect(codesAt(errorsOf(nodes))).toEqual([`nodes ${code}`]);
  });
});

describe('C08 long ids cut to the same name', () => {
  const twins = ['x', 'y'].map((end) => `${'x'.repeat(199)}${end}`);

  it('keeps ids of exactly the limit apart', () => {
    const [first, second] = twins as [string, string];
    const result = parseDefinition({
      name: 'n'.repeat(128),
      nodes: taskNodes([{ id: first }, { id: second, dependsOn: [first] }]),
    });
    expect(result.ok && result.definition.nodes.map(({ id }) => id)).toEqual(twins);
  });

  it('refuses one character more and says how many there are', () => {
    const errors = errorsOf([{ id: 'x'.repeat(201) }], { name: 'n'.repeat(129) });
    expect(codesAt(errors)).toEqual(['name ID_TOO_LONG', 'nodes[0].id ID_TOO_LONG']);
    expect(errors[0]?.message).toContain('has 129 characters; the limit is 128');
    expect(errors[1]?.message).toContain('has 201 characters; the limit is 200');
  });

  it('counts characters, not UTF-16 units', () => {
    expect(errorsOf([{ id: '😀'.repeat(200) }])).toEqual([]);
    expect(codesAt(errorsOf([{ id: '😀'.repeat(201) }]))).toEqual(['nodes[0].id ID_TOO_LONG']);
  });
});

describe('C10 ids that are names of object members', () => {
  const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'];
  const chain = ids.map((id, position) => ({
    id,
    dependsOn: ids.slice(Math.max(0, position - 1), position),
    params: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as object,
  }));

  it('takes them as ordinary ids and keys', () => {
    const result = parseDefinition({ name: 'members', nodes: taskNodes(chain) });
    expect(result.ok && result.definition.nodes.map(({ id }) => id)).toEqual(ids);
    const params = (result.ok && result.definition.nodes[0]?.params) as object;
    expect(Object.keys(params)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(params)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('finds no inherited member as an upstream', () => {
    const errors = errorsOf([...chain, { id: 'd', dependsOn: ['valueOf'] }]);
    expect(codesAt(errors)).toEqual(['nodes[5].dependsOn[0] UNKNOWN_DEPENDENCY']);
  });
});

describe('C11 ids that look like numbers, literals or operators', () => {
  const ids = ['10', '2', '1e3', '007', 'true', 'null', 'split', '8902d36c-bc65-5b0d-848f-88aed72d7849'];

  it('keeps them exactly, in definition order, with conditions on each other', () => {
    const nodes = ids.map((id, position) => {
      const before = ids[position - 1];
      return before === undefined ? { id } : { id, dependsOn: [before], when: `{% $nodes.'${before}'.output.go %}` };
    });
    const result = parseDefinition({ name: 'odd', nodes: taskNodes(nodes) });
    expect(result.ok ? result.definition.nodes.map(({ id }) => id) : result.errors).toEqual(ids);
  });

  it('tells 007 from 7, and composed from decomposed characters', () => {
    expect(errorsOf([{ id: '007' }, { id: '7' }, { id: 'é' }, { id: 'e\u0301' }])).toEqual([]);
    expect(codesAt(errorsOf([{ id: '007' }, { id: 'b', dependsOn: ['7'] }]))).toEqual([
      'nodes[1].dependsOn[0] UNKNOWN_DEPENDENCY',
    ]);
  });

  it('says how to write an id that came as a number', () => {
    expect(errorsOf([{ id: 10 }, { id: 'b', dependsOn: [true] }])).toMatchObject([
      { code: 'INVALID_TYPE', path: 'nodes[0].id', suggestion: '"10"' },
      { code: 'INVALID_TYPE', path: 'nodes[1].dependsOn[0]', suggestion: '"true"' },
    ]);
  });
});

describe('C13 zero, negative and absurd limits', () => {
  const whole = 'a whole number from 1 to';
  it.each([
    ['timeoutSeconds', [0, -5, Number.NaN, 1e15, 1.5, '2', null, Number.POSITIVE_INFINITY], `${whole} 31536000`],
    ['retry.maxAttempts', [0, -1, 1e9, 1.5, '2', Number.NaN], `${whole} 10000`],
    ['retry.backoffRate', [0, -2, '2', 1e9, Number.NaN], 'a number from 1 to 100'],
    ['retry.intervalSeconds', [-1, 86_401, '2'], 'a number from 0 to 86400'],
    ['retry.maxDelaySeconds', [-1, 86_401], 'a number from 0 to 86400'],
  ])('refuses %s out of range', (field, values, allowed) => {
    for (const value of values) {
      const [outer, inner] = field.split('.') as [string, string?];
      const errors = errorsOf([{ id: 'a', [outer]: inner === undefined ? value : { [inner]: value } }]);
      expect(errors).toMatchObject([{ code: 'INVALID_LIMIT', path: `nodes[0].${field}`, allowed }]);
      const shown = typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
      expect(errors[0]?.value).toEqual(shown);
      expect(errors[0]?.message).toContain(allowed);
    }
  });

  it('holds for the run and for the defaults', () => {
    const errors = errorsOf([{ id: 'a' }], { timeoutSeconds: 0, retainDays: 0, defaults: { timeoutSeconds: 0 } });
    expect(codesAt(errors)).toEqual([
      'timeoutSeconds INVALID_LIMIT',
      'retainDays INVALID_LIMIT',
      'defaults.timeoutSeconds INVALID_LIMIT',
    ]);
  });
});

describe('C14 validation that takes exponential time', () => {
  it('joins 27 roots at once', () => {
    const roots = Array.from({ length: 27 }, (_, root) => ({ id: `r${root}` }));
    const nodes = [...roots, { id: 'join', dependsOn: roots.map(({ id }) => id) }];
    expect(milliseconds(() => expect(errorsOf(nodes)).toEqual([]))).toBeLessThan(1000);
  });

  it('walks 30 diamonds in a row once', () => {
    const nodes: { id: string; dependsOn?: string[]; when?: string }[] = [{ id: 'j0' }];
    for (let step = 1; step <= 30; step += 1) {
      const above = `j${step - 1}`;
      nodes.push({ id: `l${step}`, dependsOn: [above] }, { id: `r${step}`, dependsOn: [above] });
      nodes.push({ id: `j${step}`, dependsOn: [`l${step}`, `r${step}`], when: '{% $nodes.j0.output %}' });
    }
    expect(nodes).toHaveLength(91);
    expect(milliseconds(() => expect(errorsOf(nodes)).toEqual([]))).toBeLessThan(1000);
  });

  it('refuses 124,750 edges by their number, and takes the most that is allowed', () => {
    const dense = (size: number) =>
      Array.from({ length: size }, (_, node) => ({
        id: `n${node}`,
        dependsOn: Array.from({ length: node }, (_, upstream) => `n${upstream}`),
      }));
    const [tooMany, most] = [dense(500), dense(447)];
    expect(milliseconds(() => expect(codesAt(errorsOf(tooMany))).toEqual(['nodes TOO_MANY_EDGES']))).toBeLessThan(1000);
    expect(milliseconds(() => expect(errorsOf(most)).toEqual([]))).toBeLessThan(1000);
  });

  it('takes 10,000 nodes in a chain, and names a circle of all of them', () => {
    const chain = Array.from({ length: 10_000 }, (_, node) => ({
      id: `n${node}`,
      dependsOn: node === 0 ? [] : [`n${node - 1}`],
    }));
    expect(milliseconds(() => expect(errorsOf(chain)).toEqual([]))).toBeLessThan(1000);
    const circle = chain.map((node, position) => (position === 0 ? { ...node, dependsOn: ['n9999'] } : node));
    const [error, ...others] = errorsOf(circle);
    expect(others).toEqual([]);
    expect(error?.code).toBe('CYCLE');
    expect(error?.value).toEqual(chain.map(({ id }) => id));
  });
});
