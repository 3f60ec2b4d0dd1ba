/** An installation that the real CDK deployed to an emulator, with a team's functions from a folder of its own. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Cdk, createCdk } from './cdk.ts';
import { type MiniStack, startMiniStack } from './ministack.ts';
import { type CallApi, createApiCaller } from './signed-api.ts';

/** How it is deployed. */
export interface DeploymentOptions {
  /** Whether the roles of functions are enforced. @default false */
  readonly auth?: boolean;
  /** Whether table and bucket go with the stack. @default true */
  readonly ephemeral?: boolean;
}

const outputsSchema = z.object({
  ApiUrl: z.url(),
  TableName: z.string(),
  BusName: z.string(),
  RequestsUrl: z.url(),
  PayloadBucketName: z.string(),
});

/** Settings of SDK clients of an emulator. */
export interface Clients {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** What the tests work with. */
export interface Deployment {
  readonly emulator: MiniStack;
  readonly outputs: z.output<typeof outputsSchema>;
  /** Calls the API as the owner of the account. */
  readonly call: CallApi;
  /** Settings of SDK clients. */
  readonly clients: Clients;
  /** Changes the text of a function, in the folder that the next deployment takes. */
  changeFunction(name: string, change: (source: string) => string): Promise<void>;
  /** Deploys again. */
  redeploy(): Promise<void>;
  /** Destroys the stack. */
  destroy(): Promise<void>;
  /** Ends the emulator, and removes all files. */
  stop(): Promise<void>;
}

/** The owner of the emulator's account. */
export const OWNER = { accessKeyId: 'test', secretAccessKey: 'test' } as const;

/** Starts an emulator, bootstraps its account and deploys the app of this project there. */
export async function deploy({ auth = false, ephemeral = true }: DeploymentOptions = {}): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-deployment-'));
  const functions = join(folder, 'functions');
  await cp(join(import.meta.dirname, 'functions'), functions, { recursive: true });
  const emulator = await startMiniStack({ auth, tls: true });
  const stop = async () => {
    await emulator.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const context = { functions, ephemeral: String(ephemeral) };
  const clients = { endpoint: emulator.url, region: 'us-east-1', credentials: OWNER };
  const cdk = createCdk(emulator, folder, { stack: 'Millrace' });
  const outputs = await deployFirst(cdk, context).catch(async (error) => {
    await stop();
    throw error;
  });
  return {
    emulator,
    outputs,
    call: createApiCaller(outputs.ApiUrl, OWNER),
    clients,
    async changeFunction(name, change) {
      const file = join(functions, `${name}.ts`);
      await writeFile(file, change(await readFile(file, 'utf8')));
    },
    redeploy: async () => void (await cdk.deploy(context)),
    destroy: () => cdk.destroy(context),
    stop,
  };
}

async function deployFirst(cdk: Cdk, context: Readonly<Record<string, string>>) {
  await cdk.bootstrap();
  return outputsSchema.parse(await cdk.deploy(context));
}
