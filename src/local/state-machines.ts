import { StateMachine } from 'aws-local-stepfunctions';
import { z } from 'zod';
import { DefinitionError, type PreparedDefinition, prepareDefinition } from '#local/asl-definition.ts';
import type { Disk } from '#local/disk.ts';
import type { NewEvent } from '#local/event-bus.ts';
import { statusChangeEvent } from '#local/execution-event.ts';
import { type ExecutionStore, openExecutionStore } from '#local/execution-store.ts';
import { Executions } from '#local/executions.ts';
import { unsupportedResource } from '#local/host-error.ts';
import type { LambdaFunctions } from '#local/lambda-functions.ts';
import { runLambdaTask } from '#local/lambda-task.ts';
import { stateMachineActions } from '#local/state-machine-protocol.ts';
import type { HostedResource } from '#local/template.ts';
import type { ValidDefinitions } from '#local/valid-definitions.ts';
import { type WireAnswer, WireError, wireAnswer, wireFailure } from '#local/wire-answer.ts';
import type { WireLog } from '#local/wire-log.ts';

/** A state machine of the template. */
export type HostedMachine = {
  readonly arn: string;
  readonly name: string;
  /** The definition as it was given, JSON text. */
  readonly definition: string;
  readonly prepared: PreparedDefinition;
  /** When this host took it up, in milliseconds since 1970. */
  readonly creationDate: number;
};

/** The STANDARD state machines of a template and their executions. */
export type StateMachines = {
  /**
   * Hosts an `AWS::StepFunctions::StateMachine`, or passes over one that asks for what the host cannot do.
   * @throws {HostError} `UNSUPPORTED_RESOURCE` for one that is no valid state machine
   */
  create(resource: HostedResource): Promise<void>;
  /** Machines that were passed over, by ARN, with the reason: the state and what it asks for. */
  readonly passedOver: ReadonlyMap<string, string>;
  /** Publishes and runs again what an earlier host left. Call it once, when every rule and function is there. */
  start(): Promise<void>;
  machine(arn: string): HostedMachine | undefined;
  readonly executions: Executions;
  readonly store: ExecutionStore;
  /** One request of the wire protocol; `target` is the header, `AWSStepFunctions.StartExecution`. */
  handle(target: string, body: Buffer): Promise<WireAnswer>;
  /** Lets go of executions, which stay on disk as running. */
  close(): Promise<void>;
};

/** What state machines need from the host. */
export type StateMachinesSurroundings = {
  readonly disk: Disk;
  readonly wireLog: WireLog;
  readonly functions: LambdaFunctions;
  readonly validDefinitions: ValidDefinitions;
  /** Puts an event on the default bus; resolves when it cannot be lost any more. */
  publish(event: NewEvent): Promise<void>;
  /** Told of what must not fail and did. */
  failed(error: unknown): void;
  /** Told of machines that are passed over. */
  log(line: string): void;
};

const machineProperties = z.object({
  DefinitionString: z.string().optional(),
  Definition: z.record(z.string(), z.unknown()).optional(),
  DefinitionSubstitutions: z.record(z.string(), z.coerce.string()).default({}),
  StateMachineType: z.enum(['STANDARD']).default('STANDARD'),
});

/** Opens the service; machines are hosted by {@link StateMachines.create}. */
export function openStateMachines(around: StateMachinesSurroundings): StateMachines {
  const machines = new Map<string, HostedMachine>();
  const passedOver = new Map<string, string>();
  const store = openExecutionStore(around.disk);
  const executions = new Executions({
    store,
    runTask: (task, argument) => runLambdaTask(around.functions, task, argument),
    transition: () => around.wireLog.count('transitions'),
    publish: (record) => around.publish(statusChangeEvent(record)),
    failed: around.failed,
  });
  const service: StateMachines = {
    executions,
    store,
    passedOver,
    machine: (arn) => machines.get(arn),
    async create(resource) {
      const definition = definitionOf(resource);
      const prepared = prepare(resource, definition, around.validDefinitions.has(definition));
      if (prepared instanceof DefinitionError) {
        passedOver.set(resource.arn, prepared.message);
        around.log(`state machine ${resource.name} is not run here: ${prepared.message}. Nodes of its engine wait.`);
        return;
      }
      around.validDefinitions.add(definition);
      machines.set(resource.arn, {
        arn: resource.arn,
        name: resource.name,
        definition,
        prepared,
        creationDate: Date.now(),
      });
    },
    async start() {
      await executions.announceLeftOver();
      for (const machine of machines.values()) await executions.resume(machine);
    },
    async handle(target, body) {
      try {
        return wireAnswer('1.0', await act(service, around.wireLog, target, body));
      } catch (error) {
        return wireFailure('1.0', error);
      }
    },
    close: () => executions.close(),
  };
  return service;
}

async function act(service: StateMachines, wireLog: WireLog, target: string, body: Buffer): Promise<unknown> {
  const api = target.slice(target.indexOf('.') + 1);
  const action = stateMachineActions.get(api);
  if (action === undefined)
    throw new WireError('UnknownOperationException', `The development host does not know ${api}`);
  wireLog.call('states', api);
  return action(service, parseBody(body));
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new WireError('SerializationException', 'The body is not JSON');
  }
}

function definitionOf(resource: HostedResource): string {
  const parsed = machineProperties.safeParse(resource.properties);
  if (!parsed.success) throw unsupportedResource(resource, z.prettifyError(parsed.error));
  const { DefinitionString, Definition, DefinitionSubstitutions } = parsed.data;
  const text = DefinitionString ?? (Definition === undefined ? undefined : JSON.stringify(Definition));
  if (text === undefined) throw unsupportedResource(resource, 'it has neither DefinitionString nor Definition');
  const substitutions = new Map(Object.entries(DefinitionSubstitutions));
  return text.replaceAll(/\$\{([A-Za-z0-9_]+)\}/g, (whole, name: string) => substitutions.get(name) ?? whole);
}

/** Gives the error for a machine that asks for what the host cannot do. */
function prepare(resource: HostedResource, text: string, isValid: boolean): PreparedDefinition | DefinitionError {
  let definition: unknown;
  try {
    definition = JSON.parse(text);
  } catch (error) {
    throw unsupportedResource(resource, `its definition is not JSON: ${String(error)}`);
  }
  const prepared = tryToPrepare(definition);
  if (prepared instanceof DefinitionError) return prepared;
  try {
    if (!isValid) new StateMachine(definition as ConstructorParameters<typeof StateMachine>[0]);
  } catch (error) {
    throw unsupportedResource(resource, String(error));
  }
  if (prepared instanceof Error) throw isValid ? prepared : unsupportedResource(resource, String(prepared));
  return prepared;
}

/** Done before it is known to be valid: what the package does not know it takes for mistakes. */
function tryToPrepare(definition: unknown): PreparedDefinition | Error {
  try {
    return prepareDefinition(definition);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
