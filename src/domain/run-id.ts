/**
 * Ids of runs that something asked for by name (DESIGN, "Names"): the same request gives the same id, so that a
 * repeated one finds the run that the first one made.
 */
import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from './json.ts';
import type { ParentAttempt } from './run.ts';

/**
 * What asked for a run: a caller with a key of its own choice, an event with its id, or an instant (ms since the
 * epoch) of an entry of a schedule, by itself or for a backfill.
 */
export type RunCause =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'event'; readonly eventId: string }
  | { readonly kind: 'schedule'; readonly entry: string; readonly instant: number }
  | { readonly kind: 'backfill'; readonly backfill: string; readonly entry: string; readonly instant: number };

const RUN_ID_LENGTH = 26;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const IDEMPOTENCY_KEY = /^\P{C}{1,255}$/u;

/** The id of the run that a cause makes of a pipeline: 26 lower-case base32 characters. */
export function deriveRunId(pipeline: string, incarnation: string, cause: RunCause): string {
  const text = canonicalJson([pipeline, incarnation, cause.kind, ...nameOf(cause)]);
  return toBase32(createHash('sha256').update(text).digest()).slice(0, RUN_ID_LENGTH);
}

function nameOf(cause: RunCause): Json[] {
  switch (cause.kind) {
    case 'key':
      return [cause.key];
    case 'event':
      return [cause.eventId];
    case 'schedule':
      return [cause.entry, cause.instant];
    case 'backfill':
      return [cause.backfill, cause.entry, cause.instant];
  }
}

/** The id of the run that an attempt of a `pipeline` node makes: its own for each attempt (C55). */
export function childRunId({ run, nonce, node, item, attempt }: ParentAttempt): string {
  const text = canonicalJson(['child', run, nonce, node, item ?? null, attempt]);
  return toBase32(createHash('sha256').update(text).digest()).slice(0, RUN_ID_LENGTH);
}

/** The id of the run that a request with a key makes of an earlier one. */
export function rerunId(runId: string, key: string): string {
  const text = canonicalJson(['rerun', runId, key]);
  return toBase32(createHash('sha256').update(text).digest()).slice(0, RUN_ID_LENGTH);
}

/** Whether a text can be an idempotency key: 1 to 255 printable characters, not all of them blank. */
export function isIdempotencyKey(text: string): boolean {
  return IDEMPOTENCY_KEY.test(text) && text.trim() !== '';
}

/** Tells inputs apart: the same for two texts of one JSON value, whatever the order of keys and the blanks. */
export function hashInput(input: Json): string {
  return createHash('sha256').update(canonicalJson(input)).digest('base64url').slice(0, 22);
}

function toBase32(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32.charAt((held >> (bits - 5)) & 31);
    held &= (1 << bits) - 1;
  }
  return text;
}
