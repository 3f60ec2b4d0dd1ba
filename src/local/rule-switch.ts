import { z } from 'zod';
import type { EventRule } from '#local/event-rule.ts';
import { WireError } from '#local/wire-answer.ts';

const requestSchema = z.object({ Name: z.string(), EventBusName: z.string().default('default') });

/**
 * Carries out `EnableRule` or `DisableRule` on the rules of all buses. As on AWS, that stands until the next deployment
 * (here: the next start), which brings the state of the template back.
 * @throws {WireError} `ResourceNotFoundException`, `ValidationException`
 */
export function switchRule(buses: ReadonlyMap<string, Map<string, EventRule>>, isEnabled: boolean, body: Buffer): void {
  const parsed = requestSchema.safeParse(JSON.parse(body.toString()));
  if (!parsed.success) throw new WireError('ValidationException', z.prettifyError(parsed.error));
  const { Name, EventBusName } = parsed.data;
  const rules = buses.get(EventBusName.slice(EventBusName.lastIndexOf('/') + 1));
  const rule = rules?.get(Name);
  if (!rules || !rule)
    throw new WireError('ResourceNotFoundException', `Rule ${Name} does not exist on ${EventBusName}.`);
  rules.set(Name, { ...rule, isEnabled });
}
