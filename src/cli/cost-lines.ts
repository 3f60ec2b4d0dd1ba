import { costOf, PRICES } from '#local/aws-prices.ts';
import { counted, number } from './counts-text.ts';
import type { Style } from './output.ts';
import type { ChaosFigures, RunCounters } from './run-counters.ts';

/** APIs that are named one by one for each service. */
const NAMED_APIS = 4;

/** What a run did on the wire, and what that would cost. `nodeCount` is for the figures of one node. */
export function costLines(counters: RunCounters, nodeCount: number, style: Style): string[] {
  const { calls, writeUnits, readUnits, transitions, events, invocations, ownRequests } = counters;
  const perNode = (units: number) => (nodeCount === 0 ? '' : ` (${number(units / nodeCount, 2)} a node)`);
  const services = Object.entries(calls).map(([service, apis]) => `    ${service.padEnd(9)} ${callsText(apis)}`);
  const { dollars } = costOf(counters);
  return [
    style.bold('Counted on the wire'),
    `  ${number(writeUnits, 1)} write units${perNode(writeUnits)}, ${number(readUnits, 1)} read units${perNode(readUnits)}, ${counted(transitions, 'state transition')}, ${counted(events, 'event')}, ${counted(invocations, 'invocation')}`,
    style.dim('  calls'),
    ...services,
    `  on AWS: US$ ${dollars.toFixed(6)}, or ${(dollars * 1000).toFixed(2)} for a thousand such runs`,
    style.dim(
      `  list prices of ${PRICES.region}, ${PRICES.readOn}, no free tier; ${counted(ownRequests, 'HTTP request')}, and what they caused, are this command's own`,
    ),
  ];
}

function callsText(apis: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(apis).sort(([, a], [, b]) => b - a);
  const total = sorted.reduce((sum, [, times]) => sum + times, 0);
  const named = sorted.slice(0, NAMED_APIS).map(([api, times]) => `${api} ${number(times)}`);
  const more = sorted.length > NAMED_APIS ? [`${sorted.length - NAMED_APIS} more`] : [];
  return `${number(total).padStart(6)}   ${[...named, ...more].join(', ')}`;
}

/** What chaos did, in one line. */
export function chaosLine(figures: ChaosFigures): string {
  const { droppedEvents, repeatedEvents, delayedEvents, killed, throttled } = figures;
  const parts = [
    `${counted(droppedEvents, 'event')} dropped`,
    `${number(repeatedEvents)} repeated`,
    `${number(delayedEvents)} delayed`,
    ...Object.entries(killed).map(([name, times]) => `${counted(times, 'invocation')} of ${name} killed`),
    ...Object.entries(throttled).map(([api, times]) => `${counted(times, `call`)} of ${api} throttled`),
  ];
  return `Chaos: ${parts.join(', ')}.`;
}
