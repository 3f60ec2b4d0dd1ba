import { describe, expect, it } from 'vitest';
import { createClient } from '#client/index.ts';
import { followRun } from '../../src/cli/follow-run.ts';
import { json, listen, runBody } from './client/listening-server.ts';

const RUN = runBody({ id: 'r1', state: 'SUCCEEDED', reason: 'Completed', counts: { SUCCEEDED: 1 } });

/** A client of a server that answers two addresses. */
async function clientOf(run: object, output: unknown) {
  const { url } = await listen(({ address }, response) =>
    json(response, 200, address.startsWith('/v1/runs/r1/output') ? output : run),
  );
  return createClient({ url });
}

const options = { everyMs: 1, history: false, maps: new Set<string>(), onLook: () => {} };

describe('a run that is over', () => {
  it('is given with its output, wherever that is', async () => {
    const large = { ...RUN, outputRef: '/v1/runs/r1/output' };
    const run = await followRun(await clientOf(large, { rows: [1, 2] }), 'r1', options);
    expect(run).toEqual({ ...large, output: { rows: [1, 2] } });
  });

  it('is given as it came where the output is in it', async () => {
    const small = { ...RUN, output: 7 };
    expect(await followRun(await clientOf(small, 'unasked'), 'r1', options)).toEqual(small);
  });
});
