/** Whether engines whose owners were silent were left alone. */

import { machineArn } from '#testing/stage.ts';
import { isQuiet } from './chance.ts';
import { require } from './invariant-error.ts';
import type { Plan, PlannedLimit } from './plan.ts';
import type { World } from './world.ts';

/** How long a pass that saw the engine available may take to start something on it (ms). */
const SLACK_MS = 5_000;

/** Where nothing goes wrong, nothing is started on an engine whose owner was silent for too long. */
export function checkSilences(plan: Plan, world: World): void {
  if (!isQuiet(plan) || plan.startsPerSecond !== undefined) return;
  for (const limit of plan.limits ?? []) {
    if (limit.changes.some(({ heartbeatSeconds }) => heartbeatSeconds !== undefined)) checkEngine(world, limit);
  }
}

function checkEngine(world: World, { name, changes }: PlannedLimit): void {
  const arn = machineArn(name);
  const started = [...world.executions.started.values()].filter(({ stateMachineArn }) => stateMachineArn === arn);
  for (const { name: execution, startedAt } of started) {
    const before = changes.filter(({ atMs }) => world.beganAt + atMs <= startedAt);
    const registered = before.findLast(({ to }) => to !== 'beat');
    const heardAt = world.beganAt + (before.at(-1)?.atMs ?? 0);
    const mostMs = (registered?.heartbeatSeconds ?? Number.POSITIVE_INFINITY) * 1000 + SLACK_MS;
    const silentMs = startedAt - heardAt;
    require(world, silentMs <= mostMs, () => `${execution} started on ${name}, silent for ${silentMs} ms`);
  }
}
