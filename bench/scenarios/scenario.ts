/** What the counters are counted on: DAGs whose every node is a Lambda function that does nothing. */
import type { Json } from '#domain/json.ts';

/** A node as the HTTP API takes it. */
export interface ScenarioNode {
  readonly id: string;
  readonly dependsOn?: readonly string[];
  /** Items that it runs for, all at once. @default it is no map */
  readonly items?: number;
  /** What the function is given. @default the outputs of its upstreams; nothing where the engine is a limited one */
  readonly payload?: Json;
}

/** Runs of one pipeline, started at once. */
export interface Scenario {
  /** Names its column. */
  readonly name: string;
  readonly nodes: readonly ScenarioNode[];
  readonly runs: number;
  /** Executions in all, of nodes and of items of maps. */
  readonly executions: number;
  /** Slots of the engine that all nodes use. @default the engine `lambda`, which has no limit */
  readonly slots?: number;
}

/** The definition of a scenario's pipeline, as the HTTP API takes it. */
export function definitionOf(scenario: Scenario): object {
  const { nodes, slots } = scenario;
  const engine = slots === undefined ? {} : { engine: engineOf(slots) };
  return {
    name: pipelineOf(scenario),
    nodes: nodes.map(({ payload = slots === undefined ? undefined : {}, items, ...node }) => ({
      ...node,
      ...engine,
      ...(items !== undefined && { map: { items: `{% [1..${items}] %}`, maxConcurrency: items } }),
      params: { function: 'noop', ...(payload !== undefined && { payload }) },
    })),
  };
}

/** The name of a scenario's pipeline. */
export function pipelineOf({ name, slots }: Scenario): string {
  return `${slots === undefined ? 'free' : engineOf(slots)}-${name.replaceAll(/[^a-zA-Z0-9]+/g, '-')}`;
}

/** The name of the engine that has so many slots. */
export function engineOf(slots: number): string {
  return `slots-${slots}`;
}

/** The same nodes through an engine of so many slots. */
export function limited(scenario: Scenario, slots: number): Scenario {
  return { ...scenario, slots };
}
