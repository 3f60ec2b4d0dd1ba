/**
 * The three permissions of the HTTP API, as method and path of its routes; each has what the one before it has.
 * A `*` of IAM stands for any characters, `/` too.
 */

/** To start runs. */
export const START_CALLS = ['POST /v1/pipelines/*/runs'] as const;

/** To look at everything, to check a definition, to watch. */
export const READ_CALLS = ['GET /v1/*', 'HEAD /v1/*', 'POST /v1/pipelines:validate', 'POST /v1/live-tickets'] as const;

/** To work with runs as well: start, stop, pause, resume, run again, mark, answer, backfill. */
export const RUN_CALLS = [...READ_CALLS, ...START_CALLS, 'POST /v1/pipelines/*/backfills', 'POST /v1/runs/*'] as const;

/** To do everything: put and delete pipelines, engines, pools, delete runs. */
export const ADMIN_CALLS = ['* /v1/*'] as const;
