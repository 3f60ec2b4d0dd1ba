/** Frames of live updates: JSON texts that fit into one frame of a WebSocket API. */
import type { Json, JsonObject } from '#domain/json.ts';

/** Longest frame that is sent (bytes). A frame of API Gateway holds 32 KB. */
export const MAX_FRAME_BYTES = 25 * 1024;

/** Room for `,"truncated":true` and the list's own marks. */
const MARKS_BYTES = 64;

/** A frame that is short by its nature. */
export function frame(type: string, fields: { readonly [name: string]: Json | undefined }): string {
  return JSON.stringify({ type, ...fields });
}

/**
 * A frame with a list, of which it holds as much as there is room for; it says `truncated` where that is not all.
 * @param fields everything but the list
 */
export function frameWithList(fields: JsonObject, name: string, list: readonly Json[], isPartial = false): string {
  let bytes = Buffer.byteLength(JSON.stringify(fields)) + name.length + MARKS_BYTES;
  let fitting = 0;
  for (const entry of list) {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (bytes > MAX_FRAME_BYTES) break;
    fitting += 1;
  }
  const isCut = isPartial || fitting < list.length;
  return JSON.stringify({ ...fields, [name]: list.slice(0, fitting), ...(isCut && { truncated: true }) });
}

/** The frame of an event `RunChanged`. Its detail was checked by its schema. */
export function changeFrame(detail: JsonObject): string {
  const { schemaVersion: _version, hops: _hops, nodes, truncated, ...fields } = detail;
  const told = { type: 'RunChanged', ...fields } as JsonObject;
  if (!Array.isArray(nodes)) return JSON.stringify(truncated ? { ...told, truncated } : told);
  return frameWithList(told, 'nodes', nodes, truncated === true);
}
