/** Values that never change, kept in a process's memory beside the store that they were read from. */

/** Keeps values by key, the ones used last, so many for each store. */
export interface KeptValues<Store extends object, Value> {
  /** The value, if it is kept; it then counts as the one used last. */
  get(store: Store, key: string): Value | undefined;
  put(store: Store, key: string, value: Value): void;
}

/** Makes an empty keeping place for at most so many values of a store. */
export function createKeptValues<Store extends object, Value>(most: number): KeptValues<Store, Value> {
  const byStore = new WeakMap<Store, Map<string, Value>>();
  const put = (store: Store, key: string, value: Value) => {
    const values = byStore.get(store) ?? new Map<string, Value>();
    byStore.set(store, values);
    values.delete(key);
    values.set(key, value);
    if (values.size > most) values.delete(values.keys().next().value as string);
  };
  return {
    get(store, key) {
      const value = byStore.get(store)?.get(key);
      if (value !== undefined) put(store, key, value);
      return value;
    },
    put,
  };
}
