import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { type ExecutionListItem, ListExecutionsCommand, SFNClient } from '@aws-sdk/client-sfn';
import pRetry from 'p-retry';
import { z } from 'zod';

/** Where a host answers. It changes when the host starts anew. */
export interface HostAddress {
  readonly url: string;
  readonly wireUrl: string;
}

const time = z.iso.datetime().transform((text) => Date.parse(text));
const run = z.object({
  id: z.string(),
  state: z.string(),
  output: z.unknown().optional(),
  counts: z.record(z.string(), z.int()),
});
const node = z.object({ id: z.string(), state: z.string(), reason: z.string(), attempt: z.int() });
const attempt = z.object({
  attempt: z.int(),
  state: z.string(),
  executionArn: z.string().optional(),
  ignored: z.array(z.object({ status: z.string() })),
});
const entry = z.object({
  at: time,
  rev: z.int(),
  node: z.string().optional(),
  state: z.string(),
  attempt: z.int().optional(),
});
const stopAnswer = z.object({ outcome: z.enum(['ACCEPTED', 'ALREADY_STOPPING', 'ALREADY_FINISHED']), run });

export type RunSeen = z.output<typeof run>;
export type NodeSeen = z.output<typeof node>;
export type AttemptSeen = z.output<typeof attempt>;
export type HistoryEntrySeen = z.output<typeof entry>;

/** A call that was throttled, or met a function or a host that died, is made again. */
const again = { retries: 600, factor: 1, minTimeout: 50, maxRetryTime: 60_000 };
/** Time between two looks at a run. */
const LOOK_AGAIN_MS = 200;
const terminal = new Set(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']);
const machineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:millrace-lambda-engine';

/** A client that does not give up: what it is not sure of it asks for again, as clients have to. */
export class FaultClient {
  readonly #at: () => HostAddress;

  /** @param at asked before each call */
  constructor(at: () => HostAddress) {
    this.#at = at;
  }

  async putPipeline(definition: { readonly name: string }): Promise<void> {
    await this.#call('PUT', `/v1/pipelines/${definition.name}`, definition);
  }

  /** Starts a run and gives its id. */
  async startRun(pipeline: string, input: unknown, key: string): Promise<string> {
    const answer = await this.#call('POST', `/v1/pipelines/${pipeline}/runs`, { input }, { 'idempotency-key': key });
    return run.parse(answer).id;
  }

  /** Stops a run; `at` is when the answer was here. */
  async stopRun(id: string): Promise<z.output<typeof stopAnswer> & { readonly at: number }> {
    const answer = await this.#call('POST', `/v1/runs/${id}/stop`);
    return { ...stopAnswer.parse(answer), at: Date.now() };
  }

  async run(id: string): Promise<RunSeen> {
    return run.parse(await this.#call('GET', `/v1/runs/${id}`));
  }

  /** Looks at a run until it is over. */
  async ended(id: string, limitMs: number): Promise<RunSeen> {
    return await this.until(id, (seen) => terminal.has(seen.state), limitMs);
  }

  /** Looks at a run until it is as wanted. */
  async until(id: string, isWanted: (seen: RunSeen) => boolean, limitMs: number): Promise<RunSeen> {
    const until = Date.now() + limitMs;
    for (;;) {
      const seen = await this.run(id);
      if (isWanted(seen)) return seen;
      if (Date.now() > until) {
        const explained = JSON.stringify(await this.#call('GET', `/v1/runs/${id}/explain`));
        throw new Error(`run ${id} is still ${seen.state} after ${limitMs} ms: ${explained.slice(0, 3000)}`);
      }
      await new Promise((looked) => setTimeout(looked, LOOK_AGAIN_MS));
    }
  }

  async nodes(id: string): Promise<NodeSeen[]> {
    return await this.#list(`/v1/runs/${id}/nodes`, node);
  }

  async attempts(id: string, nodeId: string): Promise<AttemptSeen[]> {
    const plain = /^(?!b64\.)[A-Za-z0-9._-]+$/.test(nodeId);
    const part = plain ? nodeId : `b64.${Buffer.from(nodeId).toString('base64url')}`;
    return await this.#list(`/v1/runs/${id}/nodes/${part}/attempts`, attempt);
  }

  async history(id: string): Promise<HistoryEntrySeen[]> {
    return await this.#list(`/v1/runs/${id}/history`, entry);
  }

  /** Every execution of the engine that the host has ever started, by ListExecutions. */
  async executions(): Promise<ExecutionListItem[]> {
    return await pRetry(() => listExecutions(this.#at().wireUrl), again);
  }

  /** Puts an event of another system on the bus; once it resolves, the event cannot be lost. */
  async publish(detailType: 'RunRequested' | 'StopRequested', detail: unknown): Promise<void> {
    const client = new EventBridgeClient({ ...access, endpoint: this.#at().wireUrl });
    const entry = { EventBusName: 'millrace', Source: 'test', DetailType: detailType, Detail: JSON.stringify(detail) };
    const { FailedEntryCount } = await client.send(new PutEventsCommand({ Entries: [entry] }));
    client.destroy();
    if (FailedEntryCount !== 0) throw new Error(`${detailType} was not taken`);
  }

  /** Ids of all runs that the API lists. */
  async runIds(): Promise<string[]> {
    return (await this.#list('/v1/runs', z.object({ id: z.string() }))).map(({ id }) => id);
  }

  /** How many runs the tick would find in the index of what is due, now or later. */
  async dueCount(): Promise<number> {
    return await pRetry(() => countDue(this.#at().wireUrl), again);
  }

  async #list<Item extends z.ZodType>(path: string, item: Item): Promise<z.output<Item>[]> {
    const page = z.object({ items: z.array(item), nextCursor: z.string().optional() });
    const items: z.output<Item>[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const answer = page.parse(await this.#call('GET', `${path}?limit=1000${query}`));
      items.push(...answer.items);
      cursor = answer.nextCursor;
    } while (cursor !== undefined);
    return items;
  }

  async #call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<unknown> {
    const request = {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const response = await pRetry(() => this.#send(path, request), again);
    if (response.ok) return await response.json();
    throw new Error(`${method} ${path} answered ${response.status}: ${(await response.text()).slice(0, 1000)}`);
  }

  async #send(path: string, request: RequestInit): Promise<Response> {
    const response = await fetch(`${this.#at().url}${path}`, { ...request, signal: AbortSignal.timeout(40_000) });
    if (response.status < 500 && response.status !== 429) return response;
    throw new Error(`${request.method} ${path} answered ${response.status}: ${(await response.text()).slice(0, 1000)}`);
  }
}

const access = { region: 'us-east-1', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } };

async function countDue(endpoint: string): Promise<number> {
  const client = new DynamoDBClient({ ...access, endpoint });
  const { Count = 0 } = await client.send(new ScanCommand({ TableName: 'millrace', IndexName: 'due' }));
  client.destroy();
  return Count;
}

async function listExecutions(endpoint: string): Promise<ExecutionListItem[]> {
  const client = new SFNClient({ ...access, endpoint });
  const found: ExecutionListItem[] = [];
  let nextToken: string | undefined;
  do {
    const request = { stateMachineArn: machineArn, maxResults: 1000, ...(nextToken && { nextToken }) };
    const page = await client.send(new ListExecutionsCommand(request));
    found.push(...(page.executions ?? []));
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  client.destroy();
  return found;
}
