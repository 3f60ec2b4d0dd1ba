/** Whether an installation can run a state machine: checked when an engine is put, so that no start has to find out. */
import type { Json } from '#domain/json.ts';
import { isSamePlace, parseStateMachineArn, runStatements, type StateMachineName } from '#domain/state-machine-arn.ts';
import { ApiProblem } from './problem.ts';
import type { ApiDeps } from './route.ts';

/** What is known of state machines. */
export type MachineCheckDeps = Pick<ApiDeps, 'engines' | 'executions' | 'installation'>;

/** State machines whose names begin so may be run by every installation of the account. */
const GRANTED_PREFIX = 'millrace-';

/**
 * Checks a state machine.
 * @throws ApiProblem INVALID_REQUEST, STATE_MACHINE_NOT_FOUND, STATE_MACHINE_DENIED, THROTTLED
 */
export async function checkMachine(deps: MachineCheckDeps, arn: string): Promise<void> {
  const machine = parseStateMachineArn(arn) as StateMachineName;
  const own = parseStateMachineArn(deps.engines.get('lambda')?.stateMachineArn ?? '');
  if (own && !isSamePlace(machine, own)) {
    const place = `arn:${own.partition}:states:${own.region}:${own.account}:stateMachine:…`;
    throw refused(arn, `is in another account or region than this installation; engines are at ${place}`, place);
  }
  const seen = await deps.executions.findMachine(arn);
  switch (seen.kind) {
    case 'there':
      if (!seen.isStandard) throw refused(arn, 'is an EXPRESS state machine; engines are STANDARD', 'type STANDARD');
      return;
    case 'missing':
      throw new ApiProblem('STATE_MACHINE_NOT_FOUND', `There is no state machine ${arn}.`);
    case 'denied':
      throw new ApiProblem('STATE_MACHINE_DENIED', deniedDetail(deps, machine));
    case 'unanswered':
      // Its name says that it may be run; were it gone, the first start would tell.
      if (machine.name.startsWith(GRANTED_PREFIX)) return;
      throw new ApiProblem('THROTTLED', `Step Functions could not say whether ${arn} is there: ${seen.message}`, {
        headers: { 'retry-after': '1' },
      });
  }
}

function refused(arn: string, message: string, allowed: string): ApiProblem {
  const errors = [{ path: 'stateMachineArn', code: 'INVALID_FIELD', message, value: arn as Json, allowed }];
  return new ApiProblem('INVALID_REQUEST', `stateMachineArn: ${message}.`, { errors });
}

function deniedDetail({ installation }: MachineCheckDeps, machine: StateMachineName): string {
  const statements = JSON.stringify(runStatements(machine, installation));
  return (
    `This installation may not run the state machine ${machine.name}. Deploy it with \`-c stateMachines=${machine.name}\`, ` +
    `or give the state machine a name that begins with "${GRANTED_PREFIX}", or add to the roles of the functions ` +
    `${installation}-api and ${installation}-scheduler: ${statements}`
  );
}
