import { counted } from './counts-text.ts';
import { mapText } from './map-text.ts';
import type { NodePicture, RunPicture } from './run-picture.ts';
import { isNodeEnded } from './state-style.ts';
import { duration, forHowLong } from './time-text.ts';

/** Upstreams that are named one by one. */
const NAMED = 3;

/** What is worth saying beside a node's state: how long, which attempt, what failed, what it waits for. */
export function nodeNote(node: NodePicture, picture: RunPicture, now: number): string {
  const { state, attempt, reason, since, startedAt, endedAt, error, map } = node;
  const nth = attempt > 1 ? `attempt ${attempt}` : '';
  const failure = error === undefined ? reason : `${error.name}: ${error.message}`;
  switch (state) {
    case 'PENDING':
      return waitsFor(node, picture);
    case 'QUEUED':
      return `${reason} ${forHowLong(since, now)}`;
    case 'RUNNING':
      return joined(map ? mapText(map) : '', duration(now - since), nth);
    case 'RETRY_WAIT':
      return `attempt ${attempt} failed: ${failure}`;
    case 'SUCCEEDED':
      return joined(
        map ? counted(map.total, 'item') : '',
        startedAt === undefined || endedAt === undefined ? '' : duration(endedAt - startedAt),
        nth,
      );
    default:
      return failure;
  }
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(', ');
}

function waitsFor({ upstreams }: NodePicture, picture: RunPicture): string {
  const open = upstreams.filter((id) => !isNodeEnded(picture.get(id)?.state ?? 'PENDING'));
  if (open.length === 0) return '';
  const more = open.length > NAMED ? ` and ${open.length - NAMED} more` : '';
  return `waits for ${open.slice(0, NAMED).join(', ')}${more}`;
}
