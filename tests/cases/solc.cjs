// Compiles with one of the installed compilers: the newest package's wrapper drives every soljson.
// stdin: {"package": "solc-0.4", "requests": [standard JSON, ...]}; stdout: the answers, as a list.
const fs = require("fs");
const wrapper = require("solc/wrapper");

const { package: name, requests } = JSON.parse(fs.readFileSync(0, "utf8"));
const compiler = wrapper(require(`${name}/soljson.js`));
const answers = requests.map((request) => JSON.parse(compiler.compile(JSON.stringify(request))));
fs.writeSync(1, JSON.stringify(answers));
