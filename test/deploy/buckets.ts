import { DeleteObjectsCommand, ListObjectsV2Command, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** Deletes all that is in a bucket: CloudFormation deletes empty ones alone. */
export async function emptyBucket(clients: S3ClientConfig, bucket: string): Promise<void> {
  const s3 = new S3Client({ ...clients, forcePathStyle: true });
  try {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
    if (Contents.length === 0) return;
    const objects = Contents.map(({ Key }) => ({ Key }));
    await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects } }));
  } finally {
    s3.destroy();
  }
}
