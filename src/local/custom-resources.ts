/**
 * CloudFormation's part for engines and pipelines: asks the function that makes them, and waits for what it answers.
 *
 * A resource that an earlier host on the same data made is updated, not created again, and one that is not in the
 * template any more is deleted, as a deployment would do.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { hostArn } from '#local/cloud-address.ts';
import type { Disk, Section } from '#local/disk.ts';
import { HostError, type HostErrorCode } from '#local/host-error.ts';
import type { LambdaFunctions } from '#local/lambda-functions.ts';
import { openLoopbackServer, refusal } from '#local/loopback-server.ts';
import type { HostedResource } from '#local/template.ts';

/** Resources that a function of the template makes, in the order in which they are made, and how one that fails is told of. */
const TYPES: ReadonlyMap<string, { readonly what: string; readonly code: HostErrorCode }> = new Map([
  ['Custom::MillraceEngine', { what: 'engine', code: 'ENGINE_NOT_REGISTERED' }],
  ['Custom::MillracePipeline', { what: 'pipeline', code: 'PIPELINE_NOT_PUT' }],
]);
/** Of what was made by a host that knew no other. */
const FIRST_TYPE = 'Custom::MillraceEngine';
/** How long an answer may take after its invocation is over (ms); it comes before that. */
const ANSWER_MS = 5_000;
/** Invocations of one request; on AWS, Lambda repeats those that end with an error. */
const TRIES = 3;

/** What resources are made with. */
export type CustomResourceSurroundings = {
  readonly disk: Disk;
  readonly stackName: string;
  readonly functions: Pick<LambdaFunctions, 'find' | 'invoke'>;
  /** State machines that the host does not run, by ARN: their engines are not registered, so nodes say that they have none. */
  readonly passedOver?: ReadonlyMap<string, string>;
};

/** What is kept of a resource. */
type Made = {
  readonly physicalId: string;
  readonly properties: HostedResource['properties'];
  readonly type?: string;
};

const answerSchema = z.object({
  Status: z.enum(['SUCCESS', 'FAILED']),
  Reason: z.string().optional(),
  PhysicalResourceId: z.string().min(1),
  RequestId: z.string(),
});

type Answer = z.infer<typeof answerSchema>;

/** What is asked; the rest of the request is the same for all. */
type Asked = {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly ResourceType: string;
  readonly LogicalResourceId: string;
  readonly PhysicalResourceId?: string;
  readonly ResourceProperties: HostedResource['properties'];
  readonly OldResourceProperties?: HostedResource['properties'];
};

/**
 * Makes the engines and pipelines of a template; call it once everything else is going.
 * @throws {HostError} `ENGINE_NOT_REGISTERED`, `PIPELINE_NOT_PUT` with what the function said
 */
export async function makeCustomResources(
  resources: readonly HostedResource[],
  around: CustomResourceSurroundings,
): Promise<void> {
  const hosted = resources.filter((resource) => !around.passedOver?.has(machineOf(resource) ?? ''));
  const wanted = [...TYPES.keys()].flatMap((wantedType) => hosted.filter(({ type }) => type === wantedType));
  if (wanted.length === 0) return;
  const made = around.disk.section<Made>('custom-resources');
  const answers = new Map<string, (answer: Answer) => void>();
  const desk = await openDesk(answers);
  const ask = (asked: Asked) => askFunction(asked, around, answers, desk.url);
  try {
    await removeForgotten(wanted, made, ask);
    for (const { logicalId, properties, type } of wanted) {
      const before = await made.get(logicalId);
      const known = before && { PhysicalResourceId: before.physicalId, OldResourceProperties: before.properties };
      const RequestType = known ? 'Update' : 'Create';
      const common = { ResourceType: type, LogicalResourceId: logicalId, ResourceProperties: properties };
      const { PhysicalResourceId } = await ask({ RequestType, ...common, ...known });
      await made.put(logicalId, { physicalId: PhysicalResourceId, properties, type });
    }
  } finally {
    await desk.close();
  }
}

const registrationSchema = z.object({ stateMachineArn: z.string() });

/** The state machine of an engine. */
function machineOf({ type, properties }: HostedResource): string | undefined {
  if (type !== FIRST_TYPE) return undefined;
  const registration = registrationSchema.safeParse(jsonOf(Buffer.from(String(properties['Registration']))));
  return registration.success ? registration.data.stateMachineArn : undefined;
}

/** First, so that a resource may have taken over the name of one that is gone. */
async function removeForgotten(
  wanted: readonly HostedResource[],
  made: Section<Made>,
  ask: (asked: Asked) => Promise<Answer>,
): Promise<void> {
  const known = new Set(wanted.map(({ logicalId }) => logicalId));
  for await (const [logicalId, { physicalId, properties, type = FIRST_TYPE }] of made.entries()) {
    if (known.has(logicalId)) continue;
    // The function is where it is now, whatever its address was.
    const ServiceToken = wanted[0]?.properties['ServiceToken'];
    const common = { ResourceType: type, LogicalResourceId: logicalId, PhysicalResourceId: physicalId };
    await ask({ RequestType: 'Delete', ...common, ResourceProperties: { ...properties, ServiceToken } });
    await made.del(logicalId);
  }
}

/** Takes the answers: what a presigned address of S3 is on AWS. */
function openDesk(answers: ReadonlyMap<string, (answer: Answer) => void>) {
  return openLoopbackServer({
    port: 0,
    maxBodyBytes: 4096,
    maxHeaderBytes: 10_240,
    async handle({ method, target, body }) {
      const take = method === 'PUT' ? answers.get(target.slice(1)) : undefined;
      const answer = answerSchema.safeParse(jsonOf(body));
      if (!take || !answer.success) return refusal(403, 'Forbidden');
      take(answer.data);
      return { status: 200, body: '' };
    },
  });
}

async function askFunction(
  asked: Asked,
  { functions, stackName }: CustomResourceSurroundings,
  answers: Map<string, (answer: Answer) => void>,
  deskUrl: string,
): Promise<Answer> {
  const RequestId = randomUUID();
  const answered = new Promise<Answer>((resolve) => answers.set(RequestId, resolve));
  const StackId = hostArn('cloudformation', `stack/${stackName}/host`);
  const request = { ...asked, RequestId, StackId, ResponseURL: `${deskUrl}/${RequestId}` };
  const name = functions.find(String(asked.ResourceProperties['ServiceToken']));
  if (name === undefined) throw notMade(asked, 'its ServiceToken names no function of the template');
  try {
    let fault = '';
    for (let tries = 0; tries < TRIES; tries++) {
      const outcome = await functions.invoke(name, { event: JSON.stringify(request) });
      const answer = await Promise.race([answered, after(outcome.ok ? ANSWER_MS : 0)]);
      if (answer?.Status === 'SUCCESS') return answer;
      if (answer) throw notMade(asked, answer.Reason ?? 'no reason was given');
      fault = outcome.ok ? 'it did not answer' : `${outcome.error.errorType}: ${outcome.error.errorMessage}`;
    }
    throw notMade(asked, `${name}: ${fault}`);
  } finally {
    answers.delete(RequestId);
  }
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined).unref());
}

function notMade({ ResourceType, LogicalResourceId, ResourceProperties }: Asked, reason: string): HostError {
  const { what, code } = TYPES.get(ResourceType) ?? { what: ResourceType, code: 'TEMPLATE_INVALID' };
  const name = JSON.stringify(ResourceProperties['Name']);
  return new HostError(code, `the ${what} ${name} (${LogicalResourceId}): ${reason}`);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
