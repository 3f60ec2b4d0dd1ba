/** What commands that show something print: the API's answer as people read it, or its JSON unchanged. */
import type * as z from 'zod';
import { createApiClient } from './api-client.ts';
import { pageShape } from './api-shapes.ts';
import type { CliContext } from './context.ts';
import { moreLine, type ServerOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { screenOf } from './run-progress.ts';
import { serverUrl } from './server-url.ts';

/** Where something is read, what it has to look like, and how people read it. */
interface Shown<Shape extends z.ZodType, Value> {
  readonly path: string;
  readonly shape: Shape;
  readonly lines: (value: Value, screen: Screen) => readonly string[];
}

/**
 * Prints a page of a list, and how to go on where there is more.
 * @throws CliError
 */
export async function printPage<Item extends z.ZodType>(
  { path, shape, lines }: Shown<Item, readonly z.output<Item>[]>,
  { url, json }: ServerOptions,
  context: CliContext,
): Promise<void> {
  const { output, env } = context;
  const api = createApiClient(serverUrl(url, env));
  if (json) return output.line((await api.send({ path })).text);
  const { items, nextCursor } = await api.read(pageShape(shape), { path });
  for (const line of [...lines(items, screenOf(context)), ...moreLine(nextCursor)]) output.line(line);
}

/**
 * Prints one thing.
 * @throws CliError
 */
export async function printOne<Shape extends z.ZodType>(
  { path, shape, lines }: Shown<Shape, z.output<Shape>>,
  { url, json }: ServerOptions,
  context: CliContext,
): Promise<void> {
  const { output, env } = context;
  const api = createApiClient(serverUrl(url, env));
  if (json) return output.line((await api.send({ path })).text);
  for (const line of lines(await api.read(shape, { path }), screenOf(context))) output.line(line);
}
