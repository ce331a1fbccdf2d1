// What an integrator writes against the TypeScript client. Compiled strictly.
import { createAssay, read, type Json, type Schemas, type Truth } from "assay-client";

export const assay = createAssay({ baseUrl: "http://127.0.0.1", apiKey: "key" });

export async function isKnownToSell(address: string): Promise<boolean> {
  const { data } = await assay.GET("/token/{chain}/{address}", {
    params: { path: { chain: "eip155:1", address }, query: { refresh: true } },
  });
  if (data === undefined || data.features === null || !("dex" in data.features)) return false;
  return data.features.dex.some((pool) => read(pool.sell_success) === "yes");
}

export function taxOf(pool: Schemas["Pool"]): number | undefined {
  return typeof pool.sell_tax === "number" ? pool.sell_tax : undefined;
}

export function verdictOf(summary: Schemas["Summary"]): "danger" | "warning" | "safe" | "not_tested" | null {
  return summary.verdict;
}

export const batch: Schemas["BatchRequest"] = { addresses: ["0x"], response_format: "summary" };

// @ts-expect-error there is no such format
export const wrong: Schemas["BatchRequest"] = { addresses: [], response_format: "goplus" };

export const leaf: Json<Schemas["Flag"]> = {
  ...{ key: "k", label: "l", status: "safe", active: false },
  value: null,
};

// @ts-expect-error there is no such status
export const other: Json<Schemas["Flag"]> = { ...leaf, status: "good" };

declare const answer: Truth;
declare const features: Schemas["NativeFeatures"];

// @ts-expect-error an unknown answer is no boolean
export const sure: boolean = answer;
// @ts-expect-error nor a condition
if (answer) features;
// @ts-expect-error nor the opposite of one
if (!features.is_proxy) features;
// @ts-expect-error not even where the key may be absent
if (!features.owner_can_change_balance) features;
// @ts-expect-error nor a part of one
export const both = features.is_proxy && features.timebomb;
// @ts-expect-error nor a choice
export const chosen = features.is_liquid ? 1 : 2;
// @ts-expect-error nor equal to one
export const same = features.cannot_buy === false;
