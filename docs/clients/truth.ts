/**
 * A three-valued answer: true, false, "pending" or null in JSON, null also where a key is absent.
 *
 * Its type is `void`, the only one that TypeScript accepts in no condition: `if (pool.sell_success)`
 * and `!features.is_proxy` do not compile, as an unknown answer is neither. `read` returns it.
 */
export type Truth = void;

/** Returns a three-valued answer as a word. Throws TypeError for a value that is none. */
export function read(answer: Truth): "yes" | "no" | "pending" | "unknown" {
  const value = answer as unknown;
  if (value === true) return "yes";
  if (value === false) return "no";
  if (value === "pending") return "pending";
  if (value === null || value === undefined) return "unknown";
  throw new TypeError(`not a three-valued answer: ${String(value)}`);
}

type TruthKey<T> = {
  [K in keyof T]-?: [T[K]] extends [void] ? ([void] extends [T[K]] ? K : never) : never;
}[keyof T];

/** The JSON of a type of the schema, for bodies that are not received: those of tests. */
export type Json<T> = T extends readonly (infer Item)[]
  ? Json<Item>[]
  : T extends object
    ? { [K in keyof T as Exclude<K, TruthKey<T>>]: Json<T[K]> } & {
        [K in TruthKey<T>]?: boolean | "pending" | null;
      }
    : T;
