import type { CallApi } from './call-api.ts';
import type { CallOptions, ItemOptions, ListOptions } from './call-options.ts';
import { type PagedList, pagedList } from './paged-list.ts';
import type {
  AnswerRequest,
  Attempt,
  LogLine,
  MapItem,
  MarkRequest,
  NodeState,
  ProgressRequest,
  RunNode,
} from './resources.ts';

/** Which nodes or items are listed. */
export interface NodeFilter extends ListOptions {
  /** Only those in one of these states. */
  readonly state?: NodeState | readonly NodeState[];
}

/** The nodes of runs. An id of a node is given as it is, whatever is in it. */
export interface NodesClient {
  /** The nodes of a run, in the order of the definition. */
  list(runId: string, filter?: NodeFilter): PagedList<RunNode>;
  get(runId: string, node: string, options?: CallOptions): Promise<RunNode>;
  /** The output of a node, or of an item of a map, however large it is. */
  output(runId: string, node: string, options?: ItemOptions): Promise<unknown>;
  /** Every attempt of a node, or those of one item of a map. */
  attempts(runId: string, node: string, options?: ListOptions & ItemOptions): PagedList<Attempt>;
  /** The items of a map. */
  items(runId: string, node: string, filter?: NodeFilter): PagedList<MapItem>;
  /**
   * What an attempt wrote to its log. While it goes on, every page has a `nextCursor`: reading to the end of it waits for the
   * attempt, and `pages()` lets the caller wait between two looks.
   * @param options.attempt its number @default the last one
   */
  logs(
    runId: string,
    node: string,
    options?: ListOptions & ItemOptions & { readonly attempt?: number },
  ): PagedList<LogLine>;
  /** Decides an unfinished node by hand. */
  mark(runId: string, node: string, request: MarkRequest, options?: CallOptions): Promise<RunNode>;
  /** Answers an item of a map that waits for an approval. */
  answer(
    runId: string,
    node: string,
    request: AnswerRequest,
    options: CallOptions & { readonly item: number },
  ): Promise<MapItem>;
  /** Answers a node that waits for an approval. */
  answer(runId: string, node: string, request: AnswerRequest, options?: CallOptions): Promise<RunNode>;
  /**
   * Says how far an attempt is; for its own code.
   * @param options.attempt its number @default the one that the token is of
   */
  progress(
    runId: string,
    node: string,
    request: ProgressRequest,
    options?: ItemOptions & { readonly attempt?: number },
  ): Promise<void>;
}

/** The calls about nodes. */
export function nodesClient(call: CallApi): NodesClient {
  return {
    list(runId, { signal, ...query } = {}) {
      return pagedList(
        async (cursor) => (await call('listNodes', { path: { runId }, query: { ...query, cursor }, signal })).value,
      );
    },
    async get(runId, node, { signal } = {}) {
      return (await call('getNode', { path: { runId, node }, signal })).value;
    },
    async output(runId, node, { item, signal } = {}) {
      return (await call('getOutput', { path: { runId, node }, query: { item }, signal })).value;
    },
    attempts(runId, node, { signal, ...query } = {}) {
      const path = { runId, node };
      return pagedList(
        async (cursor) => (await call('listAttempts', { path, query: { ...query, cursor }, signal })).value,
      );
    },
    items(runId, node, { signal, ...query } = {}) {
      const path = { runId, node };
      return pagedList(
        async (cursor) => (await call('listItems', { path, query: { ...query, cursor }, signal })).value,
      );
    },
    logs(runId, node, { signal, ...query } = {}) {
      const path = { runId, node };
      return pagedList(async (cursor) => (await call('getLogs', { path, query: { ...query, cursor }, signal })).value);
    },
    async mark(runId, node, request, { signal } = {}) {
      return (await call('markNode', { path: { runId, node }, body: request, signal })).value;
    },
    async answer(runId: string, node: string, request: AnswerRequest, { item, signal }: ItemOptions = {}) {
      const path = { runId, node };
      // An item is answered with the item, a node with the node.
      return (await call('answerNode', { path, query: { item }, body: request, signal })).value as MapItem & RunNode;
    },
    async progress(runId, node, request, { item, attempt, signal } = {}) {
      await call('reportProgress', { path: { runId, node }, query: { item, attempt }, body: request, signal });
    },
  };
}
