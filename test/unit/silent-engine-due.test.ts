/** When an engine whose owner has to report is looked at. */
import { describe, expect, it } from 'vitest';
import { type LimitRecord, limitDueAt, noteStatus } from '#domain/limit.ts';

const TICK_MS = 60_000;
const BEGAN_AT = 1_800_000_000_000;
const SILENT_AT = BEGAN_AT + 10_000;

const engine: LimitRecord = {
  name: 'engine/gpu',
  rev: 1,
  holders: [],
  generations: 1,
  toldStatus: 'Available',
  engine: {
    generation: 1,
    stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:gpu',
    labels: [],
    heartbeatSeconds: 10,
    lastHeartbeatAt: BEGAN_AT,
    updatedAt: BEGAN_AT,
  },
};

describe('an engine whose owner falls silent', () => {
  it('is due when that is, and so it stays while nobody was told, whoever commits meanwhile', () => {
    const due = Math.floor(SILENT_AT / TICK_MS) * TICK_MS;
    expect(limitDueAt(engine, BEGAN_AT + 1_000, TICK_MS)).toBe(due);
    expect(limitDueAt(engine, SILENT_AT + 21_000, TICK_MS)).toBe(due);
  });

  it('is due no more once all were told', () => {
    const now = SILENT_AT + 21_000;
    const { ringsWaiting: _rings, tellsPipelines: _tells, ...told } = noteStatus(engine, now);
    expect(told.toldStatus).toBe('Unavailable');
    expect(limitDueAt(told, now, TICK_MS)).toBeUndefined();
  });
});
