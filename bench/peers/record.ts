/** What a run over all peers gives, as it is kept in `last.json`. */
import { z } from 'zod';

const ms = z.number().nonnegative();
const killResult = z.strictObject({
  /** What was killed. */
  what: z.string(),
  /** From the kill to the end of the last node; not there where that did not come while it was waited for. */
  endsAfterMs: ms.optional(),
  /** From the kill to the first start of a node by what was started again. */
  goesOnAfterMs: ms.optional(),
  /** How long the end was waited for. */
  patienceMs: ms,
  /** Nodes that were over before the kill and started again. */
  ranAgain: z.int(),
  /** How often the node in flight started, and ended. */
  inFlightStarts: z.int(),
  inFlightEnds: z.int(),
});
const shapeResult = z.strictObject({ shape: z.string(), nodes: z.int(), ms: z.array(ms) });

const measuredPeer = z.strictObject({
  name: z.string(),
  title: z.string(),
  nodeIs: z.string(),
  versions: z.string(),
  settings: z.string(),
  /** Average load of the machine over a minute, when the peer's turn began. */
  load: z.number(),
  idle: z.strictObject({ corePercent: z.number(), mebibytes: z.number() }).optional(),
  shapes: z.array(shapeResult),
  kills: z.array(killResult),
});
const skippedPeer = z.strictObject({ name: z.string(), title: z.string(), skipped: z.string() });

/** The schema of `last.json`. */
export const peersRecord = z.strictObject({
  machine: z.string(),
  /** When it began, as ISO 8601. */
  date: z.iso.datetime(),
  tookSeconds: z.number(),
  peers: z.array(z.union([measuredPeer, skippedPeer])),
});

/** What a run over all peers gave. */
export type PeersRecord = z.output<typeof peersRecord>;
/** What came of a kill; times in ms. */
export type KillResult = z.output<typeof killResult>;
/** A peer that was measured. */
export type MeasuredPeer = z.output<typeof measuredPeer>;
/** A peer that could not be had, or failed, and why. */
export type SkippedPeer = z.output<typeof skippedPeer>;
