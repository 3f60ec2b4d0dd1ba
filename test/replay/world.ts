/** A whole installation in mid-run, saved as its table and its executions, and carried on from there. */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { createDynamoDueIndex } from '#adapters/aws/dynamo-due.ts';
import { createDynamoLimitStore } from '#adapters/aws/dynamo-limit-store.ts';
import { createDynamoMemo } from '#adapters/aws/dynamo-memo.ts';
import { createDynamoPipelineStore } from '#adapters/aws/dynamo-pipeline-store.ts';
import { createDynamoReports } from '#adapters/aws/dynamo-reports.ts';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import { createTable } from '#adapters/aws/table.ts';
import type { MemoryExecution } from '#adapters/memory/memory-executions.ts';
import type { Json } from '#domain/json.ts';
import { isRunOver } from '#domain/run.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import { runTick } from '#scheduler/tick.ts';
import type { TableServer } from '../contract/tables.ts';
import { createApi } from '../functions/api-client.ts';
import type { Behaviour } from '../functions/installation.ts';
import { layoutFolder, PRESENT_LAYOUT, savedItem } from './fixture.ts';
import { openItems } from './stored-table.ts';

const TICK_MS = 60_000;
/** Ticks after which every run has to be over. */
const MOST_TICKS = 60;

const request = z.object({ method: z.string(), path: z.string(), body: z.unknown().optional() });

const savedWorld = z.object({
  about: z.string(),
  now: z.number(),
  items: z.array(savedItem).min(1),
  executions: z.array(z.object({ name: z.string() }).loose()),
  reads: z.array(z.object({ path: z.string(), gives: z.unknown() })),
  goesOnWith: z.array(request),
  ends: z.array(z.object({ run: z.string(), gives: z.unknown() })),
});

/** A call of the API. */
export type ApiRequest = z.output<typeof request>;

/**
 * What is saved: the table, the executions that Step Functions has, what the API shows at that moment, what users then ask
 * for, and how the runs end if all that is still to be done succeeds.
 */
export type SavedWorld = z.output<typeof savedWorld>;

/** Opens an installation over an empty table. */
export async function openWorld(server: TableServer, behave?: Behaviour) {
  const api = createApi(behave);
  const TableName = await server.createTable();
  const table = createTable(server.client, TableName);
  const { clock } = api.deps;
  Object.assign(api.deps, {
    runs: createDynamoRunStore(table, clock),
    limits: createDynamoLimitStore(table),
    pipelines: createDynamoPipelineStore(table),
    due: createDynamoDueIndex(table),
    memo: createDynamoMemo(table),
    reports: createDynamoReports(table, clock),
  });
  Object.assign(api.deps, withChildRuns({ ...api.deps }));
  const ask = async ({ method, path, body }: ApiRequest) => {
    const answer = await api.call(method, path, body === undefined ? {} : { body: body as Json });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body as Json;
  };
  return {
    api,
    table: openItems(server.client, TableName),
    ask,
    tick,
    /** Takes up what another version left. */
    async load({ items, executions, now }: SavedWorld): Promise<void> {
      await this.table.load(items);
      api.time.now = now;
      const started = executions as unknown as MemoryExecution[];
      for (const one of started) api.executions.started.set(`${one.stateMachineArn}/${one.name}`, { ...one });
      // Ids are counted in a test: those that were given must not come again.
      for (let given = 0; given < 1_000; given++) [api.deps.ids.runId(), api.deps.ids.nonce()];
    },
    /** Lets ticks come until runs are over, and gives what the API then shows of them. */
    async carryOn(runs: readonly string[]): Promise<SavedWorld['ends']> {
      for (let ticks = 0; ticks < MOST_TICKS && !(await areOver(runs)); ticks++) await tick();
      return Promise.all(runs.map(async (run) => ({ run, gives: await outcomeOf(run) })));
    },
  };

  /** A minute goes by, and whatever is due then has its pass. */
  async function tick(): Promise<void> {
    api.time.now += TICK_MS;
    await runTick(api.deps);
    await api.settle();
  }

  async function areOver(runs: readonly string[]): Promise<boolean> {
    const records = await Promise.all(runs.map((run) => api.deps.runs.readRun(run)));
    return records.every((run) => run && isRunOver(run.state));
  }

  async function outcomeOf(run: string) {
    const { body } = await api.get(`/v1/runs/${run}`);
    const { items } = (await api.get(`/v1/runs/${run}/nodes`)).body;
    const output = await api.get(`/v1/runs/${run}/output`);
    return {
      state: body.state,
      ...(output.status === 200 && { output: output.body }),
      nodes: items.map(({ id, state, attempt }: { id: string; state: string; attempt?: number }) => ({
        id,
        state,
        attempt,
      })),
    };
  }
}

/** Folder of a layout's worlds. */
export function worldsFolder(layout: number): string {
  return join(layoutFolder(layout), 'worlds');
}

/** All worlds, oldest layout first. */
export async function readWorlds(): Promise<{ title: string; saved: SavedWorld }[]> {
  const all = [];
  for (let layout = 1; layout <= PRESENT_LAYOUT; layout++) {
    await mkdir(worldsFolder(layout), { recursive: true });
    for (const file of (await readdir(worldsFolder(layout))).sort()) {
      // What a schema makes of an object would lose keys such as `__proto__`, so it only judges.
      const saved: unknown = JSON.parse(await readFile(join(worldsFolder(layout), file), 'utf8'));
      savedWorld.parse(saved);
      all.push({ title: `v${layout}/worlds/${file.replace(/\.json$/, '')}`, saved: saved as SavedWorld });
    }
  }
  return all;
}
