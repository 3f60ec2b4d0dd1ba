import pc from 'picocolors';
import type { LiveArea, Output } from '../../src/cli/output.ts';
import { runCli } from '../../src/cli/program.ts';

/** An output that keeps what is written to it, without colours. */
export function captureOutput(
  terminal: { readonly columns?: number; readonly rows?: number; readonly live?: LiveArea } = {},
) {
  const { columns = 120, rows = 24, live } = terminal;
  const out: string[] = [];
  const err: string[] = [];
  const style = pc.createColors(false);
  const output: Output = {
    line: (text = '') => void out.push(text),
    error: (text) => void err.push(text),
    style,
    errorStyle: style,
    live,
    columns: () => columns,
    rows: () => rows,
  };
  return { output, out, err };
}

/** Runs a command line in this process. */
export async function runHere(
  argv: readonly string[],
  {
    cwd = import.meta.dirname,
    env = {},
  }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
) {
  const { output, out, err } = captureOutput();
  const code = await runCli(argv, '1.2.3', { output, env, cwd, now: Date.now });
  return { code, stdout: out.join('\n'), stderr: err.join('\n') };
}

/** A screen of some size at some time, without colours. */
export function screen(now = 0, { columns = 120, rows = 24 } = {}) {
  return { style: pc.createColors(false), columns, rows, now };
}

/** What a test says of something the API answers, where the rest of it does not matter. */
export function as<Answer>(value: object): Answer {
  return value as Answer;
}
