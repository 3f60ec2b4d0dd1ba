import { airflow } from './airflow/peer.ts';
import { dbos } from './dbos/peer.ts';
import { millrace } from './millrace/peer.ts';
import type { Peer } from './peer.ts';
import { prefect } from './prefect/peer.ts';
import { restate } from './restate/peer.ts';

/** All peers, in the order in which they are measured. */
export const peers: readonly Peer[] = [
  millrace,
  dbos({ name: 'dbos', title: 'DBOS, PostgreSQL', synchronousCommit: true }),
  dbos({ name: 'dbos-async', title: 'DBOS, without fsync', synchronousCommit: false }),
  restate({ name: 'restate', title: 'Restate, nodes as calls', nodes: 'calls' }),
  restate({ name: 'restate-steps', title: 'Restate, nodes as steps', nodes: 'steps' }),
  prefect,
  airflow,
];
