/** Payloads on MiniStack's S3. */
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { createS3Payloads } from '#adapters/aws/s3-payloads.ts';
import { describePayloads } from '../../contract/payloads.contract.ts';
import { useEmulator } from './emulator.ts';

const BUCKET = 'millrace-payloads';

useEmulator();

describePayloads('on MiniStack', async () => {
  const client = new S3Client({});
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  const payloads = createS3Payloads({ bucket: BUCKET, folder: 'inputs' });
  return {
    payloads,
    isServed: true,
    async tamper(Key, Body) {
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
    },
    async close() {
      client.destroy();
      await payloads.close();
    },
  };
});
