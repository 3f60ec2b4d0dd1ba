import { spawn } from 'node:child_process';

/** Ends the processes of functions when the host is gone, however it went. */
export type ProcessReaper = {
  /** Kills the process group of that number when the host ends, unless it is {@link forget forgotten} before. */
  watch(group: number): void;
  /** The group is gone. */
  forget(group: number): void;
};

/** Keeps the groups that it is told of in a list, and kills what is left in it when nobody can tell it anything more. */
const script = `
left=
while read -r what group; do
  case $what in
    watch) left="$left $group" ;;
    forget)
      others=
      for each in $left; do [ "$each" = "$group" ] || others="$others $each"; done
      left=$others ;;
  esac
done
for group in $left; do kill -s KILL -- "-$group"; done 2>/dev/null
`;

/**
 * Starts a reaper, at the first process that there is to watch. A function that loops for ever would not notice that its
 * host was killed, and this process could not tell it any more; a shell that waits for the end of its input can.
 */
export function createProcessReaper(): ProcessReaper {
  let tell: ((line: string) => void) | undefined;
  return {
    watch(group) {
      tell ??= startShell();
      tell(`watch ${group}\n`);
    },
    forget(group) {
      tell?.(`forget ${group}\n`);
    },
  };
}

/** A shell in a session of its own, so that what ends the host by a signal to its group does not end it. */
function startShell(): (line: string) => void {
  const shell = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: {} });
  // Where there is no shell, processes that loop for ever are left behind.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as typeof shell.stdin & { unref?(): void }).unref?.();
  return (line) => void shell.stdin.write(line);
}
