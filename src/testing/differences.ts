import { canonicalJson, type Json } from '#domain/json.ts';
import type { ErrorInfo } from '#domain/run.ts';
import type { FaultOptions } from './fault-options.ts';
import type { Outcome } from './outcome.ts';

/** What is compared of a run or a node. */
interface End {
  readonly state: string;
  readonly output?: Json;
  readonly error?: ErrorInfo;
}

/**
 * What came out otherwise where things went wrong than where nothing did, a line each.
 * @param compare what has to be the same
 */
export function differences(
  calm: Outcome,
  faulty: Outcome,
  compare: NonNullable<FaultOptions['compare']>,
): readonly string[] {
  const withOutput = compare === 'outputs';
  const ofRun = difference('the run', calm, faulty, withOutput);
  if (compare === 'run') return ofRun;
  const ofNodes = Object.entries(calm.nodes).flatMap(([id, node]) => {
    const other = faulty.nodes[id];
    return other ? difference(`node ${JSON.stringify(id)}`, node, other, withOutput) : [];
  });
  return [...ofRun, ...ofNodes];
}

function difference(what: string, calm: End, faulty: End, withOutput: boolean): readonly string[] {
  const [before, after] = [inWords(calm, withOutput), inWords(faulty, withOutput)];
  return before === after ? [] : [`${what} was ${after}, and ${before} where nothing went wrong`];
}

function inWords({ state, output, error }: End, withOutput: boolean): string {
  if (!withOutput) return state;
  const given = output === undefined ? '' : ` with ${canonicalJson(output)}`;
  return `${state}${given}${error ? ` with the error ${error.name}` : ''}`;
}
