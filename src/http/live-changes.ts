/** Brings events to those who look: a change of a run to whoever looks at it, or at its pipeline. */
import * as z from 'zod';
import type { JsonObject } from '#domain/json.ts';
import { runChangedSchema } from './event-schemas.ts';
import { type LiveDeps, pipelineTopic, runTopic } from './live-deps.ts';
import { changeFrame } from './live-frames.ts';
import { sendFrame, settleFeed } from './live-sending.ts';

/** Source of what live updates publish, which they must never hear. */
export const NOTIFIER = 'millrace.notifier';

/** An event of the bus, as EventBridge wraps it. */
export const liveEventSchema = z.object({
  id: z.string(),
  source: z.string(),
  'detail-type': z.string(),
  detail: z.record(z.string(), z.unknown()),
});

/** Hands an event on. One that nobody wants shows whether anybody is there at all. */
export async function tellChange(deps: LiveDeps, event: z.output<typeof liveEventSchema>): Promise<void> {
  const { source, detail, 'detail-type': detailType } = event;
  if (source === NOTIFIER) {
    // The rule leaves our own events out, so one that is here came by a rule that is wrong.
    deps.count('OwnEventDropped');
    deps.log.warn('event of our own dropped', { eventId: event.id, detailType });
    return;
  }
  const checked = detailType === 'RunChanged' ? runChangedSchema.safeParse(detail) : undefined;
  if (!checked?.success) {
    deps.log.warn('event not known', { eventId: event.id, source, detailType, why: checked?.error.message });
    return;
  }
  const { runId, pipeline, rev } = checked.data;
  const now = deps.clock.now();
  const [ofRun, ofPipeline] = await Promise.all([
    deps.live.subscribersOf(runTopic(runId), now),
    deps.live.subscribersOf(pipelineTopic(pipeline), now),
  ]);
  const to = [...new Set([...ofRun, ...ofPipeline])];
  if (to.length === 0) {
    await settleFeed(deps);
    return;
  }
  await sendFrame(deps, to, changeFrame(checked.data as JsonObject));
  deps.log.info('change told', { run: runId, rev, connections: to.length });
}
