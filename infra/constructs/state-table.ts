import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';

/** Settings of the table. */
export interface StateTableProps {
  readonly tableName: string;
  /** Whether the table goes with its stack, for tests; otherwise it is kept and protected against deletion. */
  readonly ephemeral: boolean;
}

/** Rows that are due, sharded; the tick reads it. Only items with a due time are in it. */
const DUE_INDEX = 'due';

/** Run headers by pipeline and by state, newest first; lists read it. */
const RUNS_INDEX = 'runs';

/** The one table: every aggregate, its history and its results. */
export class StateTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, props: StateTableProps) {
    super(scope, id);
    this.table = new Table(this, 'Table', {
      tableName: props.tableName,
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: 'ttl',
      deletionProtection: !props.ephemeral,
      removalPolicy: props.ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: DUE_INDEX,
      partitionKey: { name: 'ds', type: AttributeType.STRING },
      sortKey: { name: 'da', type: AttributeType.NUMBER },
      projectionType: ProjectionType.KEYS_ONLY,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: RUNS_INDEX,
      partitionKey: { name: 'rp', type: AttributeType.STRING },
      sortKey: { name: 'rs', type: AttributeType.STRING },
      projectionType: ProjectionType.ALL,
    });
  }

  /** Allows reading and writing items. Scans are left out: nothing may grow with the table. */
  grantReadWrite(grantee: IGrantable): void {
    Grant.addToPrincipal({
      grantee,
      actions: [
        'dynamodb:GetItem',
        'dynamodb:BatchGetItem',
        'dynamodb:Query',
        'dynamodb:PutItem',
        'dynamodb:UpdateItem',
        'dynamodb:DeleteItem',
        'dynamodb:BatchWriteItem',
      ],
      resourceArns: [this.table.tableArn],
    });
    Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:Query'],
      resourceArns: [DUE_INDEX, RUNS_INDEX].map((index) => `${this.table.tableArn}/index/${index}`),
    });
  }
}
