/**
 * Large JSON texts by reference. An **envelope** `{"$millrace": {"ref": {…}}}` stands where a value was too large to
 * pass directly, and counts as that value.
 *
 * A text is stored under its own hash, so a reference can be carried to other attempts and runs, and putting a text
 * again writes the same. Nobody can make up a reference to a text that they do not know.
 */
import * as z from 'zod/mini';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** Sizes of JSON texts, in bytes of UTF-8. */
export const PAYLOAD_LIMITS = {
  /** Hard limit of an execution's input and output: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
  direct: 256 * 1024,
  /** Largest output that a wrapped function returns directly; what Step Functions puts around it has to fit in, too. */
  returned: 200 * 1024,
  /** Largest text by reference. */
  stored: 50 * 1024 * 1024,
  /**
   * Largest outputs that the expressions of one pass read, in all. Larger ones are handed on by reference: a pass
   * has half a gigabyte of memory, and an expression one second.
   */
  read: 16 * 1024 * 1024,
} as const;

/** Where a text lies, and how to tell that it is still the same. */
export interface PayloadRef {
  readonly bucket: string;
  /** `outputs/` or `inputs/`, and the text's hash. */
  readonly key: string;
  /** Length of the text in UTF-8. */
  readonly bytes: number;
  /** SHA-256 of the text in UTF-8, hexadecimal. */
  readonly sha256: string;
}

/** What kind of text: made by a function, or made for one. */
export type PayloadFolder = 'outputs' | 'inputs';

/** The key of the member that makes an object an envelope. */
export const ENVELOPE_KEY = '$millrace';

const envelopeSchema = z.strictObject({
  [ENVELOPE_KEY]: z.strictObject({
    ref: z.strictObject({
      bucket: z.string().check(z.minLength(3), z.maxLength(255)),
      key: z.string().check(z.regex(/^(?:outputs|inputs)\/[0-9a-f]{64}$/)),
      bytes: z.int().check(z.nonnegative()),
      sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
    }),
  }),
});

/** The envelope of a reference. */
export function toEnvelope({ bucket, key, bytes, sha256 }: PayloadRef): JsonObject {
  return { [ENVELOPE_KEY]: { ref: { bucket, key, bytes, sha256 } } };
}

/** The reference in a value that is an envelope as a whole. */
export function refIn(value: Json): PayloadRef | undefined {
  if (!isJsonObject(value) || !Object.hasOwn(value, ENVELOPE_KEY)) return undefined;
  const parsed = envelopeSchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { ref } = parsed.data[ENVELOPE_KEY];
  return ref.key.endsWith(ref.sha256) ? ref : undefined;
}

/** Longest JSON text of an envelope, so that no other text is parsed to find out that it is none. */
const LONGEST_ENVELOPE = 1024;

/** The reference in a JSON text that is an envelope as a whole. */
export function refInText(text: string): PayloadRef | undefined {
  if (text.length > LONGEST_ENVELOPE || !text.includes(ENVELOPE_KEY)) return undefined;
  return refIn(JSON.parse(text) as Json);
}

/** The key of a text by its hash. */
export function payloadKey(folder: PayloadFolder, sha256: string): string {
  return `${folder}/${sha256}`;
}

/** Every reference inside a value, envelopes at any depth. */
export function refsWithin(value: Json): PayloadRef[] {
  const refs: PayloadRef[] = [];
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const ref = refIn(next);
    if (ref) refs.push(ref);
    else for (const member of Object.values(next) as Json[]) open.push(member);
  }
  return refs;
}

/** A copy of a value in which other values stand where envelopes were. `replace` gives none for an envelope that stays. */
export function replaceRefs(value: Json, replace: (ref: PayloadRef) => Json | undefined): Json {
  if (typeof value !== 'object' || value === null) return value;
  const ref = refIn(value);
  if (ref) return replace(ref) ?? value;
  if (Array.isArray(value)) return value.map((item) => replaceRefs(item, replace));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, replaceRefs(member as Json, replace)] as const),
  );
}

/** The error of a text that is too large for the way that it would have to go. */
export function tooLarge(what: string, bytes: number, limit: number, advice = ''): { name: string; message: string } {
  return {
    name: 'Millrace.PayloadTooLarge',
    message: `${what} is ${bytes} bytes long; at most ${limit} are possible${advice && `: ${advice}`}`,
  };
}
