/** What every call takes. */
export interface CallOptions {
  /** Ends the call; it is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What the call of a list takes. */
export interface ListOptions extends CallOptions {
  /** Entries of a page, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** What a call takes that starts something. */
export interface StartOptions extends CallOptions {
  /**
   * The same key finds the first run again: give one where the call may be made twice, by an event that comes again.
   * @default a new one, so that the call may be sent again
   */
  readonly idempotencyKey?: string;
}

/** What a call takes that deletes something. */
export interface DeleteOptions extends CallOptions {
  /** Whether what is active is stopped first. @default false */
  readonly force?: boolean;
}

/** What a call takes that may be about one item of a map. */
export interface ItemOptions extends CallOptions {
  /** Index of an item of a map, from 0. */
  readonly item?: number;
}
