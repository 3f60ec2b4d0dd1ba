import type { Companion } from './bundle.ts';
import { sourceFile } from './project.ts';

/** What loads the S3 client, a megabyte of code: beside the functions that may need it, in a file of its own. */
export const PAYLOAD_STORE: Companion = {
  name: 's3-payload-store',
  file: sourceFile('src/adapters/aws/s3-payload-store'),
  importedAs: '#adapters/aws/s3-payload-store.ts',
};

/** The helper library as functions import it: wherever they lie, it is the one of this version that they get. */
export const LIBRARY_ALIASES: Readonly<Record<string, string>> = {
  'millrace/function': sourceFile('src/function/index'),
};
