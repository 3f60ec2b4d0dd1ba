import { describe, expect, it } from 'vitest';
import type { ApiAnswer, ApiCall, ApiClient } from '../../src/cli/api-client.ts';
import { runShape } from '../../src/cli/api-shapes.ts';
import { followRun } from '../../src/cli/follow-run.ts';

const RUN = {
  id: 'r1',
  pipeline: 'p',
  revision: 'rev',
  state: 'SUCCEEDED',
  reason: 'Completed',
  message: 'All is over.',
  since: '2026-11-30T12:00:01.000Z',
  createdAt: '2026-11-30T12:00:00.000Z',
  trigger: { type: 'api' },
  tags: {},
  counts: { SUCCEEDED: 1 },
  rev: 3,
};

/** A server that answers two addresses. */
function serverOf(run: object, output: unknown): ApiClient {
  const send = async ({ path }: ApiCall): Promise<ApiAnswer> => {
    const value = path.startsWith('/v1/runs/r1/output') ? output : run;
    return { status: 200, text: JSON.stringify(value), value };
  };
  return {
    url: 'http://127.0.0.1',
    requests: 0,
    send,
    read: async (shape, call) => shape.parse((await send(call)).value),
  };
}

const options = { everyMs: 1, history: false, maps: new Set<string>(), onLook: () => {} };

describe('a run that has ended', () => {
  it('is given with its output, wherever that is', async () => {
    const large = { ...RUN, outputRef: '/v1/runs/r1/output' };
    const { value, run } = await followRun(serverOf(large, { rows: [1, 2] }), 'r1', options);
    expect(run.output).toEqual({ rows: [1, 2] });
    expect(value).toEqual({ ...large, output: { rows: [1, 2] } });
  });

  it('is given as it came where the output is in it', async () => {
    const small = { ...RUN, output: 7 };
    expect(await followRun(serverOf(small, 'unasked'), 'r1', options)).toEqual({
      value: small,
      run: runShape.parse(small),
    });
  });
});
