// Debian's Chromium, driven by lines of JSON: one order in, one answer out. Nothing here judges.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const require = createRequire(process.argv[2]);
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const WAIT_MS = 20_000;
const MOST_PLACES = 5;
const PAINT_WAIT_MS = 1_000;

const browser = await chromium.launch({
  executablePath: process.argv[3],
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
  ],
});

async function open(order) {
  const context = await browser.newContext({
    viewport: { width: order.width, height: 800 },
    colorScheme: order.scheme,
    javaScriptEnabled: order.has_script,
    reducedMotion: "reduce",
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  if (order.cookies.length) await context.addCookies(order.cookies);
  const page = await context.newPage();
  const seen = { console: [], requests: [] };
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) seen.console.push(message.text());
  });
  page.on("pageerror", (error) => seen.console.push(String(error)));
  page.on("request", (request) => seen.requests.push(request.url()));
  return { context, page, seen };
}

async function focusPath(page, most) {
  const path = [];
  for (let at = 0; at < most; at += 1) {
    await page.keyboard.press("Tab");
    const here = await page.evaluate(() => {
      const one = document.activeElement;
      if (!one || one === document.body) return null;
      const style = getComputedStyle(one);
      return {
        tag: one.tagName.toLowerCase(),
        text: (one.getAttribute("aria-label") || one.innerText || "").trim().slice(0, 80),
        outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
      };
    });
    if (!here) break;
    path.push(here);
  }
  return path;
}

// The browser reports a paint after it: often later than the load. Null: none within the wait.
async function paintTime(page) {
  const first = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
  const options = { polling: 20, timeout: PAINT_WAIT_MS };
  return page.waitForFunction(first, undefined, options).then((at) => at.jsonValue(), () => null);
}

// Words of ours that stand on two lines. Code and texts of tokens may break anywhere.
function brokenWords() {
  const found = [], free = "code, bdi, svg, script, style, noscript";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest(free)) continue;
    for (const word of node.data.matchAll(/[A-Za-z]{2,}/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((one) => Math.round(one.top)));
      if (lines.size > 1) found.push(word[0]);
    }
  }
  return found;
}

async function visit(order) {
  const { context, page, seen } = await open(order);
  try {
    const response = await page.goto(order.url, { waitUntil: "load", timeout: WAIT_MS });
    const first = await page.title();
    if (order.until) await page.waitForSelector(order.until, { state: "attached", timeout: WAIT_MS });
    if (order.typed) {
      await page.keyboard.type(order.typed);
      await Promise.all([page.waitForURL((url) => String(url) !== order.url), page.keyboard.press("Enter")]);
      await page.waitForLoadState("load");
    }
    for (const one of order.clicks) await page.locator(one).first().click({ timeout: WAIT_MS });
    if (order.then) await page.waitForSelector(order.then, { state: "attached", timeout: WAIT_MS });
    if (order.opens) {
      await page.locator("details > summary").first().focus();
      await page.keyboard.press("Enter");
    }
    const path = order.tabs ? await focusPath(page, order.tabs) : [];
    let copied = null;
    if (order.copies) {
      await page.locator("button[data-copy]").first().click();
      copied = await page.evaluate(() => navigator.clipboard.readText());
    }
    if (order.unfolds) {
      await page.evaluate(() => {
        for (const one of document.querySelectorAll("details")) one.open = true;
      });
    }
    if (order.screenshot && order.framed) {
      await page.locator(order.framed).first().screenshot({ path: order.screenshot });
    } else if (order.screenshot) {
      await page.screenshot({ path: order.screenshot, fullPage: true });
    }
    let violations = [];
    if (order.has_axe) {
      await page.evaluate(AXE);
      const found = await page.evaluate(() => window.axe.run(document));
      const places = (nodes) => nodes.slice(0, MOST_PLACES).map((node) => node.html.slice(0, 160));
      violations = found.violations.map((one) => `${one.id}: ${places(one.nodes).join(" and ")}`);
    }
    const state = await page.evaluate(() => ({
      text: document.body.innerText,
      // The documentation's navigation is a drawer outside the window.
      overflow: Math.max(
        ...[
          document.documentElement,
          ...document.querySelectorAll("main:not(.md-main) :is(nav, table)"),
        ].map((one) => one.scrollWidth - one.clientWidth),
      ),
      open: [...document.querySelectorAll("details[open] > summary")].map((one) => one.innerText),
      background: getComputedStyle(document.body).backgroundColor,
      scripts: [...document.scripts].filter((one) => !one.src).length,
    }));
    const broken = await page.evaluate(brokenWords);
    return {
      ...state, ...seen, broken, paint_ms: await paintTime(page), status: response.status(), url: page.url(), copied, path, violations,
      first_title: first, title: await page.title(),
    };
  } finally {
    await context.close();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = await visit(JSON.parse(line));
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
