import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { BlockPublicAccess, Bucket, BucketEncryption, type CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';

/** Settings of the bucket. */
export interface PayloadBucketProps {
  /** Whether the bucket goes with its stack, for tests; it has to be empty then. Otherwise it is kept. */
  readonly ephemeral: boolean;
}

/** Days that a payload is kept after it was last put: as long as results are, since an attempt may take 365. */
const KEPT_DAYS = 800;

/** Who makes the texts of a folder: outputs are made by functions, inputs by Millrace. */
type Folder = 'outputs' | 'inputs';

/**
 * Where payloads are that are too large for Step Functions, each under its own hash. The name is left to
 * CloudFormation: those of buckets are shared by everybody, so that one that can be guessed may be taken.
 */
export class PayloadBucket extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, { ephemeral }: PayloadBucketProps) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      lifecycleRules: [{ expiration: Duration.days(KEPT_DAYS), abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
    Validations.of(this.bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'Only roles of this stack can read it, and CloudTrail can record that; a log bucket would have to be kept, too.',
    });
  }

  /** Allows a function of a team to return large outputs, and to read what it is given by reference. */
  grantToFunction(grantee: IGrantable): void {
    this.grant(grantee, 's3:PutObject', ['outputs']);
    this.grant(grantee, 's3:GetObject', ['outputs', 'inputs']);
  }

  /** Allows one of our own functions to read outputs, to store inputs, and to hand out addresses of both. */
  grantToOwnFunction(grantee: IGrantable): void {
    this.grant(grantee, 's3:PutObject', ['inputs']);
    this.grant(grantee, 's3:GetObject', ['outputs', 'inputs']);
  }

  private grant(grantee: IGrantable, action: string, folders: readonly Folder[]): void {
    Grant.addToPrincipal({
      grantee,
      actions: [action],
      resourceArns: folders.map((folder) => this.bucket.arnForObjects(`${folder}/*`)),
    });
    if (!Construct.isConstruct(grantee.grantPrincipal)) return;
    const bucketId = Stack.of(this).getLogicalId(this.bucket.node.defaultChild as CfnBucket);
    for (const folder of folders) {
      Validations.of(grantee.grantPrincipal).acknowledge({
        id: `AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/${folder}/*]`,
        reason: 'Payloads are made at run time, each under its own hash; whoever knows the hash knows the text.',
      });
    }
  }
}
