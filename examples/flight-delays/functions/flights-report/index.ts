import { join } from 'node:path';
import { writeWhole } from '../flights/files.ts';
import { payload, readInput } from './input.ts';
import { renderReport } from './page.ts';

/** Writes the report: one HTML file that needs nothing else. */
export async function handler(event: unknown) {
  const request = payload.parse(event);
  const html = await renderReport(await readInput(request));
  const file = join(request.folder, 'flight-delays.html');
  await writeWhole(file, html);
  return { file, bytes: Buffer.byteLength(html) };
}
