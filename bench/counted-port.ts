/** What was asked of a port. */
export interface CallCount {
  calls: number;
  /** Time until the answers, one call after the other (ms). */
  ms: number;
}

/** A port whose calls are counted, by `<port>.<call>`. */
export function countedPort<T extends object>(name: string, port: T, counts: Map<string, CallCount>): T {
  return new Proxy(port, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]) => {
        const label = `${name}.${String(property)}`;
        const count = counts.get(label) ?? { calls: 0, ms: 0 };
        counts.set(label, count);
        count.calls += 1;
        const begun = performance.now();
        const answer: unknown = Reflect.apply(value, target, args);
        if (answer instanceof Promise) {
          const note = () => {
            count.ms += performance.now() - begun;
          };
          answer.then(note, note);
        }
        return answer;
      };
    },
  });
}
