/** What one expression may use. The sandbox holds it to these; none of them depends on the machine but time. */
export interface ExpressionLimits {
  /** Longest time of one expression (ms). */
  readonly expressionMs: number;
  /** Nested calls, for JSONata's own recursion. */
  readonly callDepth: number;
  /** Characters of a text that an expression makes on its way. */
  readonly textLength: number;
  /** Items of a list that an expression makes on its way. */
  readonly listLength: number;
  /** Bytes of the JSON text (UTF-8) of a whole template's value. */
  readonly valueBytes: number;
  /** Levels of lists and objects in a template's value. */
  readonly valueDepth: number;
}

/** The limits that users can rely on. */
export const EXPRESSION_SANDBOX_LIMITS: ExpressionLimits = {
  expressionMs: 1000,
  callDepth: 10_000,
  textLength: 4 * 1024 * 1024,
  listLength: 1_000_000,
  valueBytes: 256 * 1024,
  valueDepth: 100,
};

/** What the thread that evaluates is held to. */
export interface ThreadLimits {
  readonly expression: ExpressionLimits;
  /** Memory of the thread in all (MiB), the values that expressions read included. */
  readonly memoryMebibytes: number;
}
