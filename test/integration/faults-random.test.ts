/** `MILLRACE_FAULT_RUNS=200 npx vitest run --project integration test/integration/faults-random.test.ts`: so many runs under random trouble. */
import { describe, expect, it } from 'vitest';
import { drawFrom, everyKind, playRound, type Round } from './fault-campaigns.ts';

const rounds = Math.ceil(Number(process.env['MILLRACE_FAULT_RUNS'] ?? 0) / everyKind.length);
const firstSeed = Number(process.env['MILLRACE_FAULT_SEED'] ?? 1);

const troubles = [
  'drop-events=1',
  'drop-events=0.5,repeat-events=0.5',
  'repeat-events=1',
  'delay-events=2s',
  'kill=scheduler:0.3,kill=api:0.2',
  'kill=scheduler:0.6',
  'throttle=StartExecution:0.7,throttle=DescribeExecution:0.5,throttle=StopExecution:0.5',
  'throttle=GetItem:0.3,throttle=PutItem:0.3,throttle=UpdateItem:0.3,throttle=SendMessage:0.5,throttle=PutEvents:0.5',
  'drop-events=0.3,repeat-events=0.3,delay-events=1s,kill=scheduler:0.3,kill=api:0.2',
];

/** Draws every kind of trouble, alone and together. */
function drawRound(seed: number): Round {
  const draw = drawFrom(seed);
  const chaos = troubles[draw(troubles.length)];
  const isStopped = draw(2) === 0;
  return {
    seed,
    ...(chaos !== undefined && { chaos }),
    tickSeconds: 1 + draw(2),
    hostKills: Math.max(0, draw(5) - 2),
    nodeMs: draw(400),
    killWithinMs: 300 + draw(2500),
    ...(isStopped && { stopWithinMs: 200 + draw(4000) }),
  };
}

describe.runIf(rounds > 0)('runs under random trouble', () => {
  it.each(Array.from({ length: rounds }, (_, index) => firstSeed + index))('end right, seed %i', async (seed) => {
    const { faults, remarks } = await playRound(drawRound(seed));
    expect(faults, `${JSON.stringify(drawRound(seed))} ${remarks.join('\n')}`).toEqual([]);
  });
});
