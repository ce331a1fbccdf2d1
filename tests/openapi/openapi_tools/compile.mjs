// Generates TypeScript types of the document on standard input and compiles client.ts against them,
// strictly; prints the compiler's complaints, one a line. Nothing is written to disk.
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const here = dirname(fileURLToPath(import.meta.url));
const generated = join(here, "schema.ts");
const source = astToString(await openapiTS(await text(process.stdin)));
const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, types: [] };
options.lib = ["lib.es2022.d.ts"];
options.skipLibCheck = true;
options.moduleResolution = ts.ModuleResolutionKind.Bundler;
options.module = ts.ModuleKind.ES2022;

const host = ts.createCompilerHost(options);
const { fileExists, readFile, getSourceFile } = host;
host.fileExists = (name) => name === generated || fileExists(name);
host.readFile = (name) => (name === generated ? source : readFile(name));
host.getSourceFile = (name, version) =>
  name === generated ? ts.createSourceFile(name, source, version) : getSourceFile(name, version);

const program = ts.createProgram([join(here, "client.ts")], options, host);
for (const { messageText, file, start } of ts.getPreEmitDiagnostics(program)) {
  const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
  console.log(`${file?.fileName}:${line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`);
}
