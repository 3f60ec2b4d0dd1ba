/** Ways to break the core. Each takes out one thing that a promise rests on, by exact replacement of text. */
import type { PlanKind } from '../simulation/campaign.ts';

/** One way to break the code. */
export interface Mutation {
  /** What is broken, in words. */
  readonly name: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly from: string;
  readonly to: string;
  /** Kinds of random worlds that are likely to notice it, and are played first. */
  readonly kinds?: readonly PlanKind[];
  /** Files of tests that notice it where few worlds do, and are run before everything else. */
  readonly tests?: readonly string[];
}

const STEP = 'src/domain/step.ts';
const STOP_ORDERS = 'src/domain/stop-orders.ts';
const ATTEMPTS = 'src/domain/attempts.ts';
const LOOKS = 'src/domain/looks.ts';
const DUE = 'src/domain/due.ts';
const STARTS = 'src/domain/starts.ts';
const LIMIT = 'src/domain/limit.ts';
const RUN_LIMITS = 'src/domain/run-limits.ts';
const LIMIT_SWEEP = 'src/scheduler/limit-sweep.ts';
const BACKFILLS = 'src/scheduler/backfills.ts';
const APPROVALS = 'src/domain/approvals.ts';
const PASS = 'src/scheduler/pass.ts';
const COMMIT = 'src/scheduler/commit.ts';
const GATHER = 'src/scheduler/gather.ts';
const START_EXECUTIONS = 'src/scheduler/start-executions.ts';
const MEMORY_RUNS = 'src/adapters/memory/memory-run-store.ts';

/** All mutations. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a commit does not ask for the revision that was read',
    file: MEMORY_RUNS,
    from: 'known?.rev === expectedRev && known.schemaVersion <= RUN_SCHEMA_VERSION',
    to: 'known !== undefined && expectedRev >= 0',
  },
  {
    name: 'a lost commit is taken for made',
    file: COMMIT,
    from: "(await deps.runs.commitRun(next, before.rev)) === 'committed' ? next : undefined",
    to: '(await deps.runs.commitRun(next, before.rev)) && next',
  },
  {
    name: 'executions are started before the commit',
    file: PASS,
    from: '    const next = await commit(deps, run, decided.result);',
    to: `    const early = decided.result.run.flights.filter((flight) => flight.phase === 'starting' && !run.flights.includes(flight));
    await startExecutions(deps, { ...reading, run: decided.result.run }, early, decided.evaluations);
    const next = await commit(deps, run, decided.result);`,
  },
  {
    name: "an execution's name leaves out the attempt",
    file: 'src/domain/execution-name.ts',
    from: '{key.attempt}`',
    to: '{1}`',
  },
  {
    name: "an execution's name leaves out the nonce",
    file: 'src/domain/execution-name.ts',
    from: '{key.nonce}',
    to: "{'aaaaaaaa'}",
  },
  {
    name: 'a run is not due for its attempts in flight',
    file: DUE,
    from: '      least = Math.min(least, flightDueAt(draft.pipeline, flight));\n',
    to: '',
  },
  {
    name: 'due times are rounded up',
    file: DUE,
    from: 'return Math.floor(time / options.tickMs) * options.tickMs;',
    to: 'return Math.ceil(time / options.tickMs + 1) * options.tickMs;',
  },
  {
    name: 'a run that is over leaves the index before its end is published',
    file: STEP,
    from: '  const dueAt = decideDueAt(',
    to: '  const dueAt = isRunOver(draft.state) ? undefined : decideDueAt(',
  },
  {
    name: 'a start is not fenced',
    file: START_EXECUTIONS,
    from: '      if (deps.clock.now() - reading.readAt >= deps.options.passMs) return undefined;\n',
    to: '',
    kinds: ['narrow'],
    tests: ['fence.sim.test.ts', 'crash.sim.test.ts'],
  },
  {
    name: 'an ending is not fenced',
    file: LOOKS,
    from: 'if (draft.readAt - missingSince >= draft.options.passMs + FENCE_MARGIN_MS) {',
    to: 'if (draft.readAt >= missingSince) {',
  },
  {
    name: 'an ending is fenced from its decision, however late that was committed',
    file: LOOKS,
    from: 'if (draft.readAt - missingSince >= draft.options.passMs + FENCE_MARGIN_MS) {',
    to: 'if (draft.readAt - flight.since >= draft.options.passMs + FENCE_MARGIN_MS) {',
    tests: ['fence.sim.test.ts'],
  },
  {
    name: 'a start that came too late is not taken back',
    file: START_EXECUTIONS,
    from: '      if (deps.clock.now() - reading.readAt >= deps.options.passMs) await takeBackLateStart(deps, reading.run, flight);\n',
    to: '',
    tests: ['crash.sim.test.ts'],
  },
  {
    name: 'a result is overwritten',
    file: MEMORY_RUNS,
    from: '      if (known) return known;\n      ofNode',
    to: '      if (known && result.node < 0) return known;\n      ofNode',
  },
  {
    name: 'a stop leaves alone what waits for its next attempt',
    file: STOP_ORDERS,
    from: '    if (!isUnderWay(flight)) {\n      endFlight(draft, flight);',
    to: '    if (!isUnderWay(flight)) {\n      continue;',
  },
  {
    name: 'starts of the step that stops are not taken back',
    file: STOP_ORDERS,
    from: '  takeBackStarts(draft, stop);\n',
    to: '',
  },
  {
    name: 'retries do not count the first attempt',
    file: 'src/domain/retry.ts',
    from: 'if (attempt >= policy.maxAttempts ||',
    to: 'if (attempt > policy.maxAttempts ||',
  },
  {
    name: 'a retry takes the number of the attempt before it',
    file: STARTS,
    from: 'attempt: failed ? failed.attempt + 1 : 1 }',
    to: 'attempt: failed ? failed.attempt : 1 }',
  },
  {
    name: 'an unconfirmed start is not asked for again',
    file: GATHER,
    from: "if (seen !== 'missing' || flight.ending || flight.confirmed) return;",
    to: "if (seen !== 'missing' || flight.attempt > 0) return;",
  },
  {
    name: 'a stop is asked for once only',
    file: GATHER,
    from: '    gathered.stopped += 1;\n    await stopExecution(deps, reading.run, flight);',
    to: '    gathered.stopped += 1;',
  },
  {
    name: 'an attempt whose time is over is not stopped before the next',
    file: ATTEMPTS,
    from: "late + draft.options.stopGraceMs) orderEnd(draft, flight, 'TimedOut');",
    to: 'late + draft.options.stopGraceMs) failAttempt(draft, flight, timeoutError(draft, flight), true);',
  },
  {
    name: 'an attempt is timed out without a look',
    file: ATTEMPTS,
    from: 'const isSeen = draft.readAt >= late && running.has(',
    to: 'const isSeen = draft.now >= late || running.has(',
  },
  {
    name: "an attempt's time runs from the commit, however late it started",
    file: LOOKS,
    from: '    ...(!flight.confirmed && !flight.ending && { since:',
    to: '    ...(!flight.confirmed && startedAt < 0 && { since:',
  },
  {
    name: 'a throttled start counts as a failure',
    file: LOOKS,
    from: "    case 'later':\n      putOffStart(draft, flight);\n      return;",
    to: "    case 'later':\n      putOffStart(draft, flight);\n      refuse(draft, flight, answer);\n      return;",
  },
  {
    name: 'the end of an attempt that is over counts for the next',
    file: ATTEMPTS,
    from: 'return flight?.attempt === key.attempt && isUnderWay(flight) ? flight : undefined;',
    to: 'return flight && isUnderWay(flight) ? flight : undefined;',
  },
  {
    name: "another run's executions count as this one's",
    file: GATHER,
    from: '=> nonce === reading.run.nonce;',
    to: '=> nonce.length === reading.run.nonce.length;',
  },
  {
    name: 'an announcement is not repeated',
    file: PASS,
    from: '&& isLeftOver(deps, pipeline, run);',
    to: '&& isLeftOver(deps, pipeline, run) && readAt < 0;',
  },
  {
    name: 'an announcement tells only the last revision',
    file: 'src/scheduler/announce.ts',
    from: 'sinceRev: run.announced.rev + 1,',
    to: 'sinceRev: run.rev,',
  },
  {
    name: 'decisions are lost when they are put aside',
    file: COMMIT,
    from: '    await deps.runs.putHistory(before, before.rev, before.decisions, before.createdAt);\n',
    to: '',
  },
  {
    name: 'all_success skips at the first skipped upstream',
    file: 'src/domain/trigger.ts',
    from: "  return done ? 'skip' : 'wait';\n}",
    to: "  return done || counts.skipped > 0 ? 'skip' : 'wait';\n}",
  },
  {
    name: 'what follows an allowed failure fails the run',
    file: 'src/domain/step.ts',
    from: " && byte !== byteOf('U') && !node.allowFailure",
    to: ' && !node.allowFailure',
  },
  {
    name: 'a paused run starts what is ready',
    file: STARTS,
    from: 'if (isPaused || work.advanced.has(index)) continue;',
    to: 'if (work.advanced.has(index)) continue;',
  },
  {
    name: 'a start that is asked for again evaluates its parameters at another time',
    file: START_EXECUTIONS,
    from: '    at: flight.startedAt,',
    to: '    at: deps.clock.now(),',
  },
  {
    name: 'an evaluation that was not reached counts as failed',
    file: START_EXECUTIONS,
    from: 'if (!failed || flight.polls < MAX_EVALUATION_TRIES)',
    to: 'if (flight.polls < MAX_EVALUATION_TRIES && (failed || !failed))',
    tests: ['engine.sim.test.ts'],
  },
  {
    name: 'a retry waits for the tick',
    file: PASS,
    from: '  await deps.inbox.ring(run.id, Math.max(0, Math.ceil((wake - now) / 1000)));',
    to: '  if (wake < 0) await deps.inbox.ring(run.id);',
  },
  {
    name: 'a map takes room of a commit though it starts nothing',
    file: STARTS,
    from: '  let used = 0;\n  if (draft.nodes',
    to: '  let used = 1;\n  if (draft.nodes',
  },
  {
    name: 'a run that waits has no row beside its limit',
    file: 'src/scheduler/run-limits.ts',
    from: '  await deps.limits.putWaiting(row);\n',
    to: '',
  },
  {
    name: 'an edge that a branch did not choose counts as a success',
    file: STARTS,
    from: "if (standing === 'success' && isUnchosen(draft, upstream, node.index)) counts.skipped += 1;",
    to: "if (standing === 'skipped' && isUnchosen(draft, upstream, node.index)) counts.skipped += 1;",
  },
  {
    name: 'a map fails only when all that is tolerated and one more have failed',
    file: 'src/domain/maps.ts',
    from: 'return map.failed > toleratedFailures(',
    to: 'return map.failed > 1 + toleratedFailures(',
  },
  {
    name: 'every attempt of a pipeline node starts the same run',
    file: 'src/domain/run-id.ts',
    from: "canonicalJson(['child', run, nonce, node, item ?? null, attempt])",
    to: "canonicalJson(['child', run, nonce, node, item ?? null])",
  },
  {
    name: 'a child does not ask whether it is still wanted',
    file: 'src/scheduler/parent-run.ts',
    from: "if (!parent || run.state !== 'QUEUED') return true;",
    to: "if (!parent || run.state !== 'STOPPING') return true;",
    kinds: ['kin'],
    tests: ['late-child.test.ts'],
  },
  {
    name: 'a stop does not go down to the child',
    file: 'src/scheduler/child-runs.ts',
    from: '      const outcome = await runPass(deps, childRunId(keyOf(name)), { command: STOPPED_BY_PARENT });',
    to: "      const outcome = await runPass(deps, childRunId(keyOf(name)), STOPPED_BY_PARENT.by === '' ? {} : {});",
  },
  {
    name: 'a child that was stopped counts as failed',
    file: 'src/scheduler/child-runs.ts',
    from: "const status = child.state === 'ABORTED' || child.state === 'TIMED_OUT' ? child.state : 'FAILED';",
    to: "const status = child.state === 'TIMED_OUT' ? child.state : 'FAILED';",
  },
  {
    name: 'the key of a cache leaves out the node',
    file: 'src/scheduler/memo.ts',
    from: 'canonicalJson([scope.pipeline.name, node.id, node.engine, key])',
    to: 'canonicalJson([scope.pipeline.name, node.engine, key])',
  },
  {
    name: 'what a run was stopped over is remembered',
    file: 'src/scheduler/memo.ts',
    from: "return rev === run.rev && to === 'S' && attempt > 0;",
    to: "return rev === run.rev && (to === 'S' || to === 'A') && attempt > 0;",
  },
  {
    name: 'no success is remembered',
    file: 'src/scheduler/memo.ts',
    from: "return rev === run.rev && to === 'S' && attempt > 0;",
    to: "return rev === run.rev && to === 'S' && attempt > 9;",
  },
  {
    name: 'the wait of a node counts from the beginning of its run',
    file: STARTS,
    from: 'until: draft.now + node.queueTimeoutMs }',
    to: 'until: draft.before.createdAt + node.queueTimeoutMs }',
  },
  {
    name: 'a run takes the newest revision at each pass',
    file: PASS,
    from: 'await loadPipeline(deps.pipelines, run.pipeline, run.revision);',
    to: 'await loadPipeline(deps.pipelines, run.pipeline, (await deps.pipelines.readHead(run.pipeline))?.revision ?? run.revision);',
  },
  {
    name: 'a pass that changed nothing rings at once',
    file: PASS,
    from: 'const wake = run === before ? undefined : wakeAt(run);',
    to: 'const wake = wakeAt(run);',
    tests: ['random.sim.test.ts'],
  },
  {
    name: 'a limit is committed whoever changed it since it was read',
    file: 'src/adapters/memory/memory-limit-store.ts',
    from: "if ((known?.rev ?? 0) !== expectedRev) return 'conflict';",
    to: "if (expectedRev < 0) return 'conflict';",
  },
  {
    name: 'a slot stays with its attempt between retries',
    file: RUN_LIMITS,
    from: '    if (!isUnderWay(flight)) continue;',
    to: "    if (!isUnderWay(flight) && flight.phase !== 'retry') continue;",
    kinds: ['limits'],
  },
  {
    name: 'a limit grants again what the same row was granted',
    file: LIMIT,
    from: 'return row.wants - (holder?.granted ?? row.taken);',
    to: 'return row.wants - (holder ? row.taken : row.taken);',
    kinds: ['limits'],
  },
  {
    name: 'a row that a pass may have put before it died is forgotten',
    file: RUN_LIMITS,
    from: 'before?.row ?? possibleRow(before);',
    to: 'before?.row ?? possibleRow(undefined);',
    kinds: ['limits'],
  },
  {
    name: 'rows that come late stay',
    file: LIMIT_SWEEP,
    from: '  for (const run of strays) await removeStrayRows(deps, limit.name, run);\n',
    to: '  if (strays.length < 0) for (const run of strays) await removeStrayRows(deps, limit.name, run);\n',
    kinds: ['limits'],
  },
  {
    name: 'slots that were kept once are kept for ever',
    file: RUN_LIMITS,
    from: 'inUse, spare, held: 0, need: 0',
    to: 'inUse, spare, held: entry?.held ?? 0, need: 0',
    kinds: ['limits'],
  },
  {
    name: 'priority is ignored',
    file: STARTS,
    from: 'b.priority - a.priority || a.index - b.index',
    to: 'a.index - b.index',
    kinds: ['limits'],
    tests: ['limits.test.ts'],
  },
  {
    name: 'a run that was not heard is not rung again',
    file: LIMIT_SWEEP,
    from: '  await serve(deps, late, limit.name);\n',
    to: '',
    kinds: ['limits'],
  },
  {
    name: 'fewer slots do not count for what is granted from then on',
    file: LIMIT,
    from: 'Math.max(0, slotsInForce(limit) - heldSlots(limit))',
    to: 'Math.max(0, Math.max(1, slotsInForce(limit)) - heldSlots(limit))',
    kinds: ['limits'],
  },
  {
    name: 'what was granted and not taken up yet is granted to others too',
    file: LIMIT,
    from: 'return limit.holders.reduce((held, holder) => held + holder.granted - holder.returned, 0);',
    to: 'return limit.holders.reduce((held, holder) => held + (holder.unheard ? 0 : holder.granted - holder.returned), 0);',
    kinds: ['limits'],
  },
  {
    name: 'a run that was stopped before it began cleans up',
    file: STOP_ORDERS,
    from: '(node.cleanup && hasBegun)',
    to: '(node.cleanup && (hasBegun || !hasBegun))',
  },
  {
    name: 'a run that waits again relies on a row that another pass takes away',
    file: RUN_LIMITS,
    from: 'row && waits && before && owesRow(before) ? { ...row, wants: 0 } : row;',
    to: 'row;',
    kinds: ['limits'],
  },
  {
    name: 'events of our own are not dropped',
    file: 'src/scheduler/inbox-message.ts',
    from: "event.source === 'millrace.scheduler' ? 'echo' : 'change'",
    to: "event.source === '' ? 'echo' : 'change'",
  },
  {
    name: 'a slot is free while its attempt is being stopped',
    file: RUN_LIMITS,
    from: '    if (!isUnderWay(flight)) continue;',
    to: "    if (!isUnderWay(flight) || flight.phase === 'stopping') continue;",
    kinds: ['limits'],
  },
  {
    name: 'what was granted is swept from a run that has not taken it up yet',
    file: LIMIT_SWEEP,
    from: '      if (known?.nonce !== nonce) {',
    to: '      if (known?.nonce !== nonce || !known.limits?.some((one) => one.limit === limit.name && one.taken >= granted)) {',
    kinds: ['limits'],
  },
  {
    name: 'a run is made without a due time',
    file: 'src/scheduler/new-run.ts',
    from: '    dueAt: floorToTick(now + deps.options.tickMs, deps.options),\n',
    to: '',
  },
  {
    name: 'a request that comes again makes another run',
    file: 'src/scheduler/start-run.ts',
    from: 'request.cause ? deriveRunId',
    to: "request.cause?.kind === 'schedule' ? deriveRunId",
  },
  {
    name: 'an instant that is seen again has another run',
    file: 'src/domain/run-id.ts',
    from: "    case 'schedule':\n      return [cause.entry, cause.instant];",
    to: "    case 'schedule':\n      return [cause.entry, Math.random()];",
  },
  {
    name: 'the tick rings runs alone',
    file: 'src/scheduler/tick.ts',
    from: 'await deps.inbox.ringAll(things);',
    to: "await deps.inbox.ringAll(things.filter(({ kind }) => kind === 'run'));",
    kinds: ['limits'],
  },
  {
    name: 'what newer code wrote is read and written over',
    file: 'src/domain/run-codec.ts',
    from: 'if (stored.schemaVersion > RUN_SCHEMA_VERSION) throw',
    to: 'if (stored.schemaVersion < 0) throw',
  },
  {
    name: 'a backfill runs one more at once than it may',
    file: BACKFILLS,
    from: 'backfill.maxActiveRuns - active.length);',
    to: 'backfill.maxActiveRuns + 1 - active.length);',
    kinds: ['backfilled'],
  },
  {
    name: 'a backfill counts an instant that it did not start',
    file: BACKFILLS,
    from: 'started: backfill.started + wanted, active',
    to: 'started: backfill.started + wanted + 1, active',
    kinds: ['backfilled'],
  },
  {
    name: 'an answer to an item is taken for one to the first',
    file: APPROVALS,
    from: 'draft.flights.get(flightKey(command))',
    to: 'draft.flights.get(flightKey(command.item ? { ...command, item: 0 } : command))',
    kinds: ['answered'],
  },
  {
    name: 'an answer counts for whichever attempt waits',
    file: APPROVALS,
    from: ' && flight.attempt === attempt',
    to: '',
    kinds: ['answered'],
  },
  {
    name: 'an input that is too large is not put aside',
    file: 'src/scheduler/start-params.ts',
    from: 'if (bytes <= PAYLOAD_LIMITS.direct) return {',
    to: 'if (bytes <= 2 * PAYLOAD_LIMITS.direct) return {',
    kinds: ['bulky'],
  },
  {
    name: 'what was deleted goes while somebody may make it again',
    file: 'src/scheduler/deletion.ts',
    from: 'if (mayBeMadeAgain(deps, run)) return;',
    to: '',
    tests: ['deleted-meanwhile.sim.test.ts'],
  },
  {
    name: 'who slept carries a backfill on',
    file: BACKFILLS,
    from: '    decidedAt: readAt,\n',
    to: '',
    tests: ['deleted-meanwhile.sim.test.ts'],
  },
  {
    name: 'what was not announced is due only until the next commit',
    file: STEP,
    from: 'draft.before.rev + 1 : draft.before.rev;',
    to: 'draft.before.rev + 1 : announced.rev;',
    tests: ['owed-announcement.test.ts'],
  },
];
