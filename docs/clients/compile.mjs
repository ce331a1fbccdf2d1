// Writes the types of the OpenAPI document on standard input into the folder of the first argument,
// and compiles its modules to JavaScript and declarations in its dist/. Fails on any complaint.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const folder = process.argv[2];
const truth = ts.factory.createImportTypeNode(
  ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral("./truth.js")),
  undefined,
  ts.factory.createIdentifier("Truth"),
);
const transform = (_, { path }) => (path?.endsWith("/schemas/Truth") ? truth : undefined);
const types = await openapiTS(JSON.parse(await text(process.stdin)), { transform });
writeFileSync(join(folder, "schema.ts"), astToString(types));

const names = readdirSync(folder).filter((name) => name.endsWith(".ts"));
const program = ts.createProgram(
  names.map((name) => join(folder, name)),
  {
    declaration: true,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    module: ts.ModuleKind.ES2022,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    noEmitOnError: true,
    outDir: join(folder, "dist"),
    rootDir: folder,
    skipLibCheck: true,
    strict: true,
    target: ts.ScriptTarget.ES2022,
    types: [],
  },
);
const complaints = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
for (const { file, messageText } of complaints)
  console.error(`${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`);
process.exitCode = complaints.length ? 1 : 0;
