/**
 * What a run must come to, worked out from tables over SEMANTICS ("Trigger rules", "Attempts", "States") and nothing
 * else. Written apart from `src/domain` on purpose, and imports none of it: where the two differ, one of them is wrong.
 *
 * It knows no time and no order: a node is looked up once all its upstreams have their final states. Stops, `failFast`
 * and the run's own timeout are not its business, since their outcome does depend on when they come. What time decides
 * of a single node, it is told (`fate`), and says what follows. A child pipeline is an attempt like any other.
 */

/** Final states of a node that nobody stopped. */
export type FinalState = 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED' | 'SKIPPED' | 'UPSTREAM_FAILED';

/** How one attempt ends. `FAILED` carries the error's name; a name of `States.Timeout` is a timeout. */
export type Outcome =
  | { readonly status: 'SUCCEEDED' | 'TIMED_OUT' | 'ABORTED' }
  | { readonly status: 'FAILED'; readonly error: string };

/** A node as the reference sees it. */
export interface ReferenceNode {
  readonly id: string;
  readonly dependsOn: readonly string[];
  /** One of the nine rules. */
  readonly trigger: string;
  /** What its condition gives; absent where it has none. */
  readonly when?: 'true' | 'false' | 'error';
  readonly allowFailure: boolean;
  readonly maxAttempts: number;
  /** Error names that are retried. */
  readonly on: readonly string[];
  /** Error names that are not, whatever `on` says. */
  readonly notOn: readonly string[];
  /** How its attempts end, the first one first; the last one stands for all that follow. */
  readonly outcomes: readonly Outcome[];
  /** Ids of the downstreams that it chooses once it succeeds; `error` where it fails to. Absent: all of them. */
  readonly branch?: readonly string[] | 'error';
  /** Where it is a map: how the attempts of each item end, and how many items may fail. */
  readonly map?: {
    readonly items: readonly (readonly Outcome[])[];
    readonly tolerated: number;
    /** Items whose output was remembered. */
    readonly cached?: ReadonlySet<number>;
  };
  /** It has a cache whose key cannot be had. */
  readonly hasBadKey?: boolean;
  /**
   * What became of it before an attempt, since the time came for it: its output was remembered, or it waited too
   * long for an engine. Both depend on when things happen, so whoever asks has to say.
   */
  readonly fate?: 'cached' | 'queueTimeout';
  /** How many attempts it had made before it waited too long for another one, or was decided. @default 0 */
  readonly attemptsBefore?: number;
  /** What a user made of it, or what it came to in an earlier run that this one takes over: nothing above it counts. */
  readonly decided?: FinalState;
}

/** What a node comes to. */
export interface ReferenceNodeOutcome {
  readonly state: FinalState;
  /** Attempts that are made; of a map that fails, at most, since its items stop at a time that is not told here. */
  readonly attempts: number;
}

/** What a run comes to. */
export interface ReferenceOutcome {
  readonly run: 'SUCCEEDED' | 'FAILED';
  readonly nodes: ReadonlyMap<string, ReferenceNodeOutcome>;
}

type Verdict = 'run' | 'skip' | 'fail';

/**
 * What each rule says once all upstreams are over, by the kinds of end that occur among them: s(uccess), k (skipped),
 * b(ad). R: run. K: skipped. U: upstream failed.
 */
const RULES = `
                              s  k  b  sk sb kb skb
  all_success                 R  K  U  K  U  U  U
  all_done                    R  R  R  R  R  R  R
  one_success                 R  K  U  R  R  U  R
  one_failed                  K  K  R  K  R  R  R
  all_failed                  K  K  R  K  K  K  K
  none_failed                 R  R  U  R  U  U  U
  none_failed_min_one_success R  K  U  R  U  U  U
  none_skipped                R  K  R  K  R  K  K
  always                      R  R  R  R  R  R  R
`;

const [KINDS = [], ...ROWS] = RULES.trim()
  .split('\n')
  .map((line) => line.trim().split(/ +/));
const ROW_OF = new Map(ROWS.map(([rule = '', ...letters]) => [rule, letters]));
const VERDICTS: Readonly<Record<string, Verdict>> = { R: 'run', K: 'skip', U: 'fail' };

type Kind = 's' | 'k' | 'b';
type Nodes = ReadonlyMap<string, ReferenceNode>;
type Settled = ReadonlyMap<string, ReferenceNodeOutcome>;

const KIND_OF: Readonly<Record<FinalState, Kind>> = {
  SUCCEEDED: 's',
  SKIPPED: 'k',
  FAILED: 'b',
  TIMED_OUT: 'b',
  ABORTED: 'b',
  UPSTREAM_FAILED: 'b',
};

/** Works out a run, by going over its nodes until no more of them can be settled. */
export function referenceOutcome(nodes: readonly ReferenceNode[]): ReferenceOutcome {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const settled = new Map<string, ReferenceNodeOutcome>();
  for (let before = -1; before < settled.size; ) {
    before = settled.size;
    for (const node of nodes) {
      if (settled.has(node.id)) continue;
      const verdict = verdictOf(node, byId, settled);
      if (verdict) settled.set(node.id, outcomeOf(node, verdict));
    }
  }
  if (settled.size < nodes.length) throw new Error('the graph has a cycle or an unknown upstream');
  const excused = excusedNodes(nodes, settled);
  const isBad = (node: ReferenceNode) => KIND_OF[stateOf(settled, node.id)] === 'b' && !excused.has(node.id);
  return { run: nodes.some(isBad) ? 'FAILED' : 'SUCCEEDED', nodes: settled };
}

function stateOf(settled: Settled, id: string): FinalState {
  return (settled.get(id) as ReferenceNodeOutcome).state;
}

function verdictOf(node: ReferenceNode, byId: Nodes, settled: Settled): Verdict | undefined {
  if (node.decided) return 'run';
  if (node.dependsOn.length === 0) return 'run';
  if (node.dependsOn.some((id) => !settled.has(id))) return undefined;
  const kinds = new Set(node.dependsOn.map((id) => kindOfEdge(byId.get(id) as ReferenceNode, node, settled)));
  const column = KINDS.indexOf(['s', 'k', 'b'].filter((kind) => kinds.has(kind as Kind)).join(''));
  return VERDICTS[ROW_OF.get(node.trigger)?.[column] ?? ''];
}

/** An edge that its upstream did not choose counts as skipped. */
function kindOfEdge(from: ReferenceNode, to: ReferenceNode, settled: Settled): Kind {
  const state = stateOf(settled, from.id);
  const isUnchosen = state === 'SUCCEEDED' && from.branch !== undefined && !from.branch.includes(to.id);
  return isUnchosen ? 'k' : KIND_OF[state];
}

function outcomeOf(node: ReferenceNode, verdict: Verdict): ReferenceNodeOutcome {
  if (node.decided) return { state: node.decided, attempts: node.attemptsBefore ?? 0 };
  if (verdict === 'skip') return { state: 'SKIPPED', attempts: 0 };
  if (verdict === 'fail') return { state: 'UPSTREAM_FAILED', attempts: 0 };
  if (node.fate === 'queueTimeout') return { state: 'TIMED_OUT', attempts: attemptsBeforeWait(node) };
  if (node.when === 'false') return { state: 'SKIPPED', attempts: 0 };
  if (node.when === 'error') return { state: 'FAILED', attempts: 0 };
  if (node.map) return mapOutcome(node, node.map);
  if (node.hasBadKey) return { state: 'FAILED', attempts: 0 };
  if (node.fate === 'cached') return { state: 'SUCCEEDED', attempts: 0 };
  const { state, attempts } = tries(node, node.outcomes);
  return { state: state === 'SUCCEEDED' && node.branch === 'error' ? 'FAILED' : state, attempts };
}

/** As many as it made, unless it had none left to wait for. */
function attemptsBeforeWait(node: ReferenceNode): number {
  const { attemptsBefore = 0 } = node;
  return attemptsBefore < tries(node, node.outcomes).attempts ? attemptsBefore : Number.NaN;
}

function mapOutcome(node: ReferenceNode, map: NonNullable<ReferenceNode['map']>): ReferenceNodeOutcome {
  const items = map.items.map((outcomes, item): ReferenceNodeOutcome => {
    if (node.hasBadKey) return { state: 'FAILED', attempts: 0 };
    return map.cached?.has(item) ? { state: 'SUCCEEDED', attempts: 0 } : tries(node, outcomes);
  });
  const failed = items.filter(({ state }) => state !== 'SUCCEEDED').length;
  const attempts = items.reduce((sum, item) => sum + item.attempts, 0);
  return { state: failed > map.tolerated ? 'FAILED' : 'SUCCEEDED', attempts };
}

function tries(node: ReferenceNode, outcomes: readonly Outcome[]): ReferenceNodeOutcome {
  for (let attempt = 1; ; attempt++) {
    const outcome = outcomes[Math.min(attempt, outcomes.length) - 1] as Outcome;
    if (outcome.status === 'SUCCEEDED' || outcome.status === 'ABORTED')
      return { state: outcome.status, attempts: attempt };
    const error = outcome.status === 'FAILED' ? outcome.error : 'States.Timeout';
    const isTriedAgain = isNamed(node.on, error) && !isNamed(node.notOn, error) && !FINAL_ERRORS.has(error);
    if (attempt < node.maxAttempts && isTriedAgain) continue;
    return { state: TIMEOUTS.has(error) ? 'TIMED_OUT' : 'FAILED', attempts: attempt };
  }
}

/** Errors that say that a time was over. */
const TIMEOUTS: ReadonlySet<string> = new Set(['States.Timeout', 'Millrace.HeartbeatTimeout']);
/** Errors after which nothing is tried again, whatever the policy says: who was asked has refused. */
const FINAL_ERRORS: ReadonlySet<string> = new Set(['Millrace.ApprovalDenied']);

/** Error names as in the States Language: `States.ALL` is every error, `States.TaskFailed` every one but a timeout. */
function isNamed(names: readonly string[], error: string): boolean {
  const classes = error === 'States.Timeout' ? [error, 'States.ALL'] : [error, 'States.ALL', 'States.TaskFailed'];
  return names.some((name) => classes.includes(name));
}

/** Nodes whose failure does not fail the run: it is allowed, or it comes from allowed failures alone. */
function excusedNodes(nodes: readonly ReferenceNode[], settled: Settled): ReadonlySet<string> {
  const excused = new Set(nodes.filter((node) => node.allowFailure).map((node) => node.id));
  for (let before = -1; before < excused.size; ) {
    before = excused.size;
    for (const node of nodes) {
      if (stateOf(settled, node.id) !== 'UPSTREAM_FAILED') continue;
      const bad = node.dependsOn.filter((id) => KIND_OF[stateOf(settled, id)] === 'b');
      if (bad.every((id) => excused.has(id))) excused.add(node.id);
    }
  }
  return excused;
}
