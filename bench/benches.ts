import { aggregateSize } from './aggregate-size.ts';
import type { Bench } from './bench.ts';
import { burst } from './burst.ts';
import { chain50 } from './chain-50.ts';
import { checks } from './checks.ts';
import { counters, countersLarge, growth } from './counters.ts';
import { fairness } from './fairness.ts';
import { fan200 } from './fan-200.ts';
import { idle } from './idle.ts';
import { layersAlone } from './layers-alone.ts';
import { burstLimited, chain50Limited, fan200Limited } from './limited.ts';
import { longNodes } from './long-nodes.ts';
import { mapAlone } from './map-alone.ts';
import { memory } from './memory.ts';
import { startTime } from './start-time.ts';
import { stepAlone } from './step.ts';
import { tick } from './tick.ts';
import { waiting } from './waiting.ts';

/** All benches, in the order in which they run. */
export const benches: readonly Bench[] = [
  counters,
  countersLarge,
  growth,
  chain50,
  fan200,
  burst,
  chain50Limited,
  fan200Limited,
  burstLimited,
  memory,
  idle,
  startTime,
  checks,
  stepAlone,
  mapAlone,
  layersAlone,
  aggregateSize,
  tick,
  longNodes,
  waiting,
  fairness,
];
