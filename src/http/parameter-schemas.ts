/** What query parameters take: texts, made into the values that they stand for. */
import * as z from 'zod';

/** `limit` of a list. */
export const limitSchema = z
  .string()
  .regex(/^\d{1,6}$/, 'is a whole number from 1 to 1000')
  .transform(Number)
  .pipe(z.int().min(1).max(1000));

/** `from` and `to`. */
export const instantSchema = z.iso.datetime({
  offset: true,
  error: 'is an instant in ISO 8601, with its offset: 2026-11-30T12:00:00Z',
});

/** `item`: the index of an item of a map. */
export const itemSchema = z
  .string()
  .regex(/^\d{1,6}$/, 'is the index of an item: a whole number from 0 to 999999')
  .transform(Number)
  .pipe(z.int().min(0).max(999_999));

/** `attempt`: the number of an attempt. */
export const attemptSchema = z
  .string()
  .regex(/^\d{1,5}$/, 'is the number of an attempt: a whole number from 1')
  .transform(Number)
  .pipe(z.int().min(1).max(99_999));

/** A parameter that is true or false. */
export const flagSchema = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .pipe(z.boolean());

/** `wait` of a run. */
export const waitSchema = z
  .string()
  .regex(/^\d{1,6}$/, 'is a whole number of seconds from 0 to 20')
  .transform(Number)
  .pipe(z.int().min(0).max(20));
