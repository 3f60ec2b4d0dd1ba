import { z } from 'zod';
import { WireError } from '#local/wire-answer.ts';

/** One entry of PutEvents that AWS would take. */
export type EventEntry = {
  readonly bus: string;
  readonly source: string;
  readonly detailType: string;
  /** JSON text of an object, as it came, so that no digit of a number is lost. */
  readonly detailText: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly resources: readonly string[];
  /** Milliseconds since 1970, if the caller gave it. */
  readonly time: number | undefined;
  /** What the entry counts for in the limit of a request. */
  readonly bytes: number;
};

/** One entry of PutEvents that AWS would refuse; the others of its request are taken all the same. */
export type RefusedEntry = { readonly ErrorCode: string; readonly ErrorMessage: string };

const LIMIT_BYTES = 1_048_576;
const TIME_BYTES = 14;

const requestSchema = z.object({
  Entries: z
    .array(
      z.object({
        Source: z.string().optional(),
        DetailType: z.string().optional(),
        Detail: z.string().optional(),
        EventBusName: z.string().default('default'),
        Resources: z.array(z.string()).default([]),
        Time: z.number().optional(),
      }),
    )
    .min(1)
    .max(10),
});

type RawEntry = z.infer<typeof requestSchema>['Entries'][number];

/**
 * Reads the JSON text of a PutEvents request.
 * @throws {WireError} if AWS would refuse it as a whole
 */
export function readPutEvents(text: string): (EventEntry | RefusedEntry)[] {
  const parsed = requestSchema.safeParse(jsonOf(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new WireError('ValidationException', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  }
  const entries = parsed.data.Entries.map(entryOf);
  const bytes = entries.reduce((sum, entry) => sum + ('bytes' in entry ? entry.bytes : 0), 0);
  if (bytes > LIMIT_BYTES) {
    throw new WireError('ValidationException', 'Total size of the entries in the request is over the limit.');
  }
  return entries;
}

function entryOf(entry: RawEntry): EventEntry | RefusedEntry {
  const { Source, DetailType, Detail, EventBusName, Resources, Time } = entry;
  if (!Source) return missing('Source');
  if (Source.startsWith('aws.')) {
    return { ErrorCode: 'NotAuthorizedForSourceException', ErrorMessage: 'Not authorized for the source.' };
  }
  if (!DetailType) return missing('DetailType');
  if (!Detail) return missing('Detail');
  const detail = jsonOf(Detail);
  if (!isObject(detail)) return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
  const texts = [Source, DetailType, Detail, ...Resources];
  return {
    bus: EventBusName.slice(EventBusName.lastIndexOf('/') + 1),
    source: Source,
    detailType: DetailType,
    detailText: Detail,
    detail,
    resources: Resources,
    time: Time === undefined ? undefined : Time * 1000,
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), Time === undefined ? 0 : TIME_BYTES),
  };
}

function missing(field: string): RefusedEntry {
  return {
    ErrorCode: 'InvalidArgument',
    ErrorMessage: `Parameter ${field} is not valid. Reason: ${field} is a required argument.`,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
