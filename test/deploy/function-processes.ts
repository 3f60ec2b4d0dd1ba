import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Ids of the processes that run a function: their script lies in a folder named for it, in the emulator's own folder. */
export function processesOf(folder: string, functionName: string): number[] {
  // The emulator adds eight random characters, which have no hyphen: `node-a` must not be taken for `node`.
  const prefix = `${folder}${sep}ministack-lambda-${functionName}-`;
  const isOurs = (part: string) => part.startsWith(prefix) && !part.slice(prefix.length).split(sep)[0]?.includes('-');
  return listProcesses().flatMap(({ pid, command }) => (command.some(isOurs) ? [pid] : []));
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
