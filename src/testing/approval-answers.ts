/** The people of a test who answer approvals. */
import { isApproval } from '#domain/approvals.ts';
import type { Json } from '#domain/json.ts';
import type { Flight, RunRecord } from '#domain/run.ts';
import { answerAttempt } from '#scheduler/ask-run.ts';
import type { Happening, Stage } from './stage.ts';

/** How long people think, unless they say so (virtual ms). */
const USUAL_MS = 1_000;
/** How soon an answer is given again that nobody took (ms). */
const AGAIN_MS = 1_000;

/** An answer to an approval. */
export interface ApprovalReply {
  readonly approve: boolean;
  /** What the node gives, where it is approved. @default null */
  readonly output?: Json;
  readonly comment?: string;
  /** Who answers. @default 'test' */
  readonly by?: string;
  /** How long after it was asked for (virtual ms). @default 1000 */
  readonly afterMs?: number;
}

/** What is asked of whoever answers. */
export interface ApprovalQuestion {
  readonly prompt: string;
  readonly attempt: number;
  readonly item?: number;
}

/** The reply to a node's approvals: always the same, or one for each question; nothing, where nobody answers. */
export type ApprovalReplies = ApprovalReply | ((question: ApprovalQuestion) => ApprovalReply | undefined);

interface Question {
  readonly run: RunRecord;
  readonly flight: Flight;
  readonly reply: ApprovalReply;
  readonly at: number;
}

/** Answers what is asked on a stage, by the id of the node that asks. */
export class ApprovalAnswers implements Happening {
  private readonly stage: Stage & { nodeOf(run: RunRecord, index: number): string };
  private readonly replies: ReadonlyMap<string, ApprovalReplies>;
  private readonly known = new Map<string, ApprovalReply | undefined>();
  /** When a question is answered again, or infinite once it is answered. */
  private readonly nextTry = new Map<string, number>();

  constructor(stage: ApprovalAnswers['stage'], replies: ReadonlyMap<string, ApprovalReplies>) {
    this.stage = stage;
    this.replies = replies;
  }

  isBusy(): boolean {
    return Number.isFinite(this.nextAt());
  }

  nextAt(): number {
    return Math.min(...this.open().map(({ at }) => at));
  }

  async act(): Promise<void> {
    for (const question of this.open().filter(({ at }) => at <= this.stage.now)) await this.answer(question);
  }

  private open(): Question[] {
    if (this.replies.size === 0) return [];
    return this.stage.runs.all().flatMap((run) =>
      run.flights.flatMap((flight) => {
        if (!isApproval(run, flight) || flight.phase !== 'running' || flight.answer) return [];
        const reply = this.replyTo(run, flight);
        if (!reply) return [];
        const at = this.nextTry.get(keyOf(run, flight)) ?? flight.startedAt + (reply.afterMs ?? USUAL_MS);
        return [{ run, flight, reply, at }];
      }),
    );
  }

  private replyTo(run: RunRecord, flight: Flight): ApprovalReply | undefined {
    const key = keyOf(run, flight);
    if (!this.known.has(key)) {
      const replies = this.replies.get(this.stage.nodeOf(run, flight.node));
      const { prompt = '', attempt, item } = flight;
      const question = { prompt, attempt, ...(item !== undefined && { item }) };
      this.known.set(key, typeof replies === 'function' ? replies(question) : replies);
    }
    return this.known.get(key);
  }

  private async answer({ run, flight, reply }: Question): Promise<void> {
    const key = keyOf(run, flight);
    this.nextTry.set(key, Number.POSITIVE_INFINITY);
    const again = () => void this.nextTry.set(key, this.stage.now + AGAIN_MS);
    const { node, item, attempt } = flight;
    const { afterMs: _thought, by = 'test', ...given } = reply;
    await this.stage.invoke({ what: 'answer', messages: [], onDeath: again }, async (deps) => {
      const outcome = await answerAttempt(deps, run.id, { node, item, attempt, by, ...given }).catch(
        (error: unknown) => {
          this.stage.onTrouble('answer', error);
          return { kind: 'busy' } as const;
        },
      );
      if (outcome.kind === 'busy') again();
    });
  }
}

function keyOf({ nonce }: RunRecord, { node, item, attempt }: Flight): string {
  return [nonce, node, item, attempt].join('/');
}
