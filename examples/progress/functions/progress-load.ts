import { setTimeout as sleep } from 'node:timers/promises';
import { defineFunction, reportProgress } from 'millrace/function';
import { z } from 'zod';

const payload = z.object({ files: z.array(z.string()), secondsEach: z.number().min(0).max(10) });

/** Takes its time for each file, and says how many are done. */
export const handler = defineFunction(async (event, context) => {
  const { files, secondsEach } = payload.parse(event);
  let reported = 0;
  for (const [at, file] of files.entries()) {
    await sleep(secondsEach * 1000);
    console.log(`loaded ${file}`);
    const isTaken = await reportProgress(context, (at + 1) / files.length, `${at + 1} of ${files.length} files`);
    if (isTaken) reported += 1;
  }
  return { reported };
});
