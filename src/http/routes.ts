import { answerRoute } from './answer-route.ts';
import { startBackfillRoute } from './backfill-routes.ts';
import { pauseRunRoute, resumeRunRoute, stopRunRoute } from './control-routes.ts';
import {
  drainEngineRoute,
  getEngineRoute,
  heartbeatEngineRoute,
  listEnginesRoute,
  putEngineRoute,
  removeEngineRoute,
} from './engine-routes.ts';
import { listAttemptsRoute, listItemsRoute } from './item-routes.ts';
import { createLiveTicketRoute } from './live-ticket-route.ts';
import { getLogsRoute } from './logs-route.ts';
import { deleteRunRoute, markNodeRoute } from './mark-routes.ts';
import { getNodeRoute, getOutputRoute, listNodesRoute } from './node-routes.ts';
import { deletePipelineRoute, pausePipelineRoute, resumePipelineRoute } from './pipeline-control-routes.ts';
import {
  getPipelineRoute,
  listPipelinesRoute,
  listRevisionsRoute,
  putPipelineRoute,
  validateRoute,
} from './pipeline-routes.ts';
import { getPoolRoute, listPoolsRoute, putPoolRoute } from './pool-routes.ts';
import { progressRoute } from './progress-route.ts';
import { rerunRoute } from './rerun-routes.ts';
import type { Route } from './route.ts';
import { getRunOutputRoute, getRunRoute, listRunsRoute, startRunRoute } from './run-routes.ts';
import { explainRoute, getHistoryRoute } from './story-routes.ts';
import { healthRoute, openApiRoute } from './system-routes.ts';

/** All routes of the API. */
export const ROUTES: readonly Route[] = [
  putPipelineRoute,
  validateRoute,
  listPipelinesRoute,
  getPipelineRoute,
  listRevisionsRoute,
  pausePipelineRoute,
  resumePipelineRoute,
  deletePipelineRoute,
  startBackfillRoute,
  startRunRoute,
  listRunsRoute,
  getRunRoute,
  getRunOutputRoute,
  listNodesRoute,
  getNodeRoute,
  getOutputRoute,
  listAttemptsRoute,
  listItemsRoute,
  getHistoryRoute,
  explainRoute,
  stopRunRoute,
  pauseRunRoute,
  resumeRunRoute,
  deleteRunRoute,
  markNodeRoute,
  answerRoute,
  progressRoute,
  getLogsRoute,
  rerunRoute,
  putEngineRoute,
  getEngineRoute,
  removeEngineRoute,
  listEnginesRoute,
  drainEngineRoute,
  heartbeatEngineRoute,
  putPoolRoute,
  getPoolRoute,
  listPoolsRoute,
  createLiveTicketRoute,
  healthRoute,
  openApiRoute(() => ROUTES),
];
