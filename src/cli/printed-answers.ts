/** What commands print of an answer of the API: what people read of it, or its JSON unchanged. */
import type { AnswerOf, CallInput, OperationId, Page } from '#client/index.ts';
import { connect } from './connect.ts';
import type { CliContext } from './context.ts';
import { moreLine, type ServerOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { screenOf } from './run-progress.ts';

/**
 * Makes a call and prints its answer.
 * @param lines how people read it
 * @throws MillraceError, CliError
 */
export async function printAnswer<Id extends OperationId>(
  context: CliContext,
  options: ServerOptions,
  [id, input]: readonly [id: Id, input: CallInput<Id>],
  lines: (value: AnswerOf<Id>, screen: Screen) => readonly string[],
): Promise<void> {
  const { output, env } = context;
  const { text, value } = await connect(options, env).call(id, input);
  if (!options.json) for (const line of lines(value, screenOf(context))) output.line(line);
  else if (text !== '') output.line(text);
}

/** How people read a page of a list, with how to go on where there is more. */
export function pageLines<Item>(
  lines: (items: readonly Item[], screen: Screen) => readonly string[],
): (page: Page<Item>, screen: Screen) => readonly string[] {
  return ({ items, nextCursor }, screen) => [...lines(items, screen), ...moreLine(nextCursor)];
}
