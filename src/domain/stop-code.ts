import type { NodeCode } from './node-status.ts';
import type { StopOrder } from './run.ts';

const STOP_CODES: Record<StopOrder['kind'], NodeCode> = {
  user: 'A',
  failFast: 'f',
  timeout: 'd',
  overlap: 'A',
  fault: 'A',
};

/** The status of what a stopped run never started, or will not try again. */
export function stopCode(stop: StopOrder): NodeCode {
  return STOP_CODES[stop.kind];
}
