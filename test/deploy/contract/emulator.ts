import { afterAll, beforeAll, vi } from 'vitest';
import { type MiniStack, startMiniStack } from '../ministack.ts';

/** Longest that an emulator may take to start, its Python environment included (ms). */
const START_MS = 240_000;

/**
 * Starts an emulator for the suites of this file, and leads every client of AWS that is made in them to it.
 * @returns the emulator, once it runs
 */
export function useEmulator(): () => MiniStack {
  let emulator: MiniStack;
  beforeAll(async () => {
    emulator = await startMiniStack();
    for (const [name, value] of Object.entries(emulator.environment)) vi.stubEnv(name, value);
  }, START_MS);
  afterAll(async () => {
    vi.unstubAllEnvs();
    await emulator.stop();
  });
  return () => emulator;
}
