import { costOf, PRICES } from '#local/aws-prices.ts';
import type { ChaosCounters } from '#local/chaos.ts';
import type { WireCounts } from '#local/wire-log.ts';
import type { Node } from './api.ts';
import { hops, median } from './hops.ts';
import { count, duration, heading, line, printTable, styled } from './screen.ts';
import type { FlightsOutput, Verdict } from './verdict.ts';

/** Prints how long each node took from its first start to its end, and how long it waited for that start. */
export function printNodes(nodes: readonly Node[], upstreams: ReadonlyMap<string, readonly string[]>): void {
  const waited = new Map(hops(nodes, upstreams).map((hop) => [hop.node, hop.milliseconds]));
  heading('Nodes');
  printTable(
    'llrrr',
    ['node', 'state', 'attempts', 'took', 'hop'],
    nodes.map(({ id, state, attempt, startedAt, endedAt }) => {
      const took = startedAt !== undefined && endedAt !== undefined ? duration(endedAt - startedAt) : '';
      const hop = waited.get(id);
      return [id, state, attempt > 0 ? String(attempt) : '', took, hop === undefined ? '' : duration(hop)];
    }),
  );
  const all = [...waited.values()];
  line(
    `  ${all.length} hops (end of the last upstream to the start of the node): median ${duration(median(all) ?? 0)}, longest ${duration(Math.max(0, ...all))}`,
  );
}

/** Prints what troubles the host made. */
export function printChaos({ dropped, repeated, delayed, killed, throttled }: ChaosCounters): void {
  const named = (what: string, counts: ReadonlyMap<string, number>) =>
    [...counts].map(([name, times]) => `${count(times)} × ${what} ${name}`);
  heading('Troubles that the host made');
  line(`  events: ${count(dropped)} dropped, ${count(repeated)} repeated, ${count(delayed)} delayed`);
  for (const text of [...named('killed', killed), ...named('throttled', throttled)]) line(`  ${text}`);
}

/** Prints what was counted on the wire and what it would cost on AWS. */
export function printCost(counts: WireCounts, requestsOfDemo: number): void {
  const { dollars, lines } = costOf(counts);
  heading('The same run on AWS, from the calls counted here');
  printTable(
    'lrr',
    ['', 'count', 'US$'],
    [
      ...lines.map((one) => [one.item, count(Math.round(one.quantity)), one.dollars.toFixed(6)]),
      ['Sum', '', dollars.toFixed(6)],
      ['1,000 such runs', '', (dollars * 1000).toFixed(2)],
    ],
  );
  line(
    `  List prices of ${PRICES.region}, ${PRICES.readOn}, no free tier. ${requestsOfDemo} of the HTTP requests, and what they caused, are this demo watching.`,
  );
}

/** Prints the figures, whether they are right, and where the report is. */
export function printFigures({ figures, report }: FlightsOutput, verdict: Verdict): void {
  heading('Figures');
  line(`  ${count(figures.flights)} flights, ${count(figures.late)} late (${(figures.lateShare * 100).toFixed(1)}%)`);
  line(`  average delay ${figures.averageDelay.toFixed(2)} min, ${count(figures.distanceSum)} miles flown`);
  line(`  report  ${styled('cyan', report)}`);
  if (verdict.wrong.length === 0) {
    line(
      `  ${styled('green', '✓')} ${count(verdict.compared)} numbers and facts agree with the source, reckoned apart`,
    );
    return;
  }
  line(`  ${styled('red', '✗')} ${verdict.wrong.length} of ${count(verdict.compared)} are wrong:`);
  for (const wrong of verdict.wrong.slice(0, 20)) line(`    ${wrong}`);
}
