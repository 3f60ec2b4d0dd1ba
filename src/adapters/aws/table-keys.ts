/**
 * Where everything lies in the one table. Nothing else in the code spells a key.
 *
 * | item                    | pk                     | sk                             | index attributes                   |
 * |-------------------------|------------------------|--------------------------------|------------------------------------|
 * | aggregate of a run      | `run#<id>`             | `run`                          | `ds`, `da` while it is due         |
 * | result of an attempt    | `run#<id>#<nonce>`     | `r#<node>#<attempt>` (5 + 5), `r#<node>#i<item>#<attempt>` in a map |                                    |
 * | report of an attempt   | `run#<id>#<nonce>`     | `p#<node>#<attempt>`, `p#<node>#i<item>#<attempt>`: as a result's |   |
 * | value of a run          | `run#<id>#<nonce>`     | `v#<key>`                      |                                    |
 * | history of a run        | `run#<id>#<nonce>`     | `h#<rev>` (10)                 |                                    |
 * | header of a run         | `runs`                 | `<created>#<id>` (16)          | `rp` = `runs#<pipeline>`, `rs` = sk |
 * | head of a pipeline      | `pipelines`            | `<name>`                       | `ds`, `da` while it is due         |
 * | definition              | `pipeline#<name>`      | `d#<revision>`                 |                                    |
 * | entry of a revision     | `pipeline#<name>`      | `e#<incarnation>#<revision>`   |                                    |
 * | engine that it uses     | `uses#<engine>`        | `<name>`                       |                                    |
 * | limit                   | `limits#<kind>`        | `<name>`                       | `ds`, `da` while it is due         |
 * | run that waits          | `wait#<limit>`         | `<pipeline>#<priority>#<since>#<run>` (4 + 16; the highest priority is 0) |         |
 * | starts of a minute      | `starts#<pipeline>`    | `<minute>` (10)                |                                    |
 * | output in the memo      | `memo#<key>`           | `memo`                         |                                    |
 * | subscription by connection | `live`              | `<connection>#<topic>`         |                                    |
 * | subscription by topic   | `live#<topic>`         | `<connection>`                 |                                    |
 * | ticket for live updates | `ticket#<digest>`      | `ticket`                       |                                    |
 * | chunk of a long text    | that of its owner      | `c#<digest>#<n>` (5)           |                                    |
 *
 * Numbers in keys are decimal and padded with zeros to the widths in brackets, so that they sort by value.
 * Indexes: `due` (partition `ds`, sort `da`, keys only) and `runs` (partition `rp`, sort `rs`, everything).
 * Attribute names are one letter where an item is written often: they count towards its size.
 */
import { crc32 } from 'node:zlib';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { type LimitKind, limitName, parseLimitName, type WaitingRun } from '#domain/limit.ts';
import type { DueThing, RunKey, WaitingPlace } from '#ports/index.ts';
import type { LiveTopic } from '#ports/live.ts';

/** Name of the index of what is due. */
export const DUE_INDEX = 'due';

/** Name of the index of run headers by pipeline. */
export const RUNS_INDEX = 'runs';

/** The primary key of an item. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

const DUE_SHARDS = 8;
const RUN_PREFIX = 'run#';
const LIMITS_PREFIX = 'limits#';

/** All values of `ds`. */
export const DUE_SHARD_NAMES: readonly string[] = Array.from({ length: DUE_SHARDS }, (_, shard) => `d${shard}`);

/** The shard of the due index that a run, a limit or a pipeline is in for ever, by its id or name. */
export function dueShardOf(id: string): string {
  return `d${crc32(id) % DUE_SHARDS}`;
}

/** Whose aggregate has a key; nobody's, where it is the key of something else. */
export function dueThingAt({ pk, sk }: ItemKey): DueThing | undefined {
  if (pk === HEADS_PARTITION) return { kind: 'pipeline', id: sk };
  if (pk.startsWith(LIMITS_PREFIX)) {
    return { kind: 'limit', id: limitName(pk.slice(LIMITS_PREFIX.length) as LimitKind, sk) };
  }
  return pk.startsWith(RUN_PREFIX) ? { kind: 'run', id: pk.slice(RUN_PREFIX.length) } : undefined;
}

/** Key of a run's aggregate. */
export function aggregateKey(runId: string): ItemKey {
  return { pk: `${RUN_PREFIX}${runId}`, sk: 'run' };
}

/** Partition of everything of a run but its aggregate. */
export function runPartition(run: RunKey): string {
  return `${RUN_PREFIX}${run.id}#${run.nonce}`;
}

/** Beginning of the sort keys of a run's results, or of one node's. */
export function resultPrefix(node?: number): string {
  return node === undefined ? 'r#' : `r#${padded(node, 5)}#`;
}

/** Sort key of an attempt's result. */
export function resultSortKey(node: number, attempt: number, item?: number): string {
  const place = item === undefined ? '' : `i${padded(item, 5)}#`;
  return `${resultPrefix(node)}${place}${padded(attempt, 5)}`;
}

/** Reads the sort key of a result back. */
export function parseResultSortKey(sortKey: string): { node: number; item?: number; attempt: number } {
  const [, node, ...rest] = sortKey.split('#');
  const [item, attempt] = rest.length === 2 ? rest : [undefined, rest[0]];
  return { node: Number(node), ...(item !== undefined && { item: Number(item.slice(1)) }), attempt: Number(attempt) };
}

/** Sort key of an attempt's report. */
export function reportSortKey(node: number, attempt: number, item?: number): string {
  return `p${resultSortKey(node, attempt, item).slice(1)}`;
}

/** Sort key of a value. */
export function valueSortKey(key: string): string {
  return `v#${key}`;
}

/** Beginning of the sort keys of a run's history. */
export const HISTORY_PREFIX = 'h#';

/** Sort key of the decisions that a revision still held. */
export function historySortKey(rev: number): string {
  return `${HISTORY_PREFIX}${padded(rev, 10)}`;
}

/** Sort key of a piece of a long text, which is named by what it says. */
export function chunkSortKey(digest: string, at: number): string {
  return `c#${digest}#${padded(at, 5)}`;
}

/** Partition of all run headers. */
export const HEADERS_PARTITION = 'runs';

/** Partition of a pipeline's run headers, in the index. */
export function pipelineHeadersPartition(pipeline: string): string {
  return `runs#${pipeline}`;
}

/** Place of a run in every list: by its creation (ms since the epoch), then by its id. */
export function headerSortKey(createdAt: number, id: string): string {
  return `${headerTimeKey(createdAt)}#${id}`;
}

/** What the places of all runs that were created at a time (ms since the epoch) begin with. */
export function headerTimeKey(createdAt: number): string {
  return padded(createdAt, 16);
}

/** Reads a place back. */
export function parseHeaderSortKey(sortKey: string): { readonly createdAt: number; readonly id: string } {
  return { createdAt: Number(sortKey.slice(0, 16)), id: sortKey.slice(17) };
}

/** Partition of all pipelines' heads; the name is the sort key. */
export const HEADS_PARTITION = 'pipelines';

/** Key of an output in the memo. */
export function memoKey(key: string): ItemKey {
  return { pk: `memo#${key}`, sk: 'memo' };
}

/** Key of the starts by events that a pipeline had in a minute (whole minutes since the epoch). */
export function startCountKey(pipeline: string, minute: number): ItemKey {
  return { pk: `starts#${pipeline}`, sk: padded(minute, 10) };
}

/** Partition of a pipeline's definitions. */
export function pipelinePartition(name: string): string {
  return `pipeline#${name}`;
}

/** Partition of the names of all pipelines that use an engine; the name is the sort key. */
export function usesPartition(engine: string): string {
  return `uses#${engine}`;
}

/** Sort key of a definition. */
export function definitionSortKey(revision: string): string {
  return `d#${revision}`;
}

/** Beginning of the sort keys of an incarnation's revisions. */
export function revisionPrefix(incarnation: string): string {
  return `e#${incarnation}#`;
}

/** Partition of all limits of a kind; the name that they have in it is the sort key. */
export function limitsPartition(kind: LimitKind): string {
  return `${LIMITS_PREFIX}${kind}`;
}

/** Key of a limit. */
export function limitKey(limit: string): ItemKey {
  const { kind, name } = parseLimitName(limit);
  return { pk: limitsPartition(kind), sk: name };
}

/** Partition of the runs that wait for a limit. */
export function waitingPartition(limit: string): string {
  return `wait#${limit}`;
}

/** Place of a run among those that wait for a limit. `#` sorts before all that a name may have, so pipelines sort by name. */
export function waitingSortKey(row: Pick<WaitingRun, 'pipeline' | 'priority' | 'since' | 'run'>): string {
  const lowness = padded(DEFINITION_LIMITS.priority.max - row.priority, 4);
  return `${row.pipeline}#${lowness}#${padded(row.since, 16)}#${row.run}`;
}

/** Reads a place back. */
export function parseWaitingSortKey(sortKey: string): Pick<WaitingRun, 'pipeline' | 'priority' | 'since' | 'run'> {
  const [pipeline = '', lowness, since, ...run] = sortKey.split('#');
  const priority = DEFINITION_LIMITS.priority.max - Number(lowness);
  return { pipeline, priority, since: Number(since), run: run.join('#') };
}

/** The greatest sort key that is not behind a place: that of a row, or one after all rows of a pipeline. */
export function behindWaitingKey(place: WaitingPlace): string {
  return 'run' in place ? waitingSortKey(place) : `${place.pipeline}$`;
}

/** Partition of all subscriptions, by connection. */
export const LIVE_PARTITION = 'live';

/** Beginning of the sort keys of what a connection looks at. Ids of connections have no `#`. */
export function liveConnectionPrefix(connection: string): string {
  return `${connection}#`;
}

/** Place of a subscription among all of them. */
export function liveSortKey(connection: string, topic: LiveTopic): string {
  return `${liveConnectionPrefix(connection)}${topic}`;
}

/** The topic in such a place. */
export function parseLiveSortKey(sortKey: string): LiveTopic {
  return sortKey.slice(sortKey.indexOf('#') + 1) as LiveTopic;
}

/** Partition of the connections that look at a topic; the connection is the sort key. */
export function liveTopicPartition(topic: LiveTopic): string {
  return `live#${topic}`;
}

/** Key of a ticket. */
export function liveTicketKey(digest: string): ItemKey {
  return { pk: `ticket#${digest}`, sk: 'ticket' };
}

function padded(number: number, width: number): string {
  return String(number).padStart(width, '0');
}
