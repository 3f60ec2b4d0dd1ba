import { join } from 'node:path';
import type { Companion } from './bundle.ts';

const PROJECT = join(import.meta.dirname, '../..');

/** What loads the S3 client, a megabyte of code: beside the functions that may need it, in a file of its own. */
export const PAYLOAD_STORE: Companion = {
  name: 's3-payload-store',
  file: join(PROJECT, 'src/adapters/aws/s3-payload-store.ts'),
  importedAs: '#adapters/aws/s3-payload-store.ts',
};

/** The helper library as functions import it: wherever they lie, it is the one of this version that they get. */
export const LIBRARY_ALIASES: Readonly<Record<string, string>> = {
  'millrace/function': join(PROJECT, 'src/function/index.ts'),
};
