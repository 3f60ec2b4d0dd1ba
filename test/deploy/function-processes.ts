import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/**
 * Kills the processes that run a function: those whose script lies in a folder named for it, in the emulator's own folder.
 *
 * @returns how many there were
 */
export function killFunction(folder: string, functionName: string): number {
  // The emulator adds eight random characters, which have no hyphen: `node-a` must not be taken for `node`.
  const prefix = `${folder}${sep}ministack-lambda-${functionName}-`;
  const isOurs = (part: string) => part.startsWith(prefix) && !part.slice(prefix.length).split(sep)[0]?.includes('-');
  const found = listProcesses().filter(({ command }) => command.some(isOurs));
  return found.filter(({ pid }) => kill(pid)).length;
}

interface ProcessLine {
  readonly pid: number;
  readonly command: readonly string[];
}

function listProcesses(): ProcessLine[] {
  return process.platform === 'linux' ? ofProcFolder() : ofPs();
}

function ofProcFolder(): ProcessLine[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.flatMap((id) => {
    try {
      return [{ pid: Number(id), command: readFileSync(join('/proc', id, 'cmdline'), 'utf8').split('\0') }];
    } catch {
      // It has ended since the folder was listed.
      return [];
    }
  });
}

function ofPs(): ProcessLine[] {
  const lines = execFileSync('ps', ['-ax', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.map((line) => {
    const [pid = '', ...command] = line.trim().split(/\s+/);
    return { pid: Number(pid), command };
  });
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
