import { createHash } from 'node:crypto';
import type { Draft } from './draft.ts';
import { canonicalJson, type Json } from './json.ts';

/** Has a value that a user gave stored before the commit; gives the key that names it, the same for the same value. */
export function keepValue(draft: Draft, kind: 'marked' | 'answer', value: Json): string {
  const text = canonicalJson(value);
  const key = `${kind}-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  draft.values.set(key, text);
  return key;
}
