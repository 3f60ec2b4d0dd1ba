/** Large outputs in a pass: an envelope counts as the value behind it, which is read where an expression names it. */
import type { Json } from '#domain/json.ts';
import {
  ENVELOPE_KEY,
  PAYLOAD_LIMITS,
  type PayloadRef,
  refIn,
  refsWithin,
  replaceRefs,
  tooLarge,
} from '#domain/payload-ref.ts';
import type { ErrorInfo } from '#domain/run.ts';
import type { Payloads } from '#ports/index.ts';

/** An output that cannot be had: because of an error, or (without one) not in this pass, since it read enough. */
export class OutputUnavailable extends Error {
  override readonly name = 'OutputUnavailable';
  readonly error: ErrorInfo | undefined;

  constructor(error?: ErrorInfo) {
    super(error?.message ?? 'this pass has read enough');
    this.error = error;
  }
}

/** The output of a node as it is stored, with the node's id for messages. */
export interface StoredOutput {
  readonly id: string;
  readonly output?: string;
}

/** Reads what is behind envelopes, each once a pass. */
export interface LargeOutputs {
  /**
   * Outputs with the values in place of their envelopes: all that one expression reads.
   * @throws OutputUnavailable
   */
  open<T extends StoredOutput>(outputs: readonly T[]): Promise<T[]>;
}

/** Makes a reader for one pass, which holds no more than {@link PAYLOAD_LIMITS}`.read` at a time. */
export function createLargeOutputs(payloads: Payloads): LargeOutputs {
  const opened = new Map<string, Promise<string>>();
  const texts = new Map<string, string>();
  let bytesRead = 0;

  const readRef = async (id: string, ref: PayloadRef): Promise<string> => {
    const known = texts.get(ref.key);
    if (known !== undefined) return known;
    const read = await payloads.read(ref);
    if (read.kind === 'refused') {
      const message = `the output of ${JSON.stringify(id)} cannot be read: ${read.message}`;
      throw new OutputUnavailable({ name: 'Millrace.ExpressionError', message });
    }
    texts.set(ref.key, read.text);
    return read.text;
  };

  const openText = async (id: string, text: string): Promise<string> => {
    const value = JSON.parse(text) as Json;
    const whole = refIn(value);
    if (whole) return readRef(id, whole);
    const values = new Map<string, Json>();
    for (const ref of refsWithin(value)) values.set(ref.key, JSON.parse(await readRef(id, ref)) as Json);
    return JSON.stringify(replaceRefs(value, ({ key }) => values.get(key)));
  };

  const admit = (refs: ReadonlyMap<string, PayloadRef>) => {
    const sum = (some: Iterable<PayloadRef>) => [...some].reduce((bytes, ref) => bytes + ref.bytes, 0);
    const all = sum(refs.values());
    if (all > PAYLOAD_LIMITS.read) {
      const advice = 'hand them to a function by reference';
      throw new OutputUnavailable(
        tooLarge('what its expressions read of large outputs', all, PAYLOAD_LIMITS.read, advice),
      );
    }
    const more = sum([...refs.values()].filter(({ key }) => !texts.has(key)));
    if (bytesRead > 0 && bytesRead + more > PAYLOAD_LIMITS.read) throw new OutputUnavailable();
    bytesRead += more;
  };

  return {
    async open(outputs) {
      const large = outputs.filter(({ output }) => output?.includes(ENVELOPE_KEY));
      const refs = large.flatMap(({ output }) => refsOf(output as string));
      if (refs.length === 0) return [...outputs];
      admit(new Map(refs.map((ref) => [ref.key, ref])));
      return Promise.all(
        outputs.map(async (each) => {
          const { id, output } = each;
          if (!large.includes(each)) return each;
          const text = opened.get(output as string) ?? openText(id, output as string);
          opened.set(output as string, text);
          return { ...each, output: await text };
        }),
      );
    },
  };
}

/** The error of outputs that are longer in all than a pass can hold, however long they are. */
export function readTooMuch(what: string): ErrorInfo {
  const message = `${what} is more than ${PAYLOAD_LIMITS.read} bytes long, the most that can be read of it at a time`;
  return { name: 'Millrace.PayloadTooLarge', message };
}

/** The references in an output's JSON text. */
export function refsOf(text: string): PayloadRef[] {
  return text.includes(ENVELOPE_KEY) ? refsWithin(JSON.parse(text) as Json) : [];
}
