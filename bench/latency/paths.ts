/**
 * The ways from the end of an execution to the first line of its downstream's Lambda function, stage by stage.
 *
 * What is in a stage follows the code: a pass that brings news stores the result while it reads the run, decides, commits,
 * and calls StartExecution (`src/scheduler/pass.ts`); where the event is lost, the first tick after the time of the
 * next look rings the run, and a look costs a DescribeExecution (`src/domain/due.ts`, `src/scheduler/gather.ts`).
 */
import type { Draws } from './draws.ts';
import { type Inputs, inputOf, spreadOf } from './inputs.ts';

/** A part of the way: how long it takes this time (ms). */
export interface Stage {
  readonly name: string;
  draw(draws: Draws): number;
}

/** A way. */
export interface Path {
  readonly name: 'event' | 'tick';
  readonly title: string;
  readonly stages: readonly Stage[];
}

/** Memory with which a Lambda function has a whole core (MB). */
const WHOLE_CORE_MB = 1_769;
const LONGEST_LOOK_MS = 15 * 60_000;

/** Both ways, as the inputs have them. */
export function pathsOf(inputs: Inputs): readonly Path[] {
  const drawn = (name: string) => (draws: Draws) => draws.logNormal(spreadOf(inputs, name));
  const stage = (name: string, ...parts: ((draws: Draws) => number)[]): Stage => ({
    name,
    draw: (draws) => parts.reduce((sum, part) => sum + part(draws), 0),
  });
  const cold = (whose: 'scheduler' | 'node') => (draws: Draws) =>
    draws.share() < inputOf(inputs, `${whose}.cold`) ? draws.logNormal(spreadOf(inputs, `${whose}.init`)) : 0;
  const read = drawn('dynamodb.read');
  const write = drawn('dynamodb.write');
  const toScheduler = [
    stage('SQS to the scheduler, warm', drawn('sqs')),
    stage('cold starts of the scheduler', cold('scheduler')),
  ];
  const toNode = [
    stage('DynamoDB: commit', write),
    stage('the scheduler computes', () => computationMs(inputs)),
    stage('StartExecution to the function, warm', drawn('states.start')),
    stage('cold starts of the function', cold('node')),
  ];
  const queries = Array.from({ length: Math.round(inputOf(inputs, 'tick.queries')) }, () => read);
  return [
    {
      name: 'event',
      title: 'the event arrives',
      stages: [
        stage('Step Functions: event is out', drawn('states.event')),
        stage('EventBridge to SQS', drawn('eventbridge')),
        ...toScheduler,
        stage('DynamoDB: read the run, store the result', (draws) => Math.max(read(draws), write(draws))),
        ...toNode,
      ],
    },
    {
      name: 'tick',
      title: 'the event is lost',
      stages: [
        stage('until the tick that looks', (draws) => untilLook(inputs, draws)),
        stage('tick starts, finds what is due, rings', drawn('tick.start'), ...queries, drawn('sqs.send')),
        ...toScheduler,
        stage('DynamoDB: read the run', read),
        stage('DescribeExecution', drawn('states.describe')),
        stage('DynamoDB: store the result', write),
        ...toNode,
      ],
    },
  ];
}

/** What a pass computes, on its share of a core; Lambda gives no more than a whole one to one thread. */
function computationMs(inputs: Inputs): number {
  return inputOf(inputs, 'scheduler.cpu') * Math.max(1, WHOLE_CORE_MB / inputOf(inputs, 'scheduler.memory'));
}

/**
 * From the end of a node whose event is lost to the tick that looks at it. The first look is due a tick after the start;
 * each that finds it running puts the next one twice as far off, up to 15 minutes. Ticks come at some place of the minute.
 */
function untilLook(inputs: Inputs, draws: Draws): number {
  const tickMs = inputOf(inputs, 'tick.seconds') * 1_000;
  const endedAt = inputOf(inputs, 'node.seconds') * 1_000;
  const phase = draws.share() * tickMs;
  const tickFrom = (time: number) => Math.ceil((time - phase) / tickMs) * tickMs + phase;
  let looksAt = tickFrom(tickMs);
  for (let looks = 1; looksAt < endedAt; looks++) {
    looksAt = tickFrom(looksAt + Math.max(tickMs, Math.min(LONGEST_LOOK_MS, tickMs * 2 ** looks)));
  }
  return looksAt - endedAt;
}
