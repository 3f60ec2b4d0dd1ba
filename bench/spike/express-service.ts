/**
 * A process that stands for Step Functions Express and the Lambda functions that it invokes. Starts are on disk before
 * they are answered, and those that are not over run again from the first state when it comes back: at least once, as
 * on AWS. Nothing of an execution's own state is kept, as on AWS. It says what AWS would bill.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ConditionalCheckFailedException, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { readAssembly } from '#local/assets.ts';
import { createLambdaFunctions, type LambdaFunctions } from '#local/lambda-functions.ts';
import { runLambdaTask } from '#local/lambda-task.ts';
import { createLogEvents } from '#local/log-events.ts';
import { openLoopbackServer } from '#local/loopback-server.ts';
import { buildRuntimeEntries } from '#local/runtime-entries.ts';
import { resolveTemplate } from '#local/template.ts';
import { wireAnswer } from '#local/wire-answer.ts';
import { createWireLog, type WireLog } from '#local/wire-log.ts';
import { runExpress, StateError } from './express-run.ts';
import { laneDefinition } from './lane-definition.ts';

const settingsSchema = z.object({
  cdkOut: z.string(),
  dataDir: z.string(),
  wireUrl: z.string(),
  table: z.string(),
  inboxUrl: z.string(),
  /** 0 takes a free one. */
  port: z.number(),
});
/** What the process is told, as JSON in its first argument. */
export type ServiceSettings = z.output<typeof settingsSchema>;

/** What it says: where it listens, then its counts whenever it is asked. */
export type ServiceSays =
  | { readonly url: string }
  | { readonly counts: ReturnType<WireLog['snapshot']>; readonly express: ExpressCounts; readonly running: number };

/** What Express is billed by. */
export interface ExpressCounts {
  /** Executions started, repeated ones included. */
  requests: number;
  /** Duration in steps of 100 ms, times 64 MB. */
  gigabyteMs: number;
  /** Executions that found their attempt claimed or its result put. */
  notMine: number;
}

const startExecution = z.object({ name: z.string(), input: z.string() });
const journalLine = z.union([z.object({ start: startExecution }), z.object({ over: z.string() })]);
/** Memory is billed in chunks of 64 MB, of which an execution needs 50 and its data. */
const CHUNK_GB = 64 / 1024;
const STEP_MS = 100;
const limits = { maxBodyBytes: 1024 * 1024, maxHeaderBytes: 65_536 };

const settings = settingsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const definition = laneDefinition(settings);
const wireLog = createWireLog();
const express: ExpressCounts = { requests: 0, gigabyteMs: 0, notMine: 0 };
const journal = path.join(settings.dataDir, 'express.jsonl');
const clientOptions = {
  endpoint: settings.wireUrl,
  region: 'us-east-1',
  credentials: { accessKeyId: 'spike', secretAccessKey: 'spike' },
};
const dynamo = new DynamoDBClient(clientOptions);
const sqs = new SQSClient(clientOptions);
let running = 0;

/** Those of the template that are not Millrace's own. */
async function openFunctions(): Promise<LambdaFunctions> {
  const assembly = readAssembly(settings.cdkOut);
  const template = resolveTemplate(assembly, { wireUrl: settings.wireUrl, apiUrl: settings.wireUrl });
  const functions = createLambdaFunctions({
    wireUrl: settings.wireUrl,
    wireLog,
    guard: { hasRoom: () => true },
    logEvents: createLogEvents(),
    logFolder: path.join(settings.dataDir, 'logs'),
    assets: assembly.assets,
    entries: await buildRuntimeEntries(path.join(settings.dataDir, 'runtime')),
  });
  for (const resource of template.resources) {
    if (resource.type === 'AWS::Lambda::Function' && !resource.name.startsWith('millrace-')) functions.create(resource);
  }
  return functions;
}

const functions = await openFunctions();

async function runTask(resource: string, args: unknown): Promise<unknown> {
  try {
    switch (resource) {
      case 'arn:aws:states:::dynamodb:putItem':
        return await dynamo.send(new PutItemCommand(args as ConstructorParameters<typeof PutItemCommand>[0]));
      case 'arn:aws:states:::sqs:sendMessage':
        return await sqs.send(new SendMessageCommand(args as ConstructorParameters<typeof SendMessageCommand>[0]));
      default:
        return await runLambdaTask(functions, { readsTimeLimit: false, open: (input) => input }, args);
    }
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) throw new StateError(`DynamoDB.${error.name}`, error.message);
    throw error instanceof Error ? new StateError(error.name, error.message) : error;
  }
}

async function run({ name, input }: z.output<typeof startExecution>): Promise<void> {
  const begun = performance.now();
  express.requests += 1;
  running += 1;
  try {
    const last = await runExpress(definition, JSON.parse(input), { runTask });
    if (last === 'NotMine') express.notMine += 1;
    appendFileSync(journal, `${JSON.stringify({ over: name })}\n`);
  } catch (error) {
    console.error(name, error);
  } finally {
    running -= 1;
    express.gigabyteMs += Math.ceil((performance.now() - begun) / STEP_MS) * STEP_MS * CHUNK_GB;
  }
}

/** Runs what an earlier process did not get to the end of. */
function resume(): void {
  if (!existsSync(journal)) return;
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  const read = lines.map((line) => journalLine.parse(JSON.parse(line)));
  const over = new Set(read.flatMap((line) => ('over' in line ? [line.over] : [])));
  for (const line of read) if ('start' in line && !over.has(line.start.name)) void run(line.start);
}

const server = await openLoopbackServer({
  port: settings.port,
  ...limits,
  async handle({ body }) {
    const start = startExecution.parse(JSON.parse(body.toString()));
    appendFileSync(journal, `${JSON.stringify({ start })}\n`);
    wireLog.call('states', 'StartExecution');
    void run(start);
    const executionArn = `arn:aws:states:us-east-1:000000000000:express:lane:${start.name}`;
    return wireAnswer('1.0', { executionArn, startDate: Date.now() / 1000 });
  },
});
const say = (what: ServiceSays) => process.send?.(what);
process.on('message', () => say({ counts: wireLog.snapshot(), express: { ...express }, running }));
process.on('disconnect', () => void functions.close().then(() => process.exit(0)));
resume();
say({ url: server.url });
