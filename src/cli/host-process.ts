/** How the process of a development host is started: much of its memory is decided before its first line runs. */

/** The main thread's young generation has three times this at most (MB); V8 by itself lets it grow to 128 MB and more. */
const FLAGS = ['--max-semi-space-size=8'];
/** The C library keeps memory apart for each of a dozen threads, some 80 MB in all, unless it is told not to. */
const VARIABLES = { MALLOC_ARENA_MAX: '2' };

/** What of a process is needed to start it again. */
export type Restartable = Pick<
  NodeJS.Process,
  'argv' | 'execArgv' | 'execPath' | 'env' | 'platform' | 'channel' | 'execve'
>;

/**
 * Starts a process that is going to be a development host once more, as itself, with the settings that keep it small. Others, and those
 * that cannot be replaced (on Windows, or while another process talks to this one), are left as they are.
 */
export function restartAsHost(current: Restartable): void {
  const { argv, execArgv, execPath, env, platform, channel, execve } = current;
  const [, script = '', command] = argv;
  if (command !== 'dev' || FLAGS.every((flag) => execArgv.includes(flag))) return;
  if (execve === undefined || platform === 'win32' || channel !== undefined) return;
  execve.call(current, execPath, [execPath, ...execArgv, ...FLAGS, script, ...argv.slice(2)], { ...VARIABLES, ...env });
}
