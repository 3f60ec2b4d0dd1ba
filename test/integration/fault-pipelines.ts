import type { NodeDefinition, PipelineDefinition } from '#domain/definition.ts';

/** A pipeline, and how its run has to end whatever goes wrong around it. */
export interface Scenario {
  readonly definition: PipelineDefinition;
  readonly state: 'SUCCEEDED' | 'FAILED';
  readonly output?: unknown;
  /** State and number of attempts of the nodes for which it is not `SUCCEEDED` at the first. */
  readonly others: ReadonlyMap<string, readonly [state: string, attempts: number]>;
}

type More = Partial<NodeDefinition> & { readonly fails?: 'first' | 'always' };

/** A node of the function `step`; how long it takes and where its trace goes, the run's input says. */
function node(id: string, dependsOn: readonly string[] = [], { fails, ...more }: More = {}): NodeDefinition {
  const payload = { ms: '{% $run.input.ms %}', log: '{% $run.input.log %}', ...(fails && { fails }) };
  return {
    id,
    ...(dependsOn.length > 0 && { dependsOn }),
    engine: 'lambda',
    params: { function: 'step', payload },
    ...more,
  } as NodeDefinition;
}

function plain(name: string, nodes: readonly NodeDefinition[]): Scenario {
  return { definition: { name, nodes } as PipelineDefinition, state: 'SUCCEEDED', others: new Map() };
}

/** Node after node. */
export function chain(length: number): Scenario {
  const ids = Array.from({ length }, (_, index) => `n${index}`);
  return plain(
    `chain-${length}`,
    ids.map((id, index) => node(id, ids.slice(Math.max(0, index - 1), index))),
  );
}

/** One, then two at once, then one. */
export function diamond(): Scenario {
  return plain('diamond', [node('top'), node('left', ['top']), node('right', ['top']), node('end', ['left', 'right'])]);
}

/** One, then many at once, then one. */
export function fan(width: number): Scenario {
  const ids = Array.from({ length: width }, (_, index) => `w${index}`);
  return plain(`fan-${width}`, [node('first'), ...ids.map((id) => node(id, ['first'])), node('last', ids)]);
}

/** A retry, a condition that is false, a failure that is allowed and what hangs on it, and an output. */
export function mixed(): Scenario {
  const nodes = [
    node('first'),
    node('steady', ['first']),
    node('flaky', ['first'], { fails: 'first', retry: { maxAttempts: 3, intervalSeconds: 1 } }),
    node('unwanted', ['steady'], { when: "{% $nodes.steady.output.node = 'other' %}" }),
    node('hopeless', ['first'], { fails: 'always', allowFailure: true }),
    node('after-hopeless', ['hopeless']),
    node('last', ['flaky', 'unwanted', 'hopeless', 'after-hopeless'], { trigger: 'all_done' }),
  ];
  return {
    definition: { name: 'mixed', nodes, output: '{% $nodes.last.output.node %}' } as PipelineDefinition,
    state: 'SUCCEEDED',
    output: 'last',
    others: new Map([
      ['flaky', ['SUCCEEDED', 2]],
      ['unwanted', ['SKIPPED', 0]],
      ['hopeless', ['FAILED', 1]],
      ['after-hopeless', ['UPSTREAM_FAILED', 0]],
    ]),
  };
}

/** A failure that nobody allowed, beside a branch that goes well. */
export function failing(): Scenario {
  const nodes = [
    node('first'),
    node('bad', ['first'], { fails: 'always' }),
    node('below', ['bad']),
    node('good', ['first']),
    node('tail', ['good']),
  ];
  return {
    definition: { name: 'failing', nodes } as PipelineDefinition,
    state: 'FAILED',
    others: new Map([
      ['bad', ['FAILED', 1]],
      ['below', ['UPSTREAM_FAILED', 0]],
    ]),
  };
}
