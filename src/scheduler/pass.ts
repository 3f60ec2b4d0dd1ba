/**
 * The pass: one reading of a run's facts, one decision, one commit, and then what the commit asks for.
 *
 * P1 Nothing is started that a commit did not decide; every commit is conditional on the revision number read.
 * P2 A pass that loses the race reads again and folds its facts again; results are stored before they are folded.
 * P3 A pass may die at every await: what a commit leaves undone is found by the due time that the commit set.
 * P4 Nothing is started later than P after the reading.
 */
import pMap from 'p-map';
import { answerTo, type CommandAnswer } from '#domain/control.ts';
import { flightKey } from '#domain/draft.ts';
import { wakeAt } from '#domain/due.ts';
import type { AttemptKey } from '#domain/execution-name.ts';
import type { Facts, UserCommand } from '#domain/facts.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { DamagedPipelineError } from '#domain/pipeline-head-codec.ts';
import { type ErrorInfo, isRunOver, owesAnnouncement, type RunRecord } from '#domain/run.ts';
import { DamagedRunError, NewerRunError } from '#domain/run-codec.ts';
import { saysNodes } from '#domain/watch.ts';
import { announce } from './announce.ts';
import { storeAskedResults } from './asked-results.ts';
import { commit } from './commit.ts';
import type { Completion } from './completion.ts';
import { type Decided, decide } from './decide.ts';
import { unlessDeleted } from './deleted-meanwhile.ts';
import { carryOutDeletion, isLeaving } from './deletion.ts';
import type { PassDeps } from './deps.ts';
import { evaluateTemplates } from './evaluation.ts';
import { gather } from './gather.ts';
import { isGivenUp } from './given-up.ts';
import { rememberEnds } from './known-ends.ts';
import { DELETED_WITH_PIPELINE, isLeftBehind } from './left-behind.ts';
import { lookAtRun } from './look-at-run.ts';
import { rememberSuccesses } from './memo.ts';
import { isStillWanted, STOPPED_BY_PARENT } from './parent-run.ts';
import { loadPipeline } from './pipelines.ts';
import type { Reading } from './reading.ts';
import { limitsToRead, readLimitFacts, tellLimits } from './run-limits.ts';
import { standInFor } from './stand-in.ts';
import { PARALLEL_CALLS, startExecutions, stopExecution } from './start-executions.ts';
import { createResultStoring, type StoreResult, storeTold } from './stored-results.ts';

/** Readings of one pass before it leaves the run to the next message. */
const MAX_READINGS = 10;
/** Commits of one reading; more is left to a ring. */
const MAX_COMMITS = 5;
/** How long the pass that committed a change is left to announce it. */
const ANNOUNCE_GRACE_MS = 5_000;
/** Longest delay of a message. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const LONGEST_DELAY_MS = 900_000;
/** What brings a pass: nothing but a ring, attempts to look at, ends of executions, or a command of a user. */
export interface PassInput {
  readonly completions?: readonly Completion[];
  /** Attempts to look at though they are not due. */
  readonly looks?: readonly AttemptKey[];
  readonly command?: UserCommand;
  /** Whether to look at all attempts that are due for one. @default where nothing else brings the pass */
  readonly isRung?: boolean;
  /** What makes it impossible to carry the run on: it is ended. */
  readonly fault?: ErrorInfo;
  /** Limits to read though the run is not known to wait for them. */
  readonly limits?: readonly string[];
  /** Somebody looks at the run live. */
  readonly isWatched?: boolean;
}

/** How a pass ended. `busy`: others kept committing; the facts have to be brought again. */
export type PassOutcome =
  | { readonly kind: 'missing' | 'busy' }
  | { readonly kind: 'newer' | 'damaged'; readonly error: Error }
  | {
      readonly kind: 'done';
      readonly run: RunRecord;
      /** What became of the command. */
      readonly command?: CommandAnswer;
      /** Completions that could not be read in full now, and have to come again. */
      readonly unanswered: number;
    };

interface Tally {
  commits: number;
  conflicts: number;
  results: number;
  polled: number;
  started: number;
  stopped: number;
  /** Results that wait for an evaluation. */
  unfolded: number;
}

/** What one call came to, over all its readings. */
interface Progress {
  readonly tally: Tally;
  readonly storeResult: StoreResult;
  /** A commit took the command. */
  isTaken: boolean;
}

/**
 * Runs a pass over a run.
 * @throws whatever a port throws: the message that brought the pass then comes again, and the due time stands
 */
export async function runPass(deps: PassDeps, runId: string, input: PassInput = {}): Promise<PassOutcome> {
  const tally: Tally = { commits: 0, conflicts: 0, results: 0, polled: 0, started: 0, stopped: 0, unfolded: 0 };
  const progress: Progress = { tally, storeResult: createResultStoring(deps.runs, runId), isTaken: false };
  const looking: PassDeps = { ...deps, executions: rememberEnds(deps.executions) };
  for (let reading = 0; reading < MAX_READINGS; reading++) {
    const outcome = await onePass(looking, runId, input, progress).catch((error) => unlessDeleted(looking, error));
    if (!outcome) {
      tally.conflicts += 1;
      continue;
    }
    if (outcome.kind === 'done') {
      deps.log?.({ run: runId, rev: outcome.run.rev, state: outcome.run.state, ...tally });
    }
    return outcome;
  }
  return { kind: 'busy' };
}

/** One reading; nothing where another pass committed in between, or deleted the run. */
async function onePass(
  deps: PassDeps,
  runId: string,
  input: PassInput,
  progress: Progress,
): Promise<PassOutcome | undefined> {
  const { tally, storeResult } = progress;
  const readAt = deps.clock.now();
  const run = await readWhileStoring(deps, runId, input.completions ?? [], storeResult);
  if (!run) return { kind: 'missing' };
  if (run instanceof DamagedRunError) return { kind: 'damaged', error: run };
  if (run instanceof NewerRunError) return { kind: 'newer', error: run };
  if (run.deleted && input.command && input.command.kind !== 'delete') return { kind: 'missing' };
  if (isLeaving(run)) return leave(deps, run, input);
  const loaded = await loadRevision(deps, run);
  const isLost = loaded instanceof DamagedRunError;
  if (isLost && !isEnding(run, input) && !isGivenUp(deps, run)) return { kind: 'damaged', error: loaded };
  const pipeline = isLost || input.fault ? standInFor(run) : loaded;
  const fault = input.fault ?? (isLost ? { name: 'Millrace.InternalError', message: loaded.message } : undefined);
  const reading: Reading = { pipeline, run, readAt, storeResult };
  const isOverdue = owesAnnouncement(run, saysNodes(pipeline, run)) && isLeftOver(deps, pipeline, run);
  if (isOverdue) await announce(deps, pipeline, run);
  const isSweep = input.isRung ?? !(input.completions || input.looks || input.command || input.isWatched);
  const repeatsStop = input.command?.kind === 'stop' && run.stop !== undefined;
  const gathered = await gather(deps, reading, { ...input, isSweep, repeatsStop });
  tally.results += gathered.results.length;
  tally.polled += gathered.polled;
  tally.started += gathered.started;
  tally.stopped += gathered.stopped;
  const command = input.command ?? (await commandOfOthers(deps, run, isOverdue));
  const facts: Facts = {
    engines: deps.engines,
    limits: new Map(await readLimitFacts(deps, run, [...new Set([...limitsToRead(run), ...(input.limits ?? [])])])),
    results: gathered.results,
    observations: gathered.observations,
    answers: gathered.answers,
    heartbeats: gathered.heartbeats,
    ...(command && { command }),
    ...(fault && { fault }),
    ...(isOverdue && { announced: true }),
    ...(input.isWatched && { isWatched: true }),
  };
  const reached = await advance(deps, reading, facts, progress);
  if (!reached) return undefined;
  const outcome = { pipeline, before: run, after: reached, isTaken: progress.isTaken };
  const answer = input.command && answerTo(input.command, outcome);
  const unanswered = gathered.unanswered + tally.unfolded;
  return { kind: 'done', run: reached, unanswered, ...(answer && { command: answer }) };
}

/** What becomes of a run without a user's command, where what it belongs to has ended. */
async function commandOfOthers(deps: PassDeps, run: RunRecord, isOverdue: boolean): Promise<UserCommand | undefined> {
  if (await isLeftBehind(deps, run, isOverdue)) return DELETED_WITH_PIPELINE;
  return (await isStillWanted(deps, run)) ? undefined : STOPPED_BY_PARENT;
}

/** Whether a run is being ended, or is to be, for which its revision is not needed. */
function isEnding(run: RunRecord, { command }: PassInput): boolean {
  return run.stop !== undefined || isRunOver(run.state) || command?.kind === 'stop' || command?.kind === 'delete';
}

/** The revision of a run: without it, or where it cannot be read, the run is damaged. */
async function loadRevision(deps: PassDeps, run: RunRecord): Promise<CompiledPipeline | DamagedRunError> {
  try {
    const pipeline = await loadPipeline(deps.pipelines, run.pipeline, run.revision);
    if (pipeline) return pipeline;
  } catch (error) {
    if (!(error instanceof DamagedPipelineError)) throw error;
    return new DamagedRunError(run.id, error.message, error);
  }
  return new DamagedRunError(run.id, `revision ${run.revision} of pipeline ${run.pipeline} cannot be found`);
}

/** A pass over a run that is over and to be deleted does that, and nothing else. */
async function leave(deps: PassDeps, run: RunRecord, { command }: PassInput): Promise<PassOutcome> {
  if (command) return { kind: 'done', run, command: 'already', unanswered: 0 };
  await carryOutDeletion(deps, run);
  return { kind: 'done', run, unanswered: 0 };
}

/**
 * Whether an announcement that a commit owes was left undone. One that was committed just now is still being made by
 * the pass that committed it; were it repeated by every pass that follows, none could ever acknowledge it.
 */
function isLeftOver(deps: PassDeps, pipeline: CompiledPipeline, run: RunRecord): boolean {
  const changedAt = saysNodes(pipeline, run) ? (run.decisions.at(-1)?.at ?? run.since) : run.since;
  return deps.clock.now() - changedAt >= Math.min(ANNOUNCE_GRACE_MS, deps.options.tickMs);
}

/** Neither call needs the other's answer, and both are over when this is: a pass leaves nothing under way. */
async function readWhileStoring(
  deps: PassDeps,
  runId: string,
  completions: readonly Completion[],
  storeResult: StoreResult,
) {
  const storing = storeTold(storeResult, completions);
  try {
    return await lookAtRun(deps, runId);
  } finally {
    await storing;
  }
}

/** Decides, commits and carries out, again while carrying out gives facts; nothing where a commit was lost. */
async function advance(
  deps: PassDeps,
  reading: Reading,
  facts: Facts,
  progress: Progress,
): Promise<RunRecord | undefined> {
  const { tally } = progress;
  let { run } = reading;
  tally.unfolded = 0;
  let open: Facts | undefined = facts;
  for (let commits = 0; open && commits < MAX_COMMITS; commits++) {
    const decided = await decide(deps, { ...reading, run }, open);
    tally.unfolded += decided.result.unfolded;
    const next = await commit(deps, run, decided.result);
    if (!next) {
      // Lost to another pass. An acknowledgement alone may be lost: a later pass announces once more.
      return commits > 0 && !open.answers?.length ? run : undefined;
    }
    if (next !== run) tally.commits += 1;
    progress.isTaken ||= decided.result.taken;
    open = await carryOut(deps, { ...reading, run: next }, decided, run, tally);
    run = next;
  }
  return run;
}

/** Carries out what a commit asks for; gives the facts that have to be committed in turn. */
async function carryOut(
  deps: PassDeps,
  reading: Reading,
  decided: Decided,
  before: RunRecord,
  tally: Tally,
): Promise<Facts | undefined> {
  const { run, pipeline } = reading;
  const { commands, again } = decided.result;
  const flightOf = new Map(run.flights.map((flight) => [flightKey(flight), flight]));
  const flightsOf = (kind: 'start' | 'stop') =>
    commands.filter((command) => command.kind === kind).flatMap((command) => flightOf.get(flightKey(command)) ?? []);
  const starts = flightsOf('start');
  const stops = flightsOf('stop');
  tally.started += starts.length;
  tally.stopped += stops.length;
  const answers = starts.length > 0 ? await startExecutions(deps, reading, starts, decided.evaluations) : [];
  await pMap(stops, (flight) => stopExecution(deps, run, flight), { concurrency: PARALLEL_CALLS });
  if (run.deleted && !before.deleted) await deps.runs.removeHeader(run);
  await ring(deps, run, before, again);
  const owes =
    run.rev !== before.rev && owesAnnouncement(run, saysNodes(pipeline, run)) && isOwn(pipeline, run, before);
  if (owes) await announce(deps, pipeline, run);
  if (run.rev !== before.rev) await remember(deps, reading);
  const isUnsettled = answers.some((answer) => answer.answer === 'later' || answer.answer === 'refused');
  const telling = await tellLimits(deps, pipeline, { run, before, facts: decided.limits });
  for (const id of telling?.inTheWay ?? []) {
    await runPass(deps, id, { command: { kind: 'stop', by: `run ${run.id}, which takes its place` } });
  }
  const asked = run === before ? [] : await storeAskedResults(deps, run, reading.storeResult);
  if (!owes && !isUnsettled && !telling?.matters && asked.length === 0) return undefined;
  // That a start was confirmed is not worth a commit of its own: the pass that polls it finds out.
  return {
    engines: deps.engines,
    answers: isUnsettled ? answers : [],
    results: asked,
    ...(owes && { announced: true }),
    ...(telling && { limits: telling.limits, told: telling.told, isSelfDeadlocked: telling.isSelfDeadlocked }),
  };
}

/** Remembers outputs for later runs. */
function remember(deps: PassDeps, reading: Reading): Promise<void> {
  const scope = { ...reading, results: [] };
  return rememberSuccesses(deps, scope, (wanted) => evaluateTemplates(deps, scope, wanted, deps.options.passMs / 3));
}

/** Whether this commit made the change that is to be announced. */
function isOwn(pipeline: CompiledPipeline, run: RunRecord, before: RunRecord): boolean {
  return run.state !== before.state || saysNodes(pipeline, run) || isRunOver(run.state);
}

/** Rings the run itself: at once where more can be decided, and in time for what must not wait for a tick. */
async function ring(deps: PassDeps, run: RunRecord, before: RunRecord, again: boolean): Promise<void> {
  if (again) await deps.inbox.ring(run.id);
  // A pass that changed nothing could do nothing yet: a message at once would only bring the next one like it.
  const wake = run === before ? undefined : wakeAt(run);
  const now = deps.clock.now();
  if (wake === undefined || wake - now > LONGEST_DELAY_MS) return;
  const known = wakeAt(before);
  if (known !== undefined && known <= wake && known > now) return;
  await deps.inbox.ring(run.id, Math.max(0, Math.ceil((wake - now) / 1000)));
}
