/** The table of the local tests. */
export const TABLE = 'millrace';

const attributes = (type: string, ...names: string[]) =>
  names.map((AttributeName) => ({ AttributeName, AttributeType: type }));
const keys = (hash: string, range: string) => [
  { AttributeName: hash, KeyType: 'HASH' },
  { AttributeName: range, KeyType: 'RANGE' },
];

/** CloudFormation properties of the shape that CDK gives a `TableV2`. */
export const TABLE_PROPERTIES = {
  TableName: TABLE,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [...attributes('S', 'pk', 'sk', 'ds', 'rp', 'rs'), ...attributes('N', 'da')],
  KeySchema: keys('pk', 'sk'),
  GlobalSecondaryIndexes: [
    { IndexName: 'due', KeySchema: keys('ds', 'da'), Projection: { ProjectionType: 'KEYS_ONLY' } },
    { IndexName: 'runs', KeySchema: keys('rp', 'rs'), Projection: { ProjectionType: 'ALL' } },
  ],
  TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
  Replicas: [{ Region: 'us-east-1' }],
};
