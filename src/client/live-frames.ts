/** What the WebSocket of live updates says, as it is given to whoever subscribed. */
import type * as z from 'zod';
import { LIVE_FRAMES } from '#http/live-schemas.ts';
import { isProblemCode, PROBLEMS } from '#http/problem.ts';
import { type ProblemError, toProblemError } from './errors.ts';
import { checkAnswer } from './read-answer.ts';

type Snapshot = z.output<(typeof LIVE_FRAMES)['Snapshot']>;

/** How a run stands, and each of its nodes; it takes the place of all that was told before. */
export type RunSnapshot = Omit<Extract<Snapshot, { nodes: unknown }>, 'truncated'>;
/** The newest runs of a pipeline, as they stand. */
export type PipelineSnapshot = Extract<Snapshot, { runs: unknown }>;
/** What changed in a run, and, where one run was asked for, in which of its nodes. */
export type RunChange = z.output<(typeof LIVE_FRAMES)['RunChanged']>;
/** A frame, with those for the client itself. */
export type LiveFrame = {
  [Type in keyof typeof LIVE_FRAMES]: z.output<(typeof LIVE_FRAMES)[Type]>;
}[keyof typeof LIVE_FRAMES];

/**
 * Reads a frame; undefined for one of a kind that only a newer server knows.
 * @throws NotMillraceError
 */
export function readFrame(text: unknown): LiveFrame | undefined {
  const frame: unknown = JSON.parse(String(text));
  const type = typeof frame === 'object' && frame !== null && 'type' in frame ? String(frame.type) : '';
  if (!Object.hasOwn(LIVE_FRAMES, type)) return undefined;
  return checkAnswer<LiveFrame>(LIVE_FRAMES[type as keyof typeof LIVE_FRAMES], frame, 'live updates');
}

/** What a frame refuses, as the error that a call would have been rejected with. */
export function refusalOf({ code, message, errors }: Extract<LiveFrame, { type: 'Error' }>): ProblemError {
  const { status, title } = isProblemCode(code) ? PROBLEMS[code] : { status: 400, title: code };
  const told = { ...{ type: '', title, status, detail: message, code, requestId: '' }, ...(errors && { errors }) };
  return toProblemError(told as Parameters<typeof toProblemError>[0]);
}
