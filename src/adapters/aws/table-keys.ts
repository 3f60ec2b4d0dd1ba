/**
 * Where everything lies in the one table. Nothing else in the code spells a key.
 *
 * | item                    | pk                     | sk                             | index attributes                   |
 * |-------------------------|------------------------|--------------------------------|------------------------------------|
 * | aggregate of a run      | `run#<id>`             | `run`                          | `ds`, `da` while it is due         |
 * | result of an attempt    | `run#<id>#<nonce>`     | `r#<node>#<attempt>` (5 + 5), `r#<node>#i<item>#<attempt>` in a map |                                    |
 * | value of a run          | `run#<id>#<nonce>`     | `v#<key>`                      |                                    |
 * | history of a run        | `run#<id>#<nonce>`     | `h#<rev>` (10)                 |                                    |
 * | header of a run         | `runs`                 | `<created>#<id>` (16)          | `rp` = `runs#<pipeline>`, `rs` = sk |
 * | head of a pipeline      | `pipelines`            | `<name>`                       |                                    |
 * | definition              | `pipeline#<name>`      | `d#<revision>`                 |                                    |
 * | entry of a revision     | `pipeline#<name>`      | `e#<incarnation>#<revision>`   |                                    |
 * | output in the memo      | `memo#<key>`           | `memo`                         |                                    |
 * | chunk of a long text    | that of its owner      | `c#<digest>#<n>` (5)           |                                    |
 *
 * Numbers in keys are decimal and padded with zeros to the widths in brackets, so that they sort by value.
 * Indexes: `due` (partition `ds`, sort `da`, keys only) and `runs` (partition `rp`, sort `rs`, everything).
 * Attribute names are one letter where an item is written often: they count towards its size.
 */
import { crc32 } from 'node:zlib';
import type { RunKey } from '#ports/index.ts';

/** Name of the index of runs that are due. */
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

/** All values of `ds`. */
export const DUE_SHARD_NAMES: readonly string[] = Array.from({ length: DUE_SHARDS }, (_, shard) => `d${shard}`);

/** The shard of the due index that a run is in for ever. */
export function dueShardOf(runId: string): string {
  return `d${crc32(runId) % DUE_SHARDS}`;
}

/** Key of a run's aggregate. */
export function aggregateKey(runId: string): ItemKey {
  return { pk: `${RUN_PREFIX}${runId}`, sk: 'run' };
}

/** The run whose aggregate has this partition key. */
export function runIdOf(aggregatePartition: string): string {
  return aggregatePartition.slice(RUN_PREFIX.length);
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

/** Partition of a pipeline's definitions. */
export function pipelinePartition(name: string): string {
  return `pipeline#${name}`;
}

/** Sort key of a definition. */
export function definitionSortKey(revision: string): string {
  return `d#${revision}`;
}

/** Beginning of the sort keys of an incarnation's revisions. */
export function revisionPrefix(incarnation: string): string {
  return `e#${incarnation}#`;
}

function padded(number: number, width: number): string {
  return String(number).padStart(width, '0');
}
