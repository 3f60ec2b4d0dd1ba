/**
 * Cursors: where a page ended, bound to the query that it belongs to, so that another filter, another list or a
 * garbled text is refused and never answers with a wrong page (C110). The size of a page is no part of the query.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { canonicalJson, type Json } from '#domain/json.ts';
import { ApiProblem } from './problem.ts';

/** Writes a cursor. */
export function toCursor(query: Json, position: Json): string {
  return Buffer.from(JSON.stringify([sealOf(query, position), position])).toString('base64url');
}

/**
 * Reads a cursor of the same query back.
 * @throws ApiProblem INVALID_PAGE_TOKEN
 */
export function fromCursor<T extends Json>(cursor: string, query: Json, position: z.ZodType<T>): T {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const opened = z.tuple([z.string(), position]).safeParse(jsonOrNothing(text));
  if (opened.success) {
    const [seal, place] = opened.data as [string, T];
    if (seal === sealOf(query, place)) return place;
  }
  const detail = 'The cursor is not one that this list gave, or was given for other filters. Begin again without it.';
  throw new ApiProblem('INVALID_PAGE_TOKEN', detail);
}

function sealOf(query: Json, position: Json): string {
  return createHash('sha256')
    .update(canonicalJson([query, position]))
    .digest('base64url')
    .slice(0, 16);
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A page of a list in memory: at most `limit` entries from a place on, and the place after them. */
export function sliceFrom<T>(all: Iterable<T>, start: number, limit: number): { items: T[]; next?: number } {
  const items: T[] = [];
  let at = 0;
  for (const item of all) {
    if (at >= start + limit) return { items, next: at };
    if (at >= start) items.push(item);
    at += 1;
  }
  return { items };
}
