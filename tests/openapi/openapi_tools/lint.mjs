// Prints what Redocly's linter finds in the document on standard input, one JSON object a line.
import { text } from "node:stream/consumers";
import { createConfig, lintFromString } from "@redocly/openapi-core";

const config = await createConfig({
  extends: ["recommended"],
  // A request that takes nothing, not even a key, cannot be wrong.
  rules: { "operation-4xx-response": "off" },
});
const problems = await lintFromString({ source: await text(process.stdin), config });
for (const { ruleId, severity, message, location } of problems) {
  console.log(JSON.stringify({ ruleId, severity, message, at: location?.[0]?.pointer }));
}
