/** What the functions of the spike work with: today's ports, but for executions, and results that the lane has put. */

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import * as z from 'zod';
import { createTable } from '#adapters/aws/table.ts';
import type { RunStore } from '#ports/index.ts';
import type { Environment, Reporting } from '../../functions/environment.ts';
import { createPassDeps, createPorts } from '../../functions/pass-deps.ts';
import { createLaneExecutions } from './lane-executions.ts';

const laneEnvironment = z.object({ MILLRACE_LANE_URL: z.url() });

/** Makes the ports. Every execution of the installation goes by the lane. */
export function createLanePorts(environment: Environment, reporting: Reporting<'api' | 'scheduler'>) {
  const { MILLRACE_LANE_URL: endpoint } = laneEnvironment.parse(process.env);
  const ports = createPorts(environment, reporting);
  const executions = createLaneExecutions({
    express: new SFNClient({ endpoint, maxAttempts: 1 }),
    table: createTable(new DynamoDBClient({}), environment.MILLRACE_TABLE),
    inbox: ports.inbox,
    clock: ports.clock,
    installation: environment.MILLRACE_INSTALLATION,
  });
  return { ...ports, executions, runs: withPutResults(ports.runs) };
}

/** Makes all that passes work with. */
export function createLanePassDeps(
  environment: Environment,
  reporting: Reporting<'api' | 'scheduler'>,
  ports = createLanePorts(environment, reporting),
) {
  return createPassDeps(environment, reporting, ports);
}

/** The lane puts a success before it tells of it, and nobody else tells of one: passes need not put it again. */
function withPutResults(runs: RunStore): RunStore {
  return {
    ...runs,
    putResult: async (run, result) => (result.status === 'SUCCEEDED' ? result : runs.putResult(run, result)),
  };
}
