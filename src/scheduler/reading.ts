import type { CompiledPipeline } from '#domain/graph.ts';
import type { RunRecord } from '#domain/run.ts';
import type { StoreResult } from './stored-results.ts';

/** One reading of a run, and the time before it. */
export interface Reading {
  readonly pipeline: CompiledPipeline;
  readonly run: RunRecord;
  readonly readAt: number;
  readonly storeResult: StoreResult;
}
