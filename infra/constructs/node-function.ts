import { Duration, RemovalPolicy, Stage } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function as LambdaFunction, type RecursiveLoop, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type Bundle, withBundleFolder } from './bundle.ts';

/** What differs between our functions. */
export interface NodeFunctionProps {
  /** The name in Lambda, literally. */
  readonly functionName: string;
  readonly description: string;
  readonly bundle: Bundle;
  readonly timeoutSeconds: number;
  readonly logRetention: RetentionDays;
  /** @default none but the one for source maps */
  readonly environment?: Readonly<Record<string, string>>;
  /** @default Lambda's own: a loop through a queue is ended after about 16 rounds */
  readonly recursiveLoop?: RecursiveLoop;
}

/**
 * A Lambda function as all of ours are: arm64, nodejs24.x, 512 MB, an ES module, a log group of its own, and a role
 * that may write to that log group and do nothing else until an edge is made.
 */
export class NodeFunction extends Construct {
  readonly function: LambdaFunction;
  /** Where it writes its log. */
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: NodeFunctionProps) {
    super(scope, id);
    this.logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${props.functionName}`,
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const { logGroup } = this;
    logGroup.grantWrite(role);
    // The code is copied into the cloud assembly while the function is made.
    this.function = withBundleFolder(props.bundle, assemblyFolder(this), (folder) => {
      return new LambdaFunction(this, 'Function', {
        functionName: props.functionName,
        description: props.description,
        code: Code.fromAsset(folder),
        handler: 'index.handler',
        runtime: Runtime.NODEJS_24_X,
        architecture: Architecture.ARM_64,
        memorySize: 512,
        timeout: Duration.seconds(props.timeoutSeconds),
        environment: { NODE_OPTIONS: '--enable-source-maps', ...props.environment },
        role,
        logGroup,
        ...(props.recursiveLoop && { recursiveLoop: props.recursiveLoop }),
      });
    });
  }
}

function assemblyFolder(scope: Construct): string {
  const stage = Stage.of(scope);
  if (!stage) throw new Error(`${scope.node.path} is not inside an App`);
  return stage.assetOutdir;
}
