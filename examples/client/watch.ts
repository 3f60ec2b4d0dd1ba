import type { MillraceClient } from 'millrace/client';

/** Tells each change of a run's nodes as it happens, until the run is over. */
export async function watch(
  client: MillraceClient,
  run: string,
  tell: (text: string) => void = console.log,
): Promise<void> {
  for await (const update of client.live.subscribe({ run })) {
    for (const { id, state } of update.nodes ?? []) tell(`${id}: ${state}`);
  }
}
