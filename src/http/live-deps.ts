import type { Connections, LiveFeed, LiveStore, LiveTopic, Watches } from '#ports/live.ts';
import type { ApiDeps } from './route.ts';
import type { ScopeDeps } from './run-reading.ts';

/** What live updates work with. */
export interface LiveDeps extends ScopeDeps, Pick<ApiDeps, 'limits' | 'reports'> {
  readonly live: LiveStore;
  readonly connections: Connections;
  readonly feed: LiveFeed;
  readonly watches: Watches;
  readonly log: LiveLog;
  /** Counts something, as a metric. */
  readonly count: (name: string, by?: number) => void;
}

/** Where the lines go. */
export interface LiveLog {
  info(message: string, fields: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** The topic of a run's updates. */
export function runTopic(run: string): LiveTopic {
  return `run/${run}`;
}

/** The topic of the updates of all runs of a pipeline. */
export function pipelineTopic(pipeline: string): LiveTopic {
  return `pipeline/${pipeline}`;
}

/** The run that a topic is about; nothing for a pipeline's. */
export function runOf(topic: LiveTopic): string | undefined {
  return topic.startsWith('run/') ? topic.slice('run/'.length) : undefined;
}
