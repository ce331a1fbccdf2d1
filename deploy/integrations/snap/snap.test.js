// Runs the Snap in MetaMask's own sandbox against the Assay at ASSAY_URL. CASES: JSON of
// transactions, each with the words and the severity that its insight must have.
const { installSnap } = require("@metamask/snaps-jest");
const { describe, expect, it } = require("@jest/globals");

const { ASSAY_URL: url, ASSAY_KEY: key } = process.env;
const cases = JSON.parse(process.env.CASES ?? "[]");

const textOf = (node) =>
  typeof node === "string"
    ? node
    : Array.isArray(node)
      ? node.map(textOf).join("\n")
      : node?.props
        ? textOf(node.props.children ?? "")
        : "";

async function insight(state, transaction) {
  const { onTransaction } = await installSnap({ options: { state } });
  const response = await onTransaction(transaction);
  const { content } = response.getInterface();
  return { words: textOf(content), severity: response.response.result?.severity ?? null };
}

describe("transaction insight", () => {
  for (const { name, transaction, words, severity } of cases) {
    it(name, async () => {
      const shown = await insight({ url, key }, transaction);
      for (const each of words) expect(shown.words).toContain(each);
      expect(shown.severity).toBe(severity);
    });
  }

  it("checks nothing until its settings name an Assay", async () => {
    const shown = await insight(null, { chainId: "eip155:1" });
    expect(shown).toEqual({
      words: "Not checked: open this Snap and name your Assay.", severity: null,
    });
  });

  it("calls nothing good that was not checked", async () => {
    const state = { url: "http://127.0.0.1:1", key: "none" };
    const shown = await insight(state, { chainId: "eip155:1", data: "0x" });
    expect(shown.words).toContain("Not checked: Assay did not answer");
  });

  it("keeps what its page is given", async () => {
    const { onHomePage, onTransaction } = await installSnap();
    const page = (await onHomePage()).getInterface();
    await page.typeInField("url", "http://127.0.0.1:1/");
    await page.typeInField("key", "k");
    await page.clickElement("save");
    const { content } = (await onTransaction({ chainId: "eip155:1" })).getInterface();
    expect(textOf(content)).toContain("Not checked: Assay did not answer");
  });
});
