import { describe, expect, it, vi } from 'vitest';
import { type Restartable, restartAsHost } from '../../src/cli/host-process.ts';

function aProcess(changes: object = {}) {
  const execve = vi.fn<(file: string, args?: readonly string[], env?: NodeJS.ProcessEnv) => never>();
  const process = {
    argv: ['/bin/node', 'millrace.js', 'dev', '--port', '0'],
    execArgv: ['--enable-source-maps'],
    execPath: '/bin/node',
    env: { HOME: '/home/me' },
    platform: 'linux',
    channel: undefined,
    execve,
    ...changes,
  };
  return { process: process as unknown as Restartable, execve };
}

describe('restartAsHost', () => {
  it('starts `millrace dev` once more with what keeps its memory small, and all that it had', () => {
    const { process, execve } = aProcess();
    restartAsHost(process);
    expect(execve.mock.calls).toEqual([
      [
        '/bin/node',
        ['/bin/node', '--enable-source-maps', '--max-semi-space-size=8', 'millrace.js', 'dev', '--port', '0'],
        { HOME: '/home/me', MALLOC_ARENA_MAX: '2' },
      ],
    ]);
  });

  it('goes on where it was started so', () => {
    const { process, execve } = aProcess({ execArgv: ['--max-semi-space-size=8'] });
    restartAsHost(process);
    expect(execve).not.toHaveBeenCalled();
  });

  it('leaves settings of the user as they are', () => {
    const { process, execve } = aProcess({ env: { MALLOC_ARENA_MAX: '8' } });
    restartAsHost(process);
    expect(execve.mock.calls[0]?.[2]).toEqual({ MALLOC_ARENA_MAX: '8' });
  });

  it.each([
    ['another command', { argv: ['/bin/node', 'millrace.js', 'runs'] }],
    ['no command', { argv: ['/bin/node', 'millrace.js'] }],
    ['Windows', { platform: 'win32' as const }],
    ['a Node.js that cannot replace its process', { execve: undefined }],
    ['a process that another one talks to', { channel: {} as NonNullable<NodeJS.Process['channel']> }],
  ])('leaves a process as it is: %s', (_what, changes) => {
    const { process, execve } = aProcess(changes);
    restartAsHost(process);
    expect(execve).not.toHaveBeenCalled();
  });
});
