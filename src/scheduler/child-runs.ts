/**
 * The built-in engine `pipeline`: the execution of an attempt is a run of another pipeline. It is started, looked at
 * and stopped by the same calls as an execution of Step Functions, and its id is made from the attempt, so a
 * repeated start finds it, and every attempt has a run of its own (C55).
 */
import * as z from 'zod';
import { APPROVALS_ARN, CHILD_RUNS_ARN, MAX_RUN_DEPTH, PASS_ARN } from '#domain/built-in-engines.ts';
import { type AttemptKey, parseExecutionName } from '#domain/execution-name.ts';
import type { Json } from '#domain/json.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import { DamagedRunError, NewerRunError } from '#domain/run-codec.ts';
import { childRunId } from '#domain/run-id.ts';
import type { ExecutionSeen, Executions } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';
import { lookAtRun } from './look-at-run.ts';
import { STOPPED_BY_PARENT } from './parent-run.ts';
import { runPass } from './pass.ts';
import { DecidedTooLongAgoError, inputErrorsInWords, startRun } from './start-run.ts';

const childInput = z.object({
  millrace: z.object({ depth: z.number() }),
  params: z.strictObject({
    pipeline: z.string(),
    input: z.unknown().optional(),
    revision: z.string().optional(),
  }),
});

/** Adds the engines that the scheduler runs itself to those that have a state machine. */
export function withChildRuns(deps: PassDeps): PassDeps {
  const { executions } = deps;
  const all: PassDeps = {
    ...deps,
    engines: new Map([
      ...deps.engines,
      ['pipeline', { stateMachineArn: CHILD_RUNS_ARN }],
      ['pass', { stateMachineArn: PASS_ARN }],
      ['approval', { stateMachineArn: APPROVALS_ARN }],
    ]),
    executions: {
      start: (arn, name, input) =>
        arn === CHILD_RUNS_ARN ? children().start(arn, name, input) : executions.start(arn, name, input),
      describe: (arn, name, urgency) =>
        arn === CHILD_RUNS_ARN ? children().describe(arn, name) : executions.describe(arn, name, urgency),
      listRunning: (arn, pageLimit) =>
        arn === CHILD_RUNS_ARN ? children().listRunning(arn) : executions.listRunning(arn, pageLimit),
      stop: (arn, name, reason) =>
        arn === CHILD_RUNS_ARN ? children().stop(arn, name, reason) : executions.stop(arn, name, reason),
      findMachine: (arn) => executions.findMachine(arn),
    },
  };
  const children = () => createChildRuns(all);
  return all;
}

/** A child whose record is damaged is as good as gone: nobody can say what becomes of it. */
function createChildRuns(deps: PassDeps): Executions {
  const keyOf = (name: string) => parseExecutionName(deps.installation, name) as AttemptKey;
  return {
    start: (_arn, name, input) => startChild(deps, keyOf(name), input).catch(startAnswerOf),
    async describe(_arn, name) {
      const child = await lookAtRun(deps, childRunId(keyOf(name)));
      if (child instanceof NewerRunError) return { kind: 'unanswered', message: child.message };
      return child && !(child instanceof DamagedRunError) ? seen(deps, child) : { kind: 'missing' };
    },
    listRunning: async () => ({ kind: 'unanswered', message: 'runs are looked at one by one' }),
    async stop(_arn, name) {
      const outcome = await runPass(deps, childRunId(keyOf(name)), { command: STOPPED_BY_PARENT });
      if (outcome.kind === 'missing' || outcome.kind === 'damaged') return 'missing';
      return outcome.kind === 'done' ? 'accepted' : 'unanswered';
    },
    findMachine: async () => ({ kind: 'there', isStandard: true }),
  };
}

/** What a start comes to that finds its child and cannot read it, or that slept. */
function startAnswerOf(error: unknown): Awaited<ReturnType<Executions['start']>> {
  if (error instanceof DamagedRunError) return { kind: 'exists' };
  const isForLater = error instanceof NewerRunError || error instanceof DecidedTooLongAgoError;
  if (isForLater) return { kind: 'later', message: error.message };
  throw error;
}

async function startChild(deps: PassDeps, parent: AttemptKey, text: string): ReturnType<Executions['start']> {
  const decidedAt = deps.clock.now();
  const parsed = childInput.safeParse(JSON.parse(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return {
      kind: 'refused',
      message: `params of a pipeline node: ${issue?.path.slice(1).join('.')}: ${issue?.message}`,
    };
  }
  const { params, millrace } = parsed.data;
  if (millrace.depth >= MAX_RUN_DEPTH) {
    return {
      kind: 'refused',
      message: `${MAX_RUN_DEPTH} runs stand above one another already: ${params.pipeline} is not started`,
    };
  }
  const outcome = await startRun(deps, {
    pipeline: params.pipeline,
    input: params.input as Json | undefined,
    revision: params.revision,
    trigger: { type: 'pipeline', runId: parent.run },
    child: { parent, depth: millrace.depth + 1 },
    decidedAt,
  });
  switch (outcome.kind) {
    case 'started':
      return { kind: 'started' };
    case 'replayed':
    case 'conflict':
      return { kind: 'exists' };
    case 'noPipeline':
      return { kind: 'refused', message: `there is no pipeline ${JSON.stringify(params.pipeline)}` };
    case 'noRevision':
      return { kind: 'refused', message: `pipeline ${params.pipeline} has no revision ${params.revision}` };
    case 'invalidInput': {
      const message = `pipeline ${params.pipeline} does not take this input: ${inputErrorsInWords(outcome.errors)}`;
      return { kind: 'refused', message };
    }
    case 'invalidKey':
      return { kind: 'refused', message: 'the run cannot be named' };
  }
}

async function seen(deps: PassDeps, child: RunRecord): Promise<ExecutionSeen> {
  if (!isRunOver(child.state)) return { kind: 'running', startedAt: child.createdAt };
  const { endedAt = child.since, createdAt: startedAt } = child;
  if (child.state === 'SUCCEEDED') {
    const output = child.outputKey === undefined ? 'null' : await deps.runs.readValue(child, child.outputKey);
    return { kind: 'ended', status: 'SUCCEEDED', output: output ?? 'null', startedAt, endedAt };
  }
  const told = child.firstBad?.error ?? child.error;
  const message = `run ${child.id} of ${child.pipeline} ${child.state}${told ? `: ${told.name}: ${told.message}` : ''}`;
  const status = child.state === 'ABORTED' || child.state === 'TIMED_OUT' ? child.state : 'FAILED';
  return { kind: 'ended', status, error: { name: 'Millrace.ChildRunFailed', message }, startedAt, endedAt };
}
