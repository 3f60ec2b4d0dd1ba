/** The CDK command line as it is, turned to an emulator. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { MiniStack } from './ministack.ts';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '../..');
const CDK = join(PROJECT, 'node_modules/.bin/cdk');
/** A deployment takes seconds; one that hangs must not hold up the tests for good (ms). */
const TIMEOUT_MS = 400_000;

/** An app, and its one stack. */
export interface CdkApp {
  /** The command that synthesizes it. @default that of cdk.json */
  readonly command?: string;
  readonly stack: string;
}

/** The outputs of a stack. */
export type StackOutputs = Readonly<Record<string, string>>;

const outputsSchema = z.record(z.string(), z.record(z.string(), z.string()));

/** The commands of CDK that the tests use. */
export interface Cdk {
  bootstrap(): Promise<void>;
  /** Synthesizes the app with these context values, and deploys its stack. */
  deploy(context?: Readonly<Record<string, string>>): Promise<StackOutputs>;
  destroy(context?: Readonly<Record<string, string>>): Promise<void>;
}

/**
 * Makes the commands.
 * @param folder where CDK leaves what it writes
 */
export function createCdk(
  { environment }: Pick<MiniStack, 'environment'>,
  folder: string,
  { command, stack }: CdkApp,
): Cdk {
  const { PATH = '' } = process.env;
  const env = {
    ...environment,
    PATH: [dirname(process.execPath), PATH].join(delimiter),
    HOME: folder,
    NO_COLOR: '1',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    CDK_DISABLE_VERSION_CHECK: 'true',
  };
  const cdk = async (...args: string[]) => {
    const all = [...args, '--output', join(folder, 'cdk.out'), '--no-notices', '--no-version-reporting'];
    try {
      await run(CDK, all, { cwd: PROJECT, env, timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 });
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`cdk ${args.join(' ')} failed:\n${stdout}${stderr}`);
    }
  };
  const values = (context: Readonly<Record<string, string>> = {}) => [
    ...(command === undefined ? [] : ['--app', command]),
    ...Object.entries(context).flatMap(([name, value]) => ['--context', `${name}=${value}`]),
  ];
  return {
    bootstrap: () => cdk('bootstrap', 'aws://000000000000/us-east-1'),
    async deploy(context) {
      const outputs = join(folder, 'outputs.json');
      await cdk('deploy', stack, '--require-approval', 'never', '--outputs-file', outputs, ...values(context));
      return outputsSchema.parse(JSON.parse(await readFile(outputs, 'utf8')))[stack] ?? {};
    },
    destroy: (context) => cdk('destroy', stack, '--force', ...values(context)),
  };
}
