"use strict";
// Makes .cache/, which MetaMask installs: the Snap with its name, its permissions and its checksum.
const { copyFileSync, mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { DEFAULT_NPM_REGISTRY } = require("@metamask/snaps-controllers");
const { checksumFiles, getSnapChecksum, VirtualFile } = require("@metamask/snaps-utils");

const read = (name) => readFileSync(join(__dirname, name), "utf8");
const about = JSON.parse(read("package.json"));
const manifest = {
  version: about.version,
  description: about.description,
  proposedName: "Assay",
  repository: about.repository,
  source: {
    shasum: "",
    location: {
      npm: { filePath: about.main, packageName: about.name, registry: `${DEFAULT_NPM_REGISTRY}` },
    },
  },
  initialPermissions: {
    "endowment:network-access": {},
    "endowment:page-home": {},
    "endowment:transaction-insight": {},
    snap_manageState: {},
  },
  platformVersion: about.devDependencies["@metamask/snaps-sdk"],
  manifestVersion: "0.1",
};

const file = (path, value, result) => new VirtualFile({ path, value, result });
const shasum = async () =>
  getSnapChecksum({
    manifest: file("snap.manifest.json", JSON.stringify(manifest), manifest),
    packageJson: file("package.json", read("package.json"), about),
    sourceCode: file(about.main, read(about.main)),
    auxiliaryFiles: [],
    localizationFiles: [],
  });

(async () => {
  manifest.source.shasum = await shasum();
  const made = join(__dirname, ".cache");
  mkdirSync(made, { recursive: true });
  for (const name of [about.main, "package.json"]) {
    copyFileSync(join(__dirname, name), join(made, name));
  }
  writeFileSync(join(made, "snap.manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
})();
