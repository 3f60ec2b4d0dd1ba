/**
 * The CDK app: `cdk deploy` runs it, and so does the development host, which hosts the template that it writes.
 * It needs neither network nor account. Its modules are loaded after the compile cache is on: CDK's code is large, and the host waits.
 */
import { enableCompileCache } from 'node:module';
import cdkJson from '../cdk.json' with { type: 'json' };

enableCompileCache();
const { App, RemovalPolicy } = await import('aws-cdk-lib');
const { readContext } = await import('./constructs/context.ts');
const { MillraceStack, SynthesisError } = await import('./index.ts');

const { CDK_CLI_VERSION, CDK_OUTDIR = 'cdk.out' } = process.env;
const app = new App({
  outdir: CDK_OUTDIR,
  autoSynth: false,
  // Only the CDK command line reads cdk.json; both ways must give the same template.
  context: cdkJson.context,
  // CloudFormation's rules take a second; they are checked where a template is on its way to an account.
  builtinCloudFormationValidation: CDK_CLI_VERSION !== undefined,
});
try {
  const { ephemeral, ...props } = readContext(app.node);
  const removalPolicy = ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;
  new MillraceStack(app, 'Millrace', { ...props, removalPolicy });
  app.synth();
} catch (error) {
  if (!(error instanceof SynthesisError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 2;
}
