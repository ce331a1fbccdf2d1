"use strict";
// Asks an Assay of the user's choice about a transaction before it is signed. No build step: this
// file is what MetaMask runs.

const WORD = 64;
const ROUTES = {
  "7ff36ab5": { path: 1, pays: "coin" }, // swapExactETHForTokens
  b6f9de95: { path: 1, pays: "coin" }, // ...SupportingFeeOnTransferTokens
  fb3bdb41: { path: 1, pays: "coin" }, // swapETHForExactTokens
  "18cbafe5": { path: 2, amount: 0 }, // swapExactTokensForETH
  "791ac947": { path: 2, amount: 0 }, // ...SupportingFeeOnTransferTokens
  "38ed1739": { path: 2, amount: 0, pays: "token" }, // swapExactTokensForTokens
  "5c11d795": { path: 2, amount: 0, pays: "token" }, // ...SupportingFeeOnTransferTokens
  "414bf389": { pair: [0, 1], amount: 5, pays: "token" }, // exactInputSingle with a deadline
  "04e45aaf": { pair: [0, 1], amount: 4, pays: "token" }, // exactInputSingle
};
const MOST_TOKENS = 3;
const WITHIN_MS = 15000;
const BAD = new Set([
  "reverts", "heavy_tax", "nothing_arrives", "pays_more", "other_token_leaves",
  "allowance_to_other", "allowance_for_all", "events_disagree", "router_has_no_code",
]);

const element = (type, props) => ({ type, props, key: null });
const text = (words) => element("Text", { children: words });
const box = (children) => element("Box", { children });

/** Returns the word of a call's arguments as hex; empty beyond their end. */
function wordAt(data, index) {
  return data.slice(index * WORD, (index + 1) * WORD);
}

function addressIn(word) {
  return /^0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(24)}` : null;
}

/** Returns the two ends of a swap, its amount and what it pays with. Null: no known call. */
function readSwap({ data, value }) {
  const call = (data ?? "0x").slice(2).toLowerCase();
  const route = ROUTES[call.slice(0, 8)];
  const words = call.slice(8);
  if (!route) return null;
  let ends;
  if (route.pair) {
    ends = route.pair.map((index) => addressIn(wordAt(words, index)));
  } else {
    const start = Number(BigInt(`0x${wordAt(words, route.path) || "0"}`)) / 32;
    const length = Number(BigInt(`0x${wordAt(words, start) || "0"}`));
    if (!Number.isInteger(start) || length < 2 || length > 8) return null;
    ends = [start + 1, start + length].map((index) => addressIn(wordAt(words, index)));
  }
  if (!ends[0] || !ends[1]) return null;
  const coins = BigInt(value || "0x0");
  const paysCoins = route.pays === "coin" || coins > 0n;
  const amount = paysCoins ? coins : BigInt(`0x${wordAt(words, route.amount) || "0"}`);
  return { ends, amount, coins, paysCoins, isToCoins: !route.pays };
}

/** Returns the checks to try for a swap, the likelier one first. */
function checksOf(swap, { from, to, data }) {
  const call = {
    amount_raw: `${swap.amount}`, router: to, sender: from, calldata: data,
    value_wei: `${swap.coins}`,
  };
  const buy = { token: swap.ends[1], body: { ...call, side: "buy" } };
  if (!swap.paysCoins) buy.body.pays_with = swap.ends[0];
  const sale = { token: swap.ends[0], body: { ...call, side: "sell" } };
  if (swap.paysCoins) return [buy];
  return swap.isToCoins ? [sale] : [buy, sale];
}

async function ask(settings, path, body) {
  const answer = await fetch(`${settings.url}${path}`, {
    method: body ? "POST" : "GET",
    headers: { "X-API-Key": settings.key, "Content-Type": "application/json" },
    body: body ? JSON.stringify(body) : undefined,
    signal: typeof AbortSignal === "undefined" ? undefined : AbortSignal.timeout?.(WITHIN_MS),
  });
  if (answer.status === 422 || answer.status === 404) return null; // it is no token there
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return await answer.json();
}

/** Returns the tokens that a call may be about: the called contract, and addresses in its words. */
function tokensOf({ to, data }) {
  const words = (data ?? "0x").slice(10).toLowerCase().match(/.{64}/g) ?? [];
  const named = words.map(addressIn).filter((address) => address && !/^0x0{30}/.test(address));
  return [...new Set([to, ...named].filter(Boolean).map((one) => one.toLowerCase()))];
}

const WORDS = {
  danger: "Danger", warning: "Warning", safe: "No problem found", not_tested: "Not tested",
};

function showCheck(check) {
  const warnings = check.warnings.map((one) => text(`Warning: ${one.replaceAll("_", " ")}`));
  const outcome = {
    passed: "In a simulation on the newest block it goes through.",
    reverted: `In a simulation it fails: ${check.reason}`,
    unknown: `It could not be simulated: ${check.reason}`,
  }[check.outcome];
  const tax = check.tax_pct === null ? [] : [text(`The token takes ${check.tax_pct} %.`)];
  const verdict = check.verdict === null ? "Not analysed yet" : WORDS[check.verdict];
  const isBad =
    check.verdict === "danger" || check.outcome === "reverted" ||
    check.warnings.some((one) => BAD.has(one));
  return { lines: [text(`Token: ${verdict}`), text(outcome), ...tax, ...warnings], isBad };
}

function showSummary(summary) {
  const lines = [text(`${summary.contract_address}: ${WORDS[summary.verdict]}`)];
  if (summary.headline) lines.push(text(summary.headline));
  return { lines, isBad: summary.verdict === "danger" };
}

async function examine(settings, chainId, transaction) {
  const chain = encodeURIComponent(chainId);
  const swap = readSwap(transaction);
  for (const check of swap ? checksOf(swap, transaction) : []) {
    const found = await ask(settings, `/token/${chain}/${check.token}/trade-check`, check.body);
    if (found) return [showCheck(found)];
  }
  const shown = [];
  for (const token of tokensOf(transaction).slice(0, MOST_TOKENS)) {
    const found = await ask(settings, `/token/${chain}/${token}/summary`);
    if (found) shown.push(showSummary(found));
  }
  return shown;
}

async function readSettings() {
  const state = await snap.request({
    method: "snap_manageState", params: { operation: "get" },
  });
  return state?.url && state?.key ? state : null;
}

module.exports.onTransaction = async ({ transaction, chainId }) => {
  const settings = await readSettings();
  if (!settings) {
    return { content: box([text("Not checked: open this Snap and name your Assay.")]) };
  }
  try {
    const shown = await examine(settings, chainId, transaction);
    if (!shown.length) return { content: box([text("Not checked: no token was recognised.")]) };
    const content = box(shown.flatMap(({ lines }) => lines));
    return shown.some(({ isBad }) => isBad) ? { content, severity: "critical" } : { content };
  } catch (error) {
    return { content: box([text(`Not checked: Assay did not answer (${error.message}).`)]) };
  }
};

module.exports.onHomePage = async () => {
  const settings = await readSettings();
  const field = (label, props) =>
    element("Field", { label, children: element("Input", { ...props }) });
  const form = element("Form", {
    name: "settings",
    children: [
      field("Address of your Assay", { name: "url", value: settings?.url ?? "" }),
      field("API key", { name: "key", type: "password" }),
      element("Button", { name: "save", type: "submit", children: "Save" }),
    ],
  });
  return { content: box([text("Transactions are sent to this Assay before you sign."), form]) };
};

module.exports.onUserInput = async ({ event }) => {
  if (event.type !== "FormSubmitEvent") return;
  const url = `${event.value.url ?? ""}`.trim().replace(/\/+$/, "");
  const key = `${event.value.key ?? ""}`.trim();
  if (!/^https?:\/\/[^\s]+$/.test(url) || !key) return;
  await snap.request({
    method: "snap_manageState", params: { operation: "update", newState: { url, key } },
  });
};
