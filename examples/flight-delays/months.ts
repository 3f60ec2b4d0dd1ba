/**
 * The same pipeline for other months. Wherever the definition lists something for each month of the quarter (nodes,
 * upstreams, inputs of a node), the entry of the first month is repeated for every month in `months`.
 *
 * @param definition a parsed `pipeline.yaml`
 * @param months months like `2001-01`; the definition is returned as it is if they are its own
 */
export function forMonths<T>(definition: T, months: readonly string[]): T {
  const own = [...new Set(JSON.stringify(definition).match(/\b\d{4}-(?:0[1-9]|1[0-2])\b/g))].sort();
  const [first, ...others] = own;
  if (first === undefined || own.join() === [...months].sort().join()) return definition;
  const entries = (list: readonly unknown[]): unknown[] =>
    list.flatMap((entry) => {
      const text = JSON.stringify(entry);
      if (text.includes(first) && !others.some((month) => text.includes(month)))
        return months.map((month) => JSON.parse(text.replaceAll(first, month)));
      return others.some((month) => text.includes(month)) && !text.includes(first) ? [] : [expand(entry)];
    });
  const expand = (value: unknown): unknown => {
    if (Array.isArray(value)) return entries(value);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expand(inner)]));
  };
  return expand(definition) as T;
}
