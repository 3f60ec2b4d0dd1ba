import { afterEach, describe, expect, it, vi } from 'vitest';
import { listenForInterrupts } from '../../src/cli/interrupts.ts';

afterEach(() => vi.restoreAllMocks());

describe('listenForInterrupts', () => {
  it('asks for a clean end first, takes an echo of the same press for no other, and leaves at the second one', () => {
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
    const interrupts = listenForInterrupts();
    expect(interrupts.happened).toBe(false);
    process.emit('SIGINT');
    expect(interrupts.signal.aborted).toBe(true);
    clock.mockReturnValue(1300);
    process.emit('SIGINT');
    expect(exit).not.toHaveBeenCalled();
    clock.mockReturnValue(2000);
    process.emit('SIGTERM');
    expect(exit).toHaveBeenCalledExactlyOnceWith(130);
    interrupts.release();
  });

  it('leaves nothing behind', () => {
    const before = process.listenerCount('SIGINT');
    listenForInterrupts().release();
    expect(process.listenerCount('SIGINT')).toBe(before);
  });
});
