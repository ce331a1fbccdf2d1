// tevm has no server program of its own: this starts its library's, mining when it is told to.
import { createCommon, mainnet } from "@tevm/common";
import { createMemoryClient } from "@tevm/memory-client";
import { createServer } from "@tevm/server";

const [port, chainId] = process.argv.slice(2).map(Number);
const common = createCommon({ ...mainnet, id: chainId, hardfork: "cancun", eips: [], loggingLevel: "error" });
const client = createMemoryClient({ common, miningConfig: { type: "manual" }, loggingLevel: "error" });
createServer(client).listen(port, "127.0.0.1");
