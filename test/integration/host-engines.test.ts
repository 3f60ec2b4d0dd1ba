import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';

let folder: string;
let cdkOut: string;
let host: Host | undefined;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-engines-'));
  cdkOut = await synthesizeApp({ app: 'node test/integration/engine-app.ts', outDir: path.join(folder, 'out') });
}, 60_000);

afterEach(async () => {
  await host?.close();
  host = undefined;
});

afterAll(() => rm(folder, { recursive: true }));

async function open(data: string, assembly = cdkOut): Promise<void> {
  host = await startHost({ cdkOut: assembly, dataDir: path.join(folder, data), port: 0, tickSeconds: 1 });
}

async function send(method: string, target: string, body?: unknown) {
  const answer = await fetch(`${host?.url}${target}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>) };
}

const definition = {
  name: 'words',
  nodes: [{ id: 'count', engine: 'counting', params: { text: '{% $run.input.text %}' } }],
  output: '{% $nodes.count.output %}',
};

describe('an engine of the stack on the development host', () => {
  it('is registered before the first request, and runs the nodes that name it', async () => {
    await open('runs');
    expect(await send('GET', '/v1/engines/counting')).toMatchObject({
      status: 200,
      body: { generation: 1, status: 'Available', maxConcurrent: 2, labels: { team: 'text' } },
    });
    const put = await send('PUT', '/v1/pipelines/words', definition);
    expect(put).toMatchObject({ status: 201, body: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const started = await send('POST', '/v1/pipelines/words/runs', { input: { text: 'the quick brown fox' } });
    const ended = await send('GET', `/v1/runs/${started.body?.['id']}?wait=20`);
    expect(ended.body).toMatchObject({ state: 'SUCCEEDED', output: { counted: 4 } });
  });

  it('that the host cannot run is not registered: who names it waits, and is told', async () => {
    const lines: string[] = [];
    const data = path.join(folder, 'passed-over');
    host = await startHost({ cdkOut, dataDir: data, port: 0, tickSeconds: 1, log: (line) => lines.push(line) });
    expect(lines.join('\n')).toMatch(/state machine .* is not run here: .*JSONata.* Nodes of its engine wait/);
    expect(await send('GET', '/v1/engines/crm')).toMatchObject({ status: 404 });
    const put = await send('PUT', '/v1/pipelines/calls', { name: 'calls', nodes: [{ id: 'ask', engine: 'crm' }] });
    expect(put).toMatchObject({ status: 201, body: { conditions: [{ type: 'Ready', status: 'False' }] } });
  });

  it('is the same one after a restart, whatever was done to it over the API meanwhile', async () => {
    await open('restarts');
    const { body: before } = await send('GET', '/v1/engines/counting');
    await host?.close();
    await open('restarts');
    expect(await send('GET', '/v1/engines/counting')).toMatchObject({
      body: { generation: 1, labels: before?.['labels'] },
    });
    await send('PUT', '/v1/engines/counting', { stateMachineArn: before?.['stateMachineArn'], maxConcurrent: 7 });
    await host?.close();
    await open('restarts');
    expect(await send('GET', '/v1/engines/counting')).toMatchObject({ body: { generation: 1, maxConcurrent: 2 } });
    expect((await send('DELETE', '/v1/engines/counting')).status).toBe(204);
    await host?.close();
    await open('restarts');
    expect(await send('GET', '/v1/engines/counting')).toMatchObject({ body: { generation: 2, maxConcurrent: 2 } });
  });

  it('that is refused keeps the host from starting; the next start goes on from there', async () => {
    const elsewhere = 'arn:aws:states:us-west-2:111122223333:stateMachine:elsewhere';
    const refused = await assemblyWith('refused', { Elsewhere: engine('elsewhere', elsewhere) });
    await expect(open('refused', refused)).rejects.toMatchObject({
      code: 'ENGINE_NOT_REGISTERED',
      message: expect.stringMatching(/"elsewhere" \(Elsewhere\): INVALID_REQUEST: .*another account or region/),
    });
    await open('refused');
    expect((await send('GET', '/v1/engines/elsewhere')).status).toBe(404);
    expect((await send('GET', '/v1/engines/counting')).status).toBe(200);
  });

  it('goes with its construct, and its name may be given again', async () => {
    const machine = { 'Fn::GetAtt': ['LambdaEngineStateMachine5CEDEF5A', 'Arn'] };
    const counting = await assemblyWith('again', { Again: engine('counting', machine) }, ['Custom::MillraceEngine']);
    await open('again');
    await host?.close();
    await open('again', counting);
    expect(await send('GET', '/v1/engines/counting')).toMatchObject({
      body: { generation: 2, labels: { cloudformation: 'Millrace/Again' } },
    });
  });
});

function engine(name: string, stateMachineArn: unknown) {
  const registration = ['{"stateMachineArn":"', stateMachineArn, '"}'];
  const Registration = { 'Fn::Join': ['', registration] };
  return { Type: 'Custom::MillraceEngine', Properties: { Name: name, Registration } };
}

interface Template {
  readonly Resources: Record<string, { readonly Type: string; readonly Properties: Record<string, unknown> }>;
}

/** The assembly with other engines, without resources of some types. */
async function assemblyWith(name: string, more: Template['Resources'], without: string[] = []): Promise<string> {
  const copy = path.join(folder, `out-${name}`);
  await cp(cdkOut, copy, { recursive: true });
  const file = path.join(copy, 'Millrace.template.json');
  const template = JSON.parse(await readFile(file, 'utf8')) as Template;
  const known = Object.entries(template.Resources);
  const token = known.find(([, { Type }]) => Type === 'Custom::MillraceEngine')?.[1].Properties['ServiceToken'];
  const added = Object.entries(more).map(([id, { Type, Properties }]) => {
    return [id, { Type, Properties: { ...Properties, ServiceToken: token } }] as const;
  });
  const Resources = Object.fromEntries([...known.filter(([, { Type }]) => !without.includes(Type)), ...added]);
  await writeFile(file, JSON.stringify({ ...template, Resources }));
  return copy;
}
