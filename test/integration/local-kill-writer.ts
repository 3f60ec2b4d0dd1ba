import { join } from 'node:path';
import { openDisk } from '#local/disk.ts';
import { openEventBuses } from '#local/event-bus.ts';
import { openQueues } from '#local/queues.ts';
import { openTables } from '#local/tables.ts';
import { createWireLog } from '#local/wire-log.ts';
import { TABLE, TABLE_PROPERTIES } from './local-table-properties.ts';

/** Writes until it is killed; prints the number of each write that was answered. */
const [dataDir = '', queueArn = ''] = process.argv.slice(2);
const wireLog = createWireLog();
const disk = await openDisk(dataDir);
const queues = openQueues({ disk, wireLog });
await queues.create({ arn: queueArn, url: 'http://127.0.0.1/inbox' }, {});
const buses = openEventBuses({ disk, wireLog, sendToQueue: queues.send, invokeFunction: async () => undefined });
buses.createRule(
  { name: 'r', arn: 'r' },
  { EventPattern: { source: ['writer'] }, Targets: [{ Id: 'q', Arn: queueArn, InputPath: '$.detail.n' }] },
);
const tables = await openTables({ folder: join(dataDir, 'dynamodb'), wireLog });
await tables.create(TABLE, TABLE_PROPERTIES);

for (let n = 1; ; n++) {
  const Item = { pk: { S: 'run' }, sk: { S: 'A' }, ds: { S: '0' }, da: { N: String(n) } };
  const Entries = [{ Source: 'writer', DetailType: 't', Detail: JSON.stringify({ n }) }];
  await Promise.all([
    tables.handle('DynamoDB_20120810.PutItem', Buffer.from(JSON.stringify({ TableName: TABLE, Item }))),
    buses.handle('AWSEvents.PutEvents', Buffer.from(JSON.stringify({ Entries }))),
  ]);
  process.stdout.write(`${n}\n`);
}
