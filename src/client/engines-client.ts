import type { CallApi } from './call-api.ts';
import type { CallOptions, ListOptions } from './call-options.ts';
import { type PagedList, pagedList } from './paged-list.ts';
import type { Engine, EngineLine, EngineRequest, Pool, PoolLine } from './resources.ts';

/** Engines. */
export interface EnginesClient {
  /** Registers an engine, or changes it; what is left out goes back to its default. */
  put(name: string, request: EngineRequest, options?: CallOptions): Promise<Engine>;
  /** An engine, with who holds its slots and who waits for them. */
  get(name: string, options?: CallOptions): Promise<Engine>;
  /** Engines by name. */
  list(options?: ListOptions): PagedList<EngineLine>;
  /** It takes no new work until it is put again; what runs on it finishes. */
  drain(name: string, options?: CallOptions): Promise<Engine>;
  /** Its owner says that it is there. */
  heartbeat(name: string, options?: CallOptions): Promise<Engine>;
  /** Takes an engine away; what runs on it finishes. */
  remove(name: string, options?: CallOptions): Promise<void>;
}

/** Pools. */
export interface PoolsClient {
  /** Makes a pool, or changes its number of slots. */
  put(name: string, slots: number, options?: CallOptions): Promise<Pool>;
  /** A pool, with who holds its slots and who waits for them. */
  get(name: string, options?: CallOptions): Promise<Pool>;
  /** Pools by name. */
  list(options?: ListOptions): PagedList<PoolLine>;
}

/** The calls about engines. */
export function enginesClient(call: CallApi): EnginesClient {
  return {
    async put(name, request, { signal } = {}) {
      return (await call('putEngine', { path: { name }, body: request, signal })).value;
    },
    async get(name, { signal } = {}) {
      return (await call('getEngine', { path: { name }, signal })).value;
    },
    list({ limit, signal } = {}) {
      return pagedList(async (cursor) => (await call('listEngines', { query: { limit, cursor }, signal })).value);
    },
    async drain(name, { signal } = {}) {
      return (await call('drainEngine', { path: { name }, signal })).value;
    },
    async heartbeat(name, { signal } = {}) {
      return (await call('heartbeatEngine', { path: { name }, signal })).value;
    },
    async remove(name, { signal } = {}) {
      await call('removeEngine', { path: { name }, signal });
    },
  };
}

/** The calls about pools. */
export function poolsClient(call: CallApi): PoolsClient {
  return {
    async put(name, slots, { signal } = {}) {
      return (await call('putPool', { path: { name }, body: { slots }, signal })).value;
    },
    async get(name, { signal } = {}) {
      return (await call('getPool', { path: { name }, signal })).value;
    },
    list({ limit, signal } = {}) {
      return pagedList(async (cursor) => (await call('listPools', { query: { limit, cursor }, signal })).value);
    },
  };
}
