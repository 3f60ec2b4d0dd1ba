/** Whether what users were told of marks, answers, deletions and re-runs is what became of the runs. */
import type { AttemptResult } from '#domain/facts.ts';
import type { NodeCode } from '#domain/node-status.ts';
import { isRunOver, type MarkState, type RunRecord } from '#domain/run.ts';
import { approvalOutcomes, attemptsBegun, cachedItems, isTakenOver, type PlayedRun, playedRun } from './chance.ts';
import { require } from './invariant-error.ts';
import type { Plan } from './plan.ts';
import { checkTakenOver } from './rerun-checks.ts';
import { resultName } from './watched-runs.ts';
import type { World } from './world.ts';

const MARK_LETTERS: Readonly<Record<MarkState, NodeCode>> = { SUCCEEDED: 'M', FAILED: 'x', SKIPPED: 'z' };

/** Checks what became of all that was asked for. */
export function checkAsks(plan: Plan, world: World): void {
  if (!plan.asks) return;
  for (const run of world.runs.everAll()) {
    const played = playedRun(world, plan, run);
    checkMarks(played);
    checkAnswers(played);
    if (run.trigger.type === 'rerun') checkTakenOver(played);
  }
  checkDeletions(world);
}

/** A mark that was accepted is what becomes of its node; what is marked, somebody marked. */
function checkMarks(played: PlayedRun): void {
  const { world, run, nodes, indexOf } = played;
  const asked = world.users.told.filter(({ act, nonce }) => act.kind === 'mark' && nonce === run.nonce);
  for (const { act, answer } of asked) {
    if (act.kind !== 'mark' || answer !== 'accepted') continue;
    const letter = run.nodes[indexOf(Number(act.node.slice(1)))] ?? '';
    const isOther = nodes[Number(act.node.slice(1))]?.branch !== undefined && letter === 'X';
    const isRight = letter === MARK_LETTERS[act.state] || isOther || (run.stop !== undefined && 'Afd'.includes(letter));
    require(world, isRight, () => `${act.node} of run ${run.id} is ${letter}, it was marked ${act.state}`);
  }
  for (const place of nodes.keys()) {
    const letter = run.nodes[indexOf(place)] as NodeCode;
    if (!'Mxz'.includes(letter) || isTakenOver(played, place)) continue;
    require(world, isAskedFor(played, place, letter), () =>
      `nobody marked n${place} of run ${run.id}, it is ${letter}`);
  }
}

function isAskedFor({ plan, run }: PlayedRun, place: number, letter: NodeCode): boolean {
  const isSame = (mark: { readonly place: number; readonly state: MarkState }) =>
    mark.place === place && MARK_LETTERS[mark.state] === letter;
  return (plan.asks ?? []).some((ask) => {
    if (ask.kind === 'rerun') return run.trigger.type === 'rerun' && ask.marks.some(isSame);
    return ask.kind === 'mark' && isSame(ask);
  });
}

/** Of an attempt that waits for an answer, the one that was accepted stands; without any, its time is over. */
function checkAnswers(played: PlayedRun): void {
  const { world, nodes, indexOf } = played;
  for (const [place, node] of nodes.entries()) {
    if (!node.approval || isTakenOver(played, place)) continue;
    const kept = cachedItems(played, place);
    const all = node.map ? [...node.map.items.keys()].filter((item) => !kept.has(item)) : [undefined];
    for (const item of all) {
      for (let attempt = 1; attempt <= attemptsBegun(played, place, item); attempt++) {
        checkAnswer(played, place, { node: indexOf(place), item, attempt });
      }
      require(world, approvalOutcomes(played, place, item).length <= (node.retry?.maxAttempts ?? 1), () =>
        `n${place} waits on`);
    }
  }
}

/** An attempt that waits for an answer. */
type Question = Pick<AttemptResult, 'node' | 'item' | 'attempt'>;

function checkAnswer(played: PlayedRun, place: number, question: Question): void {
  const { world, plan, run } = played;
  const result = world.runs.results.get(resultName(run.nonce, question));
  const approves = result && result.status === 'SUCCEEDED';
  const isAsked = (plan.asks ?? []).some(
    (ask) =>
      ask.kind === 'answer' &&
      ask.place === place &&
      ask.item === question.item &&
      ask.attempt === question.attempt &&
      ask.approve === approves,
  );
  require(world, !result || isAsked, () => `n${place} of run ${run.id} has an answer that nobody gave`);
  checkAccepted(played, place, question, approves);
}

function checkAccepted(
  { world, run }: PlayedRun,
  place: number,
  { item, attempt }: Question,
  approves: boolean | undefined,
): void {
  const accepted = world.users.told.filter(
    ({ act, answer, nonce }) =>
      act.kind === 'answer' &&
      answer === 'accepted' &&
      nonce === run.nonce &&
      act.node === `n${place}` &&
      act.item === item &&
      act.attempt === attempt,
  );
  require(world, accepted.length <= 1, () => `${accepted.length} answers of n${place} of run ${run.id} were accepted`);
  for (const { act } of accepted) {
    const isRight = (act.kind === 'answer' && act.approve === approves) || run.stop !== undefined;
    require(world, isRight, () => `the answer of n${place} of run ${run.id} is not the one that was accepted`);
  }
}

/** A run whose deletion was accepted is gone, and none is gone that nobody asked to delete. */
function checkDeletions(world: World): void {
  const asked = world.users.told.filter(({ act }) => act.kind === 'delete');
  const left = new Map(world.runs.all().map((run) => [run.nonce, run]));
  for (const { run, nonce, answer } of asked) {
    const isAccepted = answer === 'accepted' || answer === 'already';
    require(world, !isAccepted || !left.has(nonce ?? ''), () => `run ${run} is still there, its deletion was accepted`);
  }
  for (const run of world.runs.everAll()) {
    if (left.has(run.nonce)) continue;
    require(world, isWanted(run), () => `run ${run.id} is gone, and was ${run.state}`);
  }
  const isAllForced = world.users.told.some(({ act }) => act.kind === 'deletePipeline' && act.isForced);
  for (const { id, deleted, endedAt = Number.POSITIVE_INFINITY } of world.runs.everAll()) {
    const isForced = isAllForced || asked.some(({ act, run }) => act.kind === 'delete' && act.isForced && run === id);
    const isLate = !deleted || deleted.at + 2 * (world.faults.skewMs ?? 0) >= endedAt;
    require(world, isForced || isLate, () => `run ${id} was deleted while it was active, and nobody forced it`);
  }
}

function isWanted(run: RunRecord): boolean {
  return run.deleted !== undefined && isRunOver(run.state);
}
