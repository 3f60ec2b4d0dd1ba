/** What users of a plan ask of its runs beside stops and pauses, and of its pipelines; what other systems ask for. */
import type { MarkState } from '#domain/run.ts';
import { BEGINNING } from './scenario.ts';
import type { UserAct } from './user-acts.ts';

/** What is asked of the `run`-th of the runs that there are by then. Nodes are named by their places. */
export type PlannedAsk = { readonly atMs: number; readonly run: number } & (
  | { readonly kind: 'mark'; readonly place: number; readonly state: MarkState }
  /** Asked so many times in a row. */
  | {
      readonly kind: 'answer';
      readonly place: number;
      /** Of a map. */
      readonly item?: number | undefined;
      readonly attempt: number;
      readonly approve: boolean;
      readonly times: number;
    }
  | { readonly kind: 'delete'; readonly isForced: boolean }
  | {
      readonly kind: 'rerun';
      readonly from: 'failed' | 'all' | readonly number[];
      readonly marks: readonly { readonly place: number; readonly state: MarkState }[];
    }
  /** Newer code has the run for so long (ms). */
  | { readonly kind: 'lend'; readonly forMs: number }
);

/** What is asked of the pipeline itself. */
export type PlannedOrder = { readonly atMs: number } & (
  | { readonly kind: 'pausePipeline' | 'resumePipeline' }
  | { readonly kind: 'deletePipeline'; readonly isForced: boolean }
);

/** Asks for the runs of a range of instants, both ends included (ms after the world's beginning). */
export interface PlannedBackfill {
  readonly atMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly direction: 'forward' | 'backward';
  readonly maxActiveRuns: number;
}

/** An event of another system that asks for a run; those of the same id are one. */
export interface PlannedRequest {
  readonly atMs: number;
  readonly id: number;
  /** How often the bus hands it over. */
  readonly copies: number;
  /** `own`: a rule let one of ours through. `bad`: it asks for nothing that there is. */
  readonly kind: 'good' | 'own' | 'bad';
}

/** Ids of nodes are `n` and their places. */
const idOf = (place: number) => `n${place}`;

/** The acts of asks: each is a user's own, so that none waits for another. */
export function actsOfAsks(asks: readonly PlannedAsk[]): UserAct[][] {
  return asks.map((ask, at) => toActs(ask, at));
}

function toActs(ask: PlannedAsk, at: number): UserAct[] {
  const { atMs, run } = ask;
  switch (ask.kind) {
    case 'mark':
      return [{ atMs, run, kind: 'mark', node: idOf(ask.place), state: ask.state }];
    case 'answer': {
      const { place, item, attempt, approve, times } = ask;
      const act: UserAct = { atMs, run, kind: 'answer', node: idOf(place), item, attempt, approve };
      return Array.from({ length: times }, () => act);
    }
    case 'rerun': {
      const { from, marks } = ask;
      const marked = new Map(marks.map(({ place, state }) => [idOf(place), { state }]));
      const which = typeof from === 'string' ? from : from.map(idOf);
      return [{ atMs, run, kind: 'rerun', from: which, marks: marked, key: `again${at}` }];
    }
    default:
      return [ask];
  }
}

/** The acts of what is asked of a pipeline, one after the other. */
export function actsOfOrders(orders: readonly PlannedOrder[], pipeline: string): UserAct[] {
  return orders.map((order) => ({ ...order, pipeline }));
}

/** The acts of backfills, each of a user of its own. */
export function actsOfBackfills(backfills: readonly PlannedBackfill[], pipeline: string): UserAct[][] {
  return backfills.map(({ fromMs, toMs, ...rest }) => [
    { ...rest, kind: 'backfill', pipeline, from: BEGINNING + fromMs, to: BEGINNING + toMs },
  ]);
}

/** The acts of requests, each on its own. */
export function actsOfRequests(requests: readonly PlannedRequest[], pipeline: string): UserAct[][] {
  return requests.map((request) => [
    { atMs: request.atMs, kind: 'request', copies: request.copies, body: toBody(request, pipeline) },
  ]);
}

/** The id of the event of a request. */
export function eventIdOf({ id, kind }: Pick<PlannedRequest, 'id' | 'kind'>): string {
  return `${kind}-event-${id}`;
}

function toBody(request: PlannedRequest, pipeline: string): string {
  const { kind } = request;
  return JSON.stringify({
    id: eventIdOf(request),
    source: kind === 'own' ? 'millrace.api' : 'shop.orders',
    'detail-type': 'RunRequested',
    detail: { pipeline: kind === 'bad' ? 'nobody' : pipeline },
  });
}
