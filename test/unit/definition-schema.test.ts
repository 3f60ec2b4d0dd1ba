import { describe, expect, it } from 'vitest';
import { DEFINITION_LIMITS, type DefinitionError } from '#domain/definition.ts';
import { parseDefinition } from '#domain/definition-schema.ts';
import { taskNodes } from './task-nodes.ts';

function errorsOf(nodes: unknown, rest: object = {}): readonly DefinitionError[] {
  const result = parseDefinition({ name: 'p', nodes: taskNodes(nodes), ...rest });
  return result.ok ? [] : result.errors;
}

function codesAt(errors: readonly DefinitionError[]): string[] {
  return errors.map(({ path, code }) => `${path} ${code}`);
}

describe('parseDefinition', () => {
  it('gives a definition with every field back as it was', () => {
    const definition = {
      name: 'etl',
      description: 'Nightly load',
      timeoutSeconds: 7200,
      failFast: true,
      events: 'nodes',
      retainDays: 30,
      defaults: { retry: { maxAttempts: 2, jitter: 'none' }, timeoutSeconds: 900 },
      nodes: [
        { id: 'extract', engine: 'lambda', params: { function: 'f', payload: { day: '{% $run.input.day %}' } } },
        {
          id: 'load',
          engine: 'task',
          dependsOn: ['extract'],
          trigger: 'all_done',
          when: '{% $nodes.extract.output.rows > 0 %}',
          retry: {
            maxAttempts: 4,
            intervalSeconds: 0.5,
            backoffRate: 1.5,
            maxDelaySeconds: 300,
            jitter: 'full',
            on: ['States.TaskFailed'],
            notOn: ['BadInput'],
          },
          timeoutSeconds: 600,
          allowFailure: true,
        },
      ],
      output: { rows: '{% $nodes.load.output %}' },
    };
    expect(parseDefinition(definition)).toEqual({ ok: true, definition });
  });

  it('copies: later changes of what was given change nothing', () => {
    const nodes = [{ id: 'a', engine: 'task', params: { list: [1] } }];
    const result = parseDefinition({ name: 'p', nodes });
    nodes[0]?.params.list.push(2);
    expect(result.ok && result.definition.nodes[0]?.params).toEqual({ list: [1] });
  });

  it('takes absent and undefined fields as the same', () => {
    const result = parseDefinition({
      name: 'p',
      nodes: [{ id: 'a', engine: 'task', when: undefined }],
      output: undefined,
    });
    expect(result).toEqual({ ok: true, definition: { name: 'p', nodes: [{ id: 'a', engine: 'task' }] } });
  });

  it.each([undefined, null, 1, 'x', true, [], () => 1])('refuses %s as a whole', (value) => {
    const result = parseDefinition(value);
    expect(result.ok ? [] : codesAt(result.errors)).toEqual([' INVALID_TYPE']);
  });

  it('finds all errors at once', () => {
    const errors = errorsOf(
      [{ id: 'a', trigger: 'all_sucess' }, { id: 'a', params: [] }, { id: '' }, { dependsOn: 'a' }, 7],
      { failFast: 'yes', nope: 1, name: 'not valid' },
    );
    expect(new Set(codesAt(errors))).toEqual(
      new Set([
        'name INVALID_ID',
        'failFast INVALID_TYPE',
        'nope UNKNOWN_FIELD',
        'nodes[0].trigger INVALID_FIELD',
        'nodes[1].id DUPLICATE_NODE_ID',
        'nodes[1].params INVALID_TYPE',
        'nodes[2].id INVALID_ID',
        'nodes[3].id INVALID_TYPE',
        'nodes[3].dependsOn INVALID_TYPE',
        'nodes[4] INVALID_TYPE',
      ]),
    );
    const trigger = errors.find(({ path }) => path.endsWith('trigger'));
    expect(trigger).toMatchObject({ value: 'all_sucess', suggestion: 'all_success' });
    expect(trigger?.allowed).toContain('all_done | one_success');
  });

  it('takes a field at the wrong place for unknown', () => {
    expect(codesAt(errorsOf([{ id: 'a', schedule: [] }], { map: {} }))).toEqual([
      'map UNKNOWN_FIELD',
      'nodes[0].schedule UNKNOWN_FIELD',
    ]);
  });

  it('tells twice the same id from twice the same edge', () => {
    const errors = errorsOf([{ id: 'a' }, { id: 'b', dependsOn: ['a', 'a'] }, { id: 'a', dependsOn: ['b'] }]);
    expect(codesAt(errors)).toEqual(['nodes[2].id DUPLICATE_NODE_ID', 'nodes[1].dependsOn[1] DUPLICATE_EDGE']);
    expect(errors[0]?.message).toContain('first at nodes[0]');
    expect(errors[1]?.message).toContain('first at dependsOn[0]');
  });

  it.each([
    ['blank', ' \u00a0'],
    ['with a line break', 'a\nb'],
    ['with a C1 control character', 'a\u0085'],
    ['with half a surrogate pair', 'a\ud800'],
  ])('refuses an id %s', (_, id) => {
    expect(errorsOf([{ id }]).map(({ code }) => code)).toContain('INVALID_ID');
  });

  it.each(['a b', ' a ', '日本', '😀', '$', "it's", '{% x %}', '.', 'b64.x'])('takes the id %j', (id) => {
    expect(errorsOf([{ id }])).toEqual([]);
  });

  it('bounds its answer and says how much it left out', () => {
    const nodes = Array.from({ length: 3000 }, (_, node) => ({ id: `n${node}`, dependsOn: ['nowhere'] }));
    const errors = errorsOf(nodes);
    expect(errors).toHaveLength(DEFINITION_LIMITS.errors + 1);
    expect(errors.at(-1)).toMatchObject({ code: 'MORE_ERRORS' });
    expect(errors.at(-1)?.message).toContain('2000 more errors');
  });

  it('refuses more nodes than the limit', () => {
    const nodes = Array.from({ length: 10_001 }, (_, node) => ({ id: `n${node}` }));
    expect(errorsOf(nodes)).toMatchObject([{ code: 'TOO_MANY_NODES', value: 10_001, allowed: 'at most 10000 nodes' }]);
  });

  it('answers hostile lists of millions of entries in bounded time', () => {
    const many = Array.from({ length: 1_500_000 }, () => 1);
    expect(errorsOf(many).length).toBeLessThanOrEqual(DEFINITION_LIMITS.errors + 1);
    expect(codesAt(errorsOf([{ id: 'a', dependsOn: many }]))).toContain('nodes[0].dependsOn TOO_MANY_EDGES');
    expect(codesAt(errorsOf([{ id: 'a', retry: { on: many } }]))).toContain('nodes[0].retry.on INVALID_LIMIT');
  });

  it('refuses a definition that is too large', () => {
    const description = 'é'.repeat(DEFINITION_LIMITS.definitionBytes / 2);
    expect(codesAt(errorsOf([{ id: 'a' }], { description }))).toEqual([' TOO_LARGE']);
  });
});

describe('parseDefinition, values inside params and output', () => {
  const paramsErrors = (params: unknown) => codesAt(errorsOf([{ id: 'a', params }]));

  it.each([
    ['a function', { x: () => 1 }, 'nodes[0].params.x INVALID_TYPE'],
    ['a date', { x: new Date(0) }, 'nodes[0].params.x INVALID_TYPE'],
    ['a map', { x: new Map() }, 'nodes[0].params.x INVALID_TYPE'],
    ['a bigint', { x: 1n }, 'nodes[0].params.x INVALID_TYPE'],
    ['a hole in a list', { x: [undefined] }, 'nodes[0].params.x[0] INVALID_TYPE'],
    ['NaN', { x: Number.NaN }, 'nodes[0].params.x NUMBER_OUT_OF_RANGE'],
    ['a large integer', { x: 2 ** 53 + 2 }, 'nodes[0].params.x NUMBER_OUT_OF_RANGE'],
    ['half a surrogate pair', { 'odd key': '\udc00' }, 'nodes[0].params["odd key"] INVALID_UNICODE'],
  ])('refuses %s', (_, params, error) => {
    expect(paramsErrors(params)).toEqual([error]);
  });

  it('takes large and small numbers that lose nothing', () => {
    expect(paramsErrors({ x: [2 ** 53, -(2 ** 53), 1.5e300, 5e-324, -0, 0.1] })).toEqual([]);
  });

  it('refuses nesting beyond 100 levels, circles included', () => {
    const nested = (levels: number) => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level += 1) value = [value];
      return { x: value };
    };
    // The document, the list of nodes, the node and params are four levels.
    expect(paramsErrors(nested(96))).toEqual([]);
    expect(paramsErrors(nested(97)).map((error) => error.split(' ')[1])).toEqual(['TOO_DEEP']);
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(paramsErrors(circle)[0]).toContain('TOO_DEEP');
  });

  it('ends on a small structure that stands for a huge one', () => {
    let value: unknown = 1;
    for (let level = 0; level < 90; level += 1) value = [value, value];
    expect(paramsErrors({ value })).toContain(' TOO_LARGE');
  });
});

describe('parseDefinition, expressions', () => {
  const chain = (last: object) => [
    { id: 'a' },
    { id: 'b', dependsOn: ['a'] },
    { id: 'c', dependsOn: ['b'], ...last },
    { id: 'd' },
  ];

  it('takes direct and indirect upstreams', () => {
    const params = { x: ['{% $nodes.a.output %}'], y: '{% $nodes.b.output %}', all: '{% $nodes %}' };
    expect(errorsOf(chain({ when: '{% $nodes.a.state = "SUCCEEDED" %}', params }))).toEqual([]);
  });

  it.each([
    ['a node beside it', 'd', 'is not upstream of node "c"'],
    ['itself', 'c', 'is not upstream of node "c"'],
    ['no node', 'aa', 'is no node of this pipeline'],
  ])('refuses to read %s', (_, id, message) => {
    const errors = errorsOf(chain({ when: `{% $nodes.${id}.output %}`, params: { x: `{% $nodes.${id} %}` } }));
    expect(codesAt(errors)).toEqual(['nodes[2].when INVALID_EXPRESSION', 'nodes[2].params.x INVALID_EXPRESSION']);
    for (const error of errors) expect(error.message).toContain(message);
  });

  it('lets the output read any node that exists', () => {
    expect(errorsOf(chain({}), { output: ['{% $nodes.d.output %}'] })).toEqual([]);
    expect(errorsOf(chain({}), { output: '{% $nodes.extrakt %}' })).toMatchObject([
      { code: 'INVALID_EXPRESSION', path: 'output' },
    ]);
  });

  it('says where an expression cannot be parsed', () => {
    const [error] = errorsOf([{ id: 'a', params: { x: '{% 1 + %}' } }]);
    expect(error).toMatchObject({ code: 'INVALID_EXPRESSION', path: 'nodes[0].params.x', value: '1 +' });
    expect(error?.message).toContain('at character 3');
  });

  it.each(['yes', '', '{% a', 'a %}'])('refuses %j as a condition', (when) => {
    expect(codesAt(errorsOf([{ id: 'a', when }]))).toEqual(['nodes[0].when INVALID_EXPRESSION']);
  });

  it('refuses half an expression in params, and leaves other text alone', () => {
    const params = { begun: '{% a', ended: 'a %}', text: 'a {% b %} c', '{% key': 1 };
    expect(codesAt(errorsOf([{ id: 'a', params }]))).toEqual([
      'nodes[0].params.begun INVALID_EXPRESSION',
      'nodes[0].params.ended INVALID_EXPRESSION',
    ]);
  });

  it('only names the circle where there is one', () => {
    const errors = errorsOf([
      { id: 'a', dependsOn: ['b'], when: '{% $nodes.b.output and $nodes.c.output %}' },
      { id: 'b', dependsOn: ['a'] },
      { id: 'c' },
    ]);
    expect(errors.map(({ code }) => code)).toEqual(['CYCLE']);
  });

  it('refuses more expressions than it could check in time', () => {
    const costly = (seed: number) => `{% $nodes.n0.x${seed}${'.a'.repeat(950)} %}`;
    const nodes = Array.from({ length: 200 }, (_, node) => ({
      id: `n${node}`,
      ...(node === 0 ? {} : { dependsOn: ['n0'], params: { x: costly(node) } }),
    }));
    expect(codesAt(errorsOf(nodes))).toContain(' TOO_LARGE');
  });

  it('checks ten thousand references across a wide and deep graph within seconds', () => {
    const nodes = Array.from({ length: 10_000 }, (_, node) => ({
      id: `n${node}`,
      dependsOn: Array.from({ length: Math.min(node, 10) }, (_, back) => `n${node - back - 1}`),
      params: node > 50 ? { x: `{% $nodes.n${node - 50}.output %}` } : {},
    }));
    expect(errorsOf(nodes)).toEqual([]);
  });
});
