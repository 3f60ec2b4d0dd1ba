import { toIsoTime } from '#domain/iso-time.ts';
import { type EngineState, engineStatus, heldSlots, type LimitRecord, parseLimitName } from '#domain/limit.ts';
import type { EngineLine } from './engine-schemas.ts';
import type { ApiDeps } from './route.ts';

/** A registered engine in one line. */
export function viewEngineLine(limit: LimitRecord, engine: EngineState, now: number): EngineLine {
  const { generation, stateMachineArn, labels, heartbeatSeconds, lastHeartbeatAt } = engine;
  return {
    name: parseLimitName(limit.name).name,
    builtIn: false,
    generation,
    stateMachineArn,
    ...(limit.slots !== undefined && { maxConcurrent: limit.slots, running: heldSlots(limit) }),
    labels: Object.fromEntries(labels),
    ...engineStatus(engine, now),
    ...(heartbeatSeconds !== undefined && { heartbeatSeconds }),
    ...(heartbeatSeconds !== undefined &&
      lastHeartbeatAt !== undefined && { lastHeartbeatAt: toIsoTime(lastHeartbeatAt) }),
  };
}

/** A registered engine. */
export function viewEngine(limit: LimitRecord, engine: EngineState, now: number) {
  return {
    ...viewEngineLine(limit, engine, now),
    ...(engine.paramsSchema && { paramsSchema: engine.paramsSchema }),
  };
}

/** An engine that comes with the installation; nothing where none of this name does. */
export function viewBuiltIn(deps: Pick<ApiDeps, 'engines'>, name: string): EngineLine | undefined {
  const engine = deps.engines.get(name);
  if (!engine) return undefined;
  return {
    name,
    builtIn: true,
    generation: 1,
    ...(engine.stateMachineArn.startsWith('arn:') && { stateMachineArn: engine.stateMachineArn }),
    labels: {},
    status: 'Available',
    reason: 'Ready',
    message: 'It takes work.',
  };
}
