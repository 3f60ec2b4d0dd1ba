/** What users ask of a run: stop, pause, resume. Each is answered once it is committed. */

import type { CommandAnswer } from '#domain/control.ts';
import { isRunId } from '#domain/execution-name.ts';
import type { RunCommand } from '#domain/facts.ts';
import { commandRun } from '#scheduler/command-run.ts';
import { jsonResponse } from './api-message.ts';
import { COMMAND_PROBLEMS, commandedRun } from './command-outcome.ts';
import { emptyRequestSchema } from './field-schemas.ts';
import { BODY_PROBLEMS, readJsonBody } from './request-body.ts';
import { defineRoute, type Route } from './route.ts';
import { readRunView, runNotFound, scopeOf } from './run-reading.ts';
import { commandAnswerSchema } from './run-schemas.ts';

interface Answer {
  readonly outcome: string;
  readonly message: string;
}

const FINISHED: Answer = { outcome: 'ALREADY_FINISHED', message: 'The run was over before.' };
const STOPPED: Answer = { outcome: 'ACCEPTED', message: 'Nothing of the run starts from now on.' };
const STOPPING: Answer = { outcome: 'ALREADY_STOPPING', message: 'The run is being stopped already.' };
const NOT_PAUSED: Answer = { outcome: 'NOT_PAUSED', message: 'The run is not paused.' };

/** What is answered to each command, by what became of it. */
const ANSWERS: Record<RunCommand['kind'], Partial<Record<CommandAnswer, Answer>>> = {
  stop: {
    accepted: STOPPED,
    already: STOPPING,
    stopping: STOPPING,
    over: FINISHED,
    queued: STOPPED,
  },
  pause: {
    accepted: { outcome: 'ACCEPTED', message: 'Nothing of the run starts until it is resumed; what runs finishes.' },
    already: { outcome: 'ALREADY_PAUSED', message: 'The run is paused already.' },
    stopping: { outcome: 'ALREADY_STOPPING', message: 'The run is being stopped; it cannot be paused.' },
    over: FINISHED,
    queued: { outcome: 'NOT_BEGUN', message: 'The run has not begun: it waits for its turn. It can be stopped.' },
  },
  resume: {
    accepted: { outcome: 'ACCEPTED', message: 'The run goes on.' },
    already: NOT_PAUSED,
    stopping: { outcome: 'ALREADY_STOPPING', message: 'The run is being stopped; it cannot be resumed.' },
    over: FINISHED,
    queued: NOT_PAUSED,
  },
};

/** `POST /v1/runs/{runId}/stop` */
export const stopRunRoute = commandRoute('stop', {
  summary: 'Stops a run; answers once that is committed',
  accepted: 'Accepted: the run ends ABORTED, or FAILED if a node was bad before',
  already: 'It is being stopped already, or was over before',
});

/** `POST /v1/runs/{runId}/pause` */
export const pauseRunRoute = commandRoute('pause', {
  summary: 'Pauses a run: nothing starts, what runs finishes',
  accepted: 'Accepted: the run is PAUSED until it is resumed or stopped',
  already: 'It is paused already, is being stopped, or was over before',
});

/** `POST /v1/runs/{runId}/resume` */
export const resumeRunRoute = commandRoute('resume', {
  summary: 'Goes on with a paused run',
  accepted: 'Accepted: the run goes on',
  already: 'It is not paused, is being stopped, or was over before',
});

function commandRoute(
  kind: RunCommand['kind'],
  words: { readonly summary: string; readonly accepted: string; readonly already: string },
): Route {
  return defineRoute({
    method: 'POST',
    path: `/v1/runs/{runId}/${kind}`,
    operationId: `${kind}Run`,
    summary: words.summary,
    body: { mediaTypes: ['application/json'], schema: emptyRequestSchema, required: false },
    answers: {
      202: { description: words.accepted, schema: commandAnswerSchema },
      200: { description: words.already, schema: commandAnswerSchema },
    },
    problems: [...BODY_PROBLEMS, ...COMMAND_PROBLEMS],
    async handle({ deps, request, pathPart }) {
      const runId = pathPart('runId');
      readJsonBody(request, emptyRequestSchema);
      if (!isRunId(runId)) throw runNotFound(runId);
      const { run, answer } = commandedRun(await commandRun(deps, runId, kind, request.by), runId);
      const view = await readRunView(deps, await scopeOf(deps, run));
      return jsonResponse(answer === 'accepted' ? 202 : 200, { ...ANSWERS[kind][answer], run: view });
    },
  });
}
