// Compiles the modules of the folder in the first argument strictly; prints the complaints, one a line.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const folder = process.argv[2];
const names = readdirSync(folder).filter((name) => name.endsWith(".ts"));
const program = ts.createProgram(
  names.map((name) => join(folder, name)),
  {
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    module: ts.ModuleKind.ES2022,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    noEmit: true,
    preserveSymlinks: true,
    skipLibCheck: true,
    strict: true,
    target: ts.ScriptTarget.ES2022,
    types: [],
  },
);
for (const { file, messageText, start } of ts.getPreEmitDiagnostics(program)) {
  const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
  console.log(`${file?.fileName}:${line}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`);
}
