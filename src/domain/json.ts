/** Any JSON value. Numbers are IEEE doubles; integers beyond 2^53 are refused where text is parsed. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. Keys come from users: read it with `Object.entries` or `Object.hasOwn`, never by a bare name. */
export type JsonObject = { readonly [key: string]: Json };

/** Tells an object apart from the other kinds of JSON value. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The one text of a JSON value: object keys in code-unit order, no blanks.
 * Two values that differ only in key order have the same text, so it serves content hashes and the input of
 * StartExecution, which has to be byte-identical when a start is asked for again.
 */
export function canonicalJson(value: Json): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] as Json)]),
  );
}
