import type { PipelineDefinition } from '#domain/definition.ts';
import type { CallApi } from './call-api.ts';
import type { CallOptions, DeleteOptions, ListOptions } from './call-options.ts';
import { type PagedList, pagedList } from './paged-list.ts';
import type {
  Backfill,
  BackfillPlan,
  BackfillRequest,
  Pipeline,
  PipelineLine,
  Revision,
  Validation,
} from './resources.ts';

/** A definition: as data, or as a text in YAML. */
export type DefinitionInput = PipelineDefinition | string;

/** Pipelines. */
export interface PipelinesClient {
  /**
   * Stores a definition as the newest revision of a pipeline.
   * @param options.ifMatch the revision that has to be the present one, or `*` for any; such a call is never sent twice
   */
  put(
    name: string,
    definition: DefinitionInput,
    options?: CallOptions & { readonly ifMatch?: string },
  ): Promise<Pipeline>;
  /** Checks a definition; stores nothing. */
  validate(definition: DefinitionInput, options?: CallOptions): Promise<Validation>;
  /** Pipelines by name. */
  list(options?: ListOptions): PagedList<PipelineLine>;
  /** A pipeline with its newest or a given revision. */
  get(name: string, options?: CallOptions & { readonly revision?: string }): Promise<Pipeline>;
  /** The revisions of a pipeline, newest first. */
  revisions(name: string, options?: ListOptions): PagedList<Revision>;
  /** Its schedule and events start nothing until it is resumed. */
  pause(name: string, options?: CallOptions): Promise<Pipeline>;
  resume(name: string, options?: CallOptions): Promise<Pipeline>;
  /** Deletes a pipeline; with `force` its active runs are stopped and removed first. */
  delete(name: string, options?: DeleteOptions): Promise<void>;
  /** Says which instants of the schedule lie in a range of time. */
  backfill(
    name: string,
    request: BackfillRequest & { readonly dryRun: true },
    options?: CallOptions,
  ): Promise<BackfillPlan>;
  /** Runs the instants of the schedule in a range of time. */
  backfill(
    name: string,
    request: BackfillRequest & { readonly dryRun?: false },
    options?: CallOptions,
  ): Promise<Backfill>;
}

/** The calls about pipelines. */
export function pipelinesClient(call: CallApi): PipelinesClient {
  return {
    async put(name, definition, { ifMatch, signal } = {}) {
      return (await call('putPipeline', { path: { name }, body: definition, ifMatch, signal })).value;
    },
    async validate(definition, { signal } = {}) {
      return (await call('validatePipeline', { body: definition, signal })).value;
    },
    list({ limit, signal } = {}) {
      return pagedList(async (cursor) => (await call('listPipelines', { query: { limit, cursor }, signal })).value);
    },
    async get(name, { revision, signal } = {}) {
      return (await call('getPipeline', { path: { name }, query: { revision }, signal })).value;
    },
    revisions(name, { limit, signal } = {}) {
      return pagedList(
        async (cursor) => (await call('listRevisions', { path: { name }, query: { limit, cursor }, signal })).value,
      );
    },
    async pause(name, { signal } = {}) {
      return (await call('pausePipeline', { path: { name }, signal })).value;
    },
    async resume(name, { signal } = {}) {
      return (await call('resumePipeline', { path: { name }, signal })).value;
    },
    async delete(name, { force, signal } = {}) {
      await call('deletePipeline', { path: { name }, query: { force }, signal });
    },
    async backfill(name: string, request: BackfillRequest, { signal }: CallOptions = {}) {
      // What is answered depends on `dryRun` alone.
      return (await call('startBackfill', { path: { name }, body: request, signal })).value as Backfill & BackfillPlan;
    },
  };
}
