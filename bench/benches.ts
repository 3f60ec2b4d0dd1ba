import { aggregateSize } from './aggregate-size.ts';
import type { Bench } from './bench.ts';
import { bundles } from './bundles.ts';
import { burst } from './burst.ts';
import { chain50 } from './chain-50.ts';
import { checks } from './checks.ts';
import { counters, countersLarge, growth } from './counters.ts';
import { day } from './day.ts';
import { fairness } from './fairness.ts';
import { fan200 } from './fan-200.ts';
import { idle } from './idle.ts';
import { latencyModel } from './latency-model.ts';
import { layersAlone } from './layers-alone.ts';
import { burstLimited, chain50Limited, fan200Limited } from './limited.ts';
import { longNodes } from './long-nodes.ts';
import { mapAlone } from './map-alone.ts';
import { memory } from './memory.ts';
import { quotas } from './quotas.ts';
import { startTime } from './start-time.ts';
import { stepAlone } from './step.ts';
import { tick, tickOnTable } from './tick.ts';
import { waiting } from './waiting.ts';

/** What runs where nothing is chosen, in this order; all of it takes less than eight minutes on two quiet cores. */
const ALWAYS: readonly Bench[] = [
  counters,
  latencyModel,
  chain50,
  fan200,
  burst,
  memory,
  idle,
  startTime,
  bundles,
  checks,
  stepAlone,
  mapAlone,
  layersAlone,
  aggregateSize,
  tick,
  day,
];

/** What runs where it is chosen. */
const WHEN_CHOSEN: readonly Bench[] = [
  countersLarge,
  growth,
  chain50Limited,
  fan200Limited,
  burstLimited,
  tickOnTable,
  longNodes,
  waiting,
  fairness,
  quotas,
];

/** All benches. */
export const benches: readonly Bench[] = [
  ...ALWAYS,
  ...WHEN_CHOSEN.map((bench): Bench => ({ ...bench, isLong: true })),
];
