// Calls a running service: base address, key and token are the arguments. Prints what it read.
import { createAssay, read } from "assay-client";

const [baseUrl, apiKey, address] = process.argv.slice(2);
const path = { chain: "eip155:1", address };
const assay = createAssay({ baseUrl, apiKey });
const { data } = await assay.GET("/token/{chain}/{address}", { params: { path } });
const summary = await assay.GET("/token/{chain}/{address}/summary", { params: { path } });
const refused = await createAssay({ baseUrl }).GET("/usage");
console.log(
  JSON.stringify({
    sells: data.features.dex.map((pool) => read(pool.sell_success)),
    absent: read(data.features.owner_can_change_balance),
    verdict: summary.data.verdict,
    refused: [refused.response.status, refused.error.error_code],
  }),
);
