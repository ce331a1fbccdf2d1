// Compiles with one of the installed compilers: the newest package's wrapper drives every soljson.
// stdin: {package, requests: [{input, file, contract}]}, input being standard JSON.
// stdout: a list of {code, places} or {refused}; places are those of immutables.
const fs = require("fs");
const wrapper = require("solc/wrapper");

const { package: name, requests } = JSON.parse(fs.readFileSync(0, "utf8"));
const compiler = wrapper(require(`${name}/soljson.js`));

const compiled = new Map(); // several contracts of one file are compiled together

function answer({ input, file, contract }) {
  const text = JSON.stringify(input);
  if (!compiled.has(text)) compiled.set(text, JSON.parse(compiler.compile(text)));
  const output = compiled.get(text);
  const errors = (output.errors ?? []).filter((each) => each.severity === "error");
  if (errors.length > 0) return { refused: errors.map((each) => each.formattedMessage).join("\n") };
  const { object, immutableReferences } = output.contracts[file][contract].evm.deployedBytecode;
  return { code: object, places: Object.values(immutableReferences ?? {}).flat() };
}

fs.writeSync(1, JSON.stringify(requests.map(answer)));
