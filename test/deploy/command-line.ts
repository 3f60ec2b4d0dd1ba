/** The command line as a process, turned to an API on the emulator. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { AwsCredentials } from '#function/signed-request.ts';
import type { MiniStack } from './ministack.ts';

/** What a command came to. */
export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `millrace …` as somebody with these credentials. Hosts of AWS's APIs are signed for by themselves; this one has to be told. */
export function millrace(
  { environment }: MiniStack,
  apiUrl: string,
  { accessKeyId, secretAccessKey, sessionToken = '' }: AwsCredentials,
  args: readonly string[],
): Promise<CommandOutcome> {
  const { PATH = '' } = process.env;
  const env = {
    ...environment,
    PATH,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    MILLRACE_AUTH: 'iam',
    MILLRACE_URL: apiUrl,
  };
  const names = join(import.meta.dirname, 'loopback-names.mjs');
  const command = join(import.meta.dirname, '../../bin/millrace.js');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', names, command, ...args],
      { env, timeout: 120_000 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
      },
    );
  });
}
