// What a client writes against the generated types. It is compiled, never run.
import type { components, operations, paths } from "./schema";

type Schemas = components["schemas"];
type Answer = paths["/token/{chain}/{address}"]["get"]["responses"][200]["content"]["application/json"];

export const asked: operations["getToken"]["parameters"] = {
  path: { chain: "ethereum", address: "0x" },
  query: { response_format: "native", refresh: true },
};

// Three answers, and none of them is another: null and "pending" have to be looked at.
export function canBeSold(pool: Schemas["Pool"]): boolean {
  const sold: boolean | "pending" | null = pool.sell_success;
  return sold === true;
}

export function taxOf(pool: Schemas["Pool"]): number | undefined {
  return typeof pool.sell_tax === "number" ? pool.sell_tax : undefined;
}

export function isNative(answer: Answer): answer is Schemas["NativeAnswer"] {
  return answer.features !== null && "dex" in answer.features;
}

export function verdictOf(summary: Schemas["Summary"]): "danger" | "warning" | "safe" | "not_tested" | null {
  return summary.verdict;
}

export const batch: Schemas["BatchRequest"] = { addresses: ["0x"], response_format: "summary" };

// @ts-expect-error there is no such format
export const wrong: Schemas["BatchRequest"] = { addresses: [], response_format: "goplus" };

// @ts-expect-error an unknown answer is no boolean
export const sure: boolean = ({} as Schemas["Pool"]).sell_success;
