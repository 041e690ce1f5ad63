// Looks at the dashboard in a real browser, against the real binary.
//
//   SKILLROUTER  the binary (../../bin/skillrouter)      CHROMIUM  the browser (found on the path)
//   ENTRIES      how many make a full router (100000)    SHOTS     a folder for the pictures of docs/
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import playwright from "playwright-core";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, start } from "./router.mjs";
import { full, hostile, learned, many, team } from "./seed.mjs";

const entries = Number(process.env.ENTRIES || 100000);
const budget = 150 * 1024; // bytes of the first page, with all that it loads

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// accessible lists what axe-core calls serious or critical.
async function accessible(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 120)}`);
}

let browser;
before(async () => { browser = await playwright.chromium.launch({ executablePath: chromium(), args: ["--no-sandbox"] }); });
after(async () => { await browser?.close(); });

// look opens a page of a router and keeps what must not happen there.
async function look(router, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(30000);
  const page = await context.newPage();
  const faults = [], sizes = [];
  page.expects = []; // statuses that a test provokes
  page.on("console", (m) => { if (m.type() === "error" && !page.expects.some((text) => m.text().includes(text))) faults.push("console: " + m.text()); });
  page.on("pageerror", (e) => faults.push("error: " + e.message));
  page.on("dialog", (d) => { faults.push("dialog: " + d.message()); d.dismiss(); });
  page.on("request", (r) => { if (!r.url().startsWith(router.url + "/")) faults.push("foreign request: " + r.url()); });
  page.on("requestfinished", async (r) => {
    try { const s = await r.sizes(); sizes.push([r.url(), s.responseBodySize + s.responseHeadersSize]); } catch { /* it is gone */ }
  });
  return { page, context, faults, sizes, clean: (where) => assert.deepEqual(faults.splice(0), [], where), close: () => context.close() };
}

// painted is when the page that was loaded was first painted, in milliseconds after it was asked for.
const painted = (page) => page.evaluate(() => new Promise((done) => {
  new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime)).observe({ type: "paint", buffered: true });
}));

// paths are the pages that the navigation leads to, and one of each kind that these link to.
async function paths(router, page) {
  await page.goto(router.url + "/");
  const found = new Map([["/", "/"]]);
  const queue = await page.$$eval("nav[aria-label=Places] a", (links) => links.map((a) => a.getAttribute("href")));
  while (queue.length) {
    const href = queue.shift();
    const url = new URL(href, router.url), path = url.pathname + " " + (url.searchParams.get("kind") || "") + " " + url.searchParams.has("id");
    if (!url.pathname.startsWith("/ui/") || found.has(path)) continue;
    found.set(path, href);
    const answer = await page.goto(router.url + href);
    assert.ok(answer.status() < 400, `a link leads to ${href}: ${answer.status()}`);
    queue.push(...await page.$$eval("main a[href^='/ui/']", (links) => links.map((a) => a.getAttribute("href"))));
  }
  return [...found.values()];
}

// structure is what a screen reader needs of every page.
const structure = () => {
  const faults = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  if (document.documentElement.lang !== "en") faults.push("no language");
  if (all("h1").length !== 1) faults.push(all("h1").length + " h1");
  if (all("main").length !== 1) faults.push("no main");
  for (const e of all("input:not([type=hidden]), select, textarea")) if (!e.labels?.length && !e.getAttribute("aria-label")) faults.push("no label: " + e.outerHTML.slice(0, 80));
  for (const e of all("table")) if (!(e.caption || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby")) || e.querySelector("thead th:not([scope])")) faults.push("a table without caption or scopes");
  for (const e of all("a, button")) if (!e.textContent.trim() && !e.getAttribute("aria-label")) faults.push("no name: " + e.outerHTML.slice(0, 80));
  for (const e of all("nav")) if (!e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby") && !e.querySelector("h2")) faults.push("no name: " + e.outerHTML.slice(0, 80));
  const ids = all("[id]").map((e) => e.id), twice = ids.filter((id, i) => ids.indexOf(id) !== i);
  if (twice.length) faults.push("ids twice: " + twice.join(" "));
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`wider than the window: ${document.documentElement.scrollWidth} > ${innerWidth}`);
  return faults;
};

// onPhone is what a page is on a phone: its first content is seen at once, and no table is scrolled sideways.
const onPhone = () => {
  const faults = [];
  const first = document.querySelector("main section, main .figures, main table");
  if (first && first.getBoundingClientRect().top > innerHeight - 100) faults.push(`its first content begins at ${Math.round(first.getBoundingClientRect().top)}`);
  for (const e of document.querySelectorAll("main table, main svg, main pre")) if (e.getBoundingClientRect().right > innerWidth + 1) faults.push(`${e.tagName} reaches to ${Math.round(e.getBoundingClientRect().right)}`);
  for (const e of document.querySelectorAll(".places li")) if (e.checkVisibility() && e.getBoundingClientRect().top < innerHeight - 60) faults.push("a place does not stand in the row at the lower edge: " + e.textContent.trim());
  return faults;
};

// contrast lists the texts whose contrast is below WCAG's AA.
const contrast = () => {
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const parse = (text) => text.match(/[\d.]+/g).map(Number);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const faults = new Set();
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
    const style = getComputedStyle(e), a = light(parse(style.color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) faults.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}: ${e.textContent.trim().slice(0, 30)}`);
  }
  return [...faults];
};

test("an empty router: every page loads, within the budget", async (t) => {
  const router = await start();
  t.after(router.stop);
  const { page, faults, sizes, clean } = await look(router);
  await page.goto(router.url + "/", { waitUntil: "load" });
  await page.waitForTimeout(300);
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0), requests = sizes.length;
  const paints = [];
  for (let i = 0; i < 10; i++) {
    await page.goto(router.url + "/ui/settings");
    await page.goto(router.url + "/", { waitUntil: "load" });
    paints.push(await painted(page));
  }
  paints.sort((a, b) => a - b);
  t.diagnostic(`first page: ${bytes} bytes in ${requests} requests; first paint ${paints.map((p) => p.toFixed(0)).join(", ")} ms at a load of ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`);
  assert.ok(bytes > 5000 && bytes <= budget, `${bytes} bytes`);
  assert.ok(paints[0] <= 400, "the fastest first paint took " + paints[0]); // 200 ms on a quiet machine
  const list = await paths(router, page), wrong = [];
  assert.ok(list.length >= 7, list.join(" "));
  for (const path of list) {
    const answer = await page.goto(router.url + path);
    assert.equal(answer.status(), 200, path);
    wrong.push(...(await page.evaluate(structure)).map((fault) => path + ": " + fault));
    clean(path);
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual(faults, []);
});

test("what happened: six questions are answered within two clicks of the overview", async (t) => {
  const router = await start();
  t.after(router.stop);
  const { page, clean, close } = await look(router);
  await page.goto(router.url + "/");
  await page.getByText("Set an agent up.").waitFor();
  await team(router.api);
  await learned(router.api, "docker compose down removes the volumes");
  await router.api("POST", "/api/context", { task: "", start: true, budget: 1800, agent_id: "planner", project: "shop", session_id: "s1" });
  const steps = (s) => [{ command: "npm test", outcome: "failed", output: "Error: Cannot find module 'left-pad'", digest: s + 1 }, { command: "npm install left-pad", outcome: "worked", digest: s + 2 }, { command: "npm test", outcome: "worked", digest: s + 3 }];
  for (const s of ["one", "two"]) await router.api("POST", "/api/incidents/learn", { project: "shop", session_id: s, agent_id: "builder-1", begin: true, steps: steps(s) });
  await router.api("POST", "/api/leases", { agent_id: "builder-1", project: "shop", patterns: ["src/cart.ts"], why: "fix the total" });
  const ask = async (question, clicks, answer) => {
    await page.goto(router.url + "/");
    assert.ok(clicks.length <= 2, question);
    for (const name of clicks) await page.locator("main").getByRole("link", { name }).first().click();
    await page.locator("main").getByText(answer).first().waitFor({ timeout: 5000 });
    clean(question);
  };
  await ask("why was an agent blocked?", [/^Blocked: rm -rf/], "Running rm -rf on data directories");
  await ask("what did the router tell it this morning?", ["what agents were told"], "began, and was told");
  await ask("what failed most this week?", ["what failed most"], "npm test");
  await ask("what waits for me?", ["What waits for you"], "The most urgent first");
  await ask("who holds a file?", ["who holds which files"], "src/cart.ts");
  await page.goto(router.url + "/ui/timeline?kind=lesson&range=today"); // what was learned is of today here
  await page.getByText("taught the lesson").first().waitFor();
  await ask("what was learned yesterday?", ["learned yesterday"], "Nothing of this kind happened");

  await page.keyboard.press("/");
  await page.keyboard.type("docker compose");
  await page.keyboard.press("Enter");
  await page.locator("main").getByRole("link", { name: "docker compose down removes the volumes", exact: true }).first().click();
  await page.getByRole("heading", { level: 1, name: "docker compose down removes the volumes" }).waitFor();
  const session = (await router.api("GET", "/api/sessions")).sessions[0];
  await page.goto(router.url + "/ui/session?id=" + session.id);
  await page.locator("#steps").getByText("began a session").waitFor();
  clean("a session's steps");

  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(router.url + "/ui/timeline");
  assert.ok((await page.locator("h1").boundingBox()).y < 250, "the content begins too low on a phone");
  assert.equal(await page.locator(".places").getByRole("link", { name: "Guard" }).isVisible(), false);
  await page.getByText("More", { exact: true }).click();
  await page.locator(".places").getByRole("link", { name: "Guard" }).click();
  await page.waitForURL("**/ui/guard");
  await close();
});

test("a team at work: pages, contrast, narrow windows, live updates, actions", async (t) => {
  const router = await start();
  t.after(router.stop);
  await team(router.api);
  await learned(router.api, "docker compose down removes the volumes");
  const { page, context, clean } = await look(router);
  const list = await paths(router, page);
  const wrong = [];
  t.diagnostic("pages: " + list.join(" "));
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const path of list) {
      await page.goto(router.url + path);
      wrong.push(...[...await page.evaluate(contrast), ...await page.evaluate(structure), ...await accessible(page)].map((fault) => `${path} ${colorScheme}: ${fault}`));
      clean(path);
    }
    if (process.env.SHOTS) {
      await page.goto(router.url + "/");
      await page.waitForFunction(() => document.getElementById("live-state").textContent === "Live");
      await page.screenshot({ path: join(process.env.SHOTS, `dashboard-${colorScheme}.png`) });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 380, height: 800 });
  for (const path of list) {
    await page.goto(router.url + path);
    wrong.push(...(await page.evaluate(structure)).map((fault) => `${path} in a narrow window: ${fault}`));
  }
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of list) {
    await page.goto(router.url + path);
    wrong.push(...(await page.evaluate(onPhone)).map((fault) => `${path} on a phone: ${fault}`));
  }
  assert.deepEqual(wrong, []);
  await page.setViewportSize({ width: 1280, height: 900 });
  if (process.env.SHOTS) {
    await page.goto(router.url + "/ui/agent?id=builder-1");
    await page.screenshot({ path: join(process.env.SHOTS, "dashboard-agent.png") });
  }

  await t.test("a page hears of what happens", async () => {
    await page.goto(router.url + "/ui/agents");
    await page.waitForFunction(() => document.getElementById("live-state").textContent === "Live");
    await router.api("POST", "/heartbeat", { agent_id: "newcomer", status: "working", current_task: "Learn the ropes" });
    await page.getByRole("link", { name: "newcomer" }).waitFor({ timeout: 8000 });
    let fetched = 0;
    page.on("request", (r) => { if (r.url().includes("/ui/agents")) fetched++; });
    await many(1000, (n) => router.api("POST", "/status", { agent_id: "newcomer", status: "s" + n, progress: n % 100 }));
    const task = "The last of a thousand";
    await router.api("POST", "/status", { agent_id: "newcomer", status: "done", current_task: task });
    await page.getByText(task).first().waitFor({ timeout: 8000 });
    t.diagnostic(`1,000 events: the page was fetched ${fetched} times`);
    assert.ok(fetched < 30, `${fetched} fetches`);
    await page.getByRole("button", { name: "Pause" }).click();
    await router.api("POST", "/heartbeat", { agent_id: "unnoticed" });
    await page.waitForTimeout(2500);
    assert.equal(await page.getByRole("link", { name: "unnoticed" }).count(), 0);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("link", { name: "unnoticed" }).waitFor({ timeout: 8000 });
    clean("live");
  });

  await t.test("what is clicked is done", async () => {
    await page.goto(router.url + "/ui/agent?id=reviewer");
    await page.getByText("Send a signal…").click();
    await page.getByLabel("Text").fill("Look at #1, please");
    await page.getByRole("button", { name: "Send a signal", exact: true }).click();
    await page.getByText("The signal is stored").waitFor();
    const inbox = await router.api("GET", "/messages/inbox?agent_id=reviewer");
    assert.equal(inbox.messages.at(-1).context.text, "Look at #1, please");
    await page.getByText("Stop this agent…").click();
    await page.getByLabel("Reason").fill("The work is over");
    await page.getByLabel(/Yes, stop/).check();
    await page.getByRole("button", { name: "Stop this agent", exact: true }).click();
    await page.getByText("was told to stop").waitFor();
    const check = await router.api("GET", "/shutdown-check?agent_id=reviewer");
    assert.deepEqual([check.should_stop, check.reason], [true, "The work is over"]);
    await page.goto(router.url + "/ui/task?id=3");
    await page.getByText("Reassign…").click();
    await page.getByLabel("Agent", { exact: true }).fill("scout");
    await page.getByRole("button", { name: "Reassign", exact: true }).click();
    await page.getByText("another holder").waitFor();
    assert.equal((await router.api("GET", "/api/tasks/3")).agent_id, "scout");
    page.expects.push("400 (Bad Request)");
    await page.goto(router.url + "/ui/agent?id=scout");
    await page.getByText("Send a signal…").click();
    await page.getByLabel("Signal", { exact: true }).fill("stop");
    await page.getByLabel("Text").fill("kept");
    await page.getByRole("button", { name: "Send a signal", exact: true }).click();
    await page.getByRole("alert").waitFor();
    assert.equal(await page.getByLabel("Text").inputValue(), "kept");
    clean("actions");
  });

  await t.test("the keyboard reaches everything", async () => {
    await page.goto(router.url + "/ui/agents");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    const wanted = await page.$$eval("a[href], button, input:not([type=hidden]), select, textarea, summary", (all) => all.filter((e) => e.checkVisibility() && !e.disabled).length);
    const reached = new Set();
    await page.goto(router.url + "/ui/agents");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.evaluate(() => { document.activeElement.blur(); let n = 0; for (const e of document.querySelectorAll("*")) e.dataset.n = n++; });
    for (let i = 0; i < wanted + 5; i++) {
      await page.keyboard.press("Tab");
      const seen = await page.evaluate(() => {
        const e = document.activeElement, style = getComputedStyle(e);
        return e === document.body ? null : { n: e.dataset.n, visible: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2, html: e.outerHTML.slice(0, 80) };
      });
      if (!seen) continue;
      assert.ok(seen.visible, "the focus is not seen on " + seen.html);
      reached.add(seen.n);
    }
    assert.ok(reached.size >= wanted - 1, `${reached.size} of ${wanted} were reached`);
  });

  await t.test("pages are read, and forms sent, without JavaScript", async () => {
    const plain = await look(router, { javaScriptEnabled: false });
    for (const path of list) {
      const answer = await plain.page.goto(router.url + path);
      assert.equal(answer.status(), 200, path);
      assert.ok((await plain.page.locator("main").innerText()).length > 20, path);
    }
    await plain.page.goto(router.url + "/ui/tasks");
    await plain.page.getByText("New task…").click();
    await plain.page.getByLabel("Title").fill("Made without a script");
    await plain.page.getByRole("button", { name: "New task", exact: true }).click();
    assert.ok((await plain.page.locator("h1").innerText()).includes("Made without a script"));
    plain.clean("without JavaScript");
    await plain.close();
  });

  await t.test("once there are tokens, one logs in", async () => {
    const { token } = await router.api("POST", "/api/tokens", { agent_id: "lead", scopes: ["captain"] }, router.owner);
    page.expects.push("401 (Unauthorized)");
    await page.goto(router.url + "/ui/agents");
    assert.equal(await page.getByRole("heading", { level: 1 }).innerText(), "Log in");
    await page.getByLabel("Token").fill("skr_wrong");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.goto(router.url + "/ui/agents");
    await page.waitForFunction(() => document.getElementById("live-state").textContent === "Live");
    assert.deepEqual(await page.evaluate(() => document.cookie), "");
    await page.getByRole("button", { name: "Log out" }).click();
    assert.equal(await page.getByRole("heading", { level: 1 }).innerText(), "Log in");
    await page.goBack(); // what was seen is not kept
    assert.equal(await page.getByRole("heading", { level: 1 }).innerText(), "Log in");
    clean("login");
  });
  await context.close();
});

test("the palette, the keys, the project and the theme", async (t) => {
  const router = await start();
  t.after(router.stop);
  await team(router.api);
  await learned(router.api, "docker compose down removes the volumes");
  await router.api("POST", "/api/tasks", { title: "Draw the banner", project: "web" });
  const { page, clean, close } = await look(router);
  const field = page.getByRole("combobox", { name: "Find or do" });
  const chosen = () => page.evaluate(() => { const id = document.getElementById("palette-q").getAttribute("aria-activedescendant"); return id ? document.getElementById(id).textContent : null; });
  const type = async (text, wanted) => {
    await page.keyboard.press("Control+k");
    await field.waitFor();
    await field.fill(text);
    await page.getByRole("option", { name: wanted }).first().waitFor();
  };
  await page.goto(router.url + "/ui/tasks");
  await page.getByLabel("Held by").focus();
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: /Overview/ }).waitFor();
  assert.deepEqual(await accessible(page), []);
  assert.equal(await page.evaluate(() => document.activeElement.id), "palette-q");
  assert.equal(await field.getAttribute("aria-expanded"), "true");
  const first = await chosen();
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await chosen(), first);
  await page.keyboard.press("ArrowUp");
  assert.equal(await chosen(), first);
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.id), "by-agent_id", "the focus does not come back");

  const lesson = (await router.api("GET", "/lessons?limit=1")).lessons[0];
  for (const [text, wanted, path] of [
    ["stop planner", /Stop planner/, "/ui/agents?id=planner&kind=agent#stop"], ["send scout", /Send a signal to scout/, "/ui/agents?id=scout&kind=agent#signal"],
    ["remember use pnpm", /Remember something/, "/ui/memory?kind=knowledge&new=1&title=use+pnpm"],
    ["approve", /Decide what waits/, "/ui/inbox"], ["race session", /Fix the race/, "/ui/work?id="], ["settings", /Settings/, "/ui/settings"],
  ]) {
    await type(text, wanted);
    for (let n = 0; n < 20 && !wanted.test(await chosen()); n++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => (url.pathname + url.search + url.hash).startsWith(path));
    clean(text);
  }
  await page.goto(router.url + "/ui/remember?title=Use+pnpm");
  await page.getByLabel("What agents should know").fill("The lockfile is pnpm-lock.yaml.");
  await page.getByRole("button", { name: "Remember something", exact: true }).click();
  await page.getByText("It is remembered").waitFor();

  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  assert.deepEqual(await accessible(page), []);
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  await page.waitForURL("**/ui/work");
  await page.keyboard.press("j"); // the rows
  assert.equal(await page.evaluate(() => document.activeElement.closest("tr").rowIndex), 1);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/kind=task/);
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/ui\/work\?kind=task$/);
  await page.getByRole("button", { name: "Priority", exact: true }).click();
  assert.equal(await page.locator("th[aria-sort=ascending]").innerText(), "Priority");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "find");
  await page.keyboard.type("g a ?"); // typed, and no keys
  assert.equal(await page.getByLabel("Search everything").inputValue(), "g a ?");

  await page.goto(router.url + "/ui/tasks");
  await page.getByLabel("Project that pages show").selectOption("web");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.getByRole("link", { name: "Draw the banner" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Fix the race" }).count(), 0);
  await page.goto(router.url + "/ui/tasks?project=shop"); // a deep link goes on working
  await page.getByRole("link", { name: "Fix the race in the session store" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Draw the banner" }).count(), 0);
  await page.goto(router.url + "/ui/settings");
  await page.getByLabel("Colours").selectOption("dark");
  await page.getByRole("button", { name: "Set", exact: true }).first().click();
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark");
  assert.deepEqual(await page.evaluate(contrast), []);
  assert.equal(await page.evaluate(() => document.cookie), "", "a script reads what the browser keeps");
  clean("settings");

  const plain = await look(router, { javaScriptEnabled: false });
  await plain.page.goto(router.url + "/");
  await plain.page.getByRole("link", { name: /Find or do/ }).click();
  await plain.page.getByLabel(/A page, an agent/).fill("stop planner");
  await plain.page.getByRole("button", { name: "Find", exact: true }).click();
  await plain.page.locator("main").getByRole("link", { name: /Stop planner/ }).click();
  await plain.page.getByRole("heading", { name: "planner", level: 1 }).waitFor();
  plain.clean("without JavaScript");
  await plain.close();
  await close();
});

test("memory: found as one types, changed and taken back, accepted, on a phone, without a script", async (t) => {
  const router = await start();
  t.after(router.stop);
  const { api } = router;
  await team(api);
  await learned(api, "docker compose down removes the volumes");
  const entry = async (title, content) => (await api("POST", "/api/knowledge", { category: "runbook", title, content, agent_id: "planner" })).knowledge_id;
  const renewal = await entry("Renew the gateway certificate", "run certbot renew on the gateway");
  await entry("Renewal of the gateway certificate", "run certbot renew on the gateway each month");
  await api("PUT", "/api/facts/default/gateway.url", { value: "https://gateway.example", ttl: 0 });
  await api("PUT", "/api/procedures/default/renew", { description: "Renew it", steps: [{ name: "renew", run: "certbot renew" }] });
  const steps = (s) => [{ command: "npm test", outcome: "failed", output: "Error: Cannot find module 'left-pad'", digest: s + 1 }, { command: "npm install left-pad", outcome: "worked", digest: s + 2 }, { command: "npm test", outcome: "worked", digest: s + 3 }];
  for (const s of ["one", "two"]) await api("POST", "/api/incidents/learn", { project: "shop", session_id: s, agent_id: "builder-1", begin: true, steps: steps(s) });
  const [incident] = (await api("GET", "/api/incidents?project=shop")).incidents;
  const { page, clean, close } = await look(router);
  const item = "/ui/memory?kind=knowledge&id=" + renewal, wrong = [];
  const list = ["/ui/memory", ...["knowledge", "fact", "episode", "procedure"].map((kind) => "/ui/memory?kind=" + kind), item, item + "&edit=1",
    "/ui/memory?kind=fact&id=default/gateway.url", "/ui/memory?kind=procedure&id=default/renew", "/ui/memory?kind=incident", "/ui/memory?kind=incident&id=" + incident.id, "/ui/memory?kind=lesson&id=1"];
  for (const [width, colorScheme] of [[1440, "light"], [1440, "dark"], [390, "light"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    for (const path of list) {
      assert.equal((await page.goto(router.url + path)).status(), 200, path);
      wrong.push(...[...await page.evaluate(contrast), ...await page.evaluate(structure)].map((fault) => `${path} ${width} ${colorScheme}: ${fault}`));
      clean(path);
    }
  }
  assert.deepEqual(wrong, []);
  await page.setViewportSize({ width: 1280, height: 900 });

  await page.goto(router.url + "/");
  await page.locator(".places").getByRole("link", { name: /Memory/ }).click();
  await page.locator("main").getByRole("link", { name: "Knowledge entries", exact: true }).click();
  await page.getByLabel("Search as you type").pressSequentially("certbot gateway", { delay: 20 });
  await page.getByText("The likeliest first").waitFor();
  await page.waitForURL(/q=certbot/);
  assert.equal(await page.locator("#list tbody tr").count(), 2);
  assert.equal(await page.evaluate(() => document.activeElement.id), "by-q"); // who types goes on
  await page.getByRole("link", { name: "Renew the gateway certificate", exact: true }).click();
  await page.getByRole("link", { name: "Change it…" }).click();
  await page.getByLabel("content").fill("run acme.sh on the gateway");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("It is changed.").waitFor();
  await page.getByRole("button", { name: "Say this again" }).click();
  await page.getByText("It says again what it said then.").waitFor();
  assert.equal((await api("GET", "/api/knowledge/" + renewal)).content, "run certbot renew on the gateway");
  await page.goto(router.url + "/ui/incident?id=" + incident.id);
  page.expects.push("403 (Forbidden)");
  await page.getByText("Accept it…").click();
  await page.getByRole("button", { name: "Accept it", exact: true }).click();
  await page.getByRole("alert").getByText("a person must").waitFor(); // without a token nobody is one
  clean("what is clicked is done");
  await close();

  const plain = await look(router, { javaScriptEnabled: false });
  await plain.page.goto(router.url + "/ui/memory?kind=knowledge");
  await plain.page.getByLabel("Search as you type").fill("certbot");
  await plain.page.locator("#main").getByRole("button", { name: "Filter" }).click();
  await plain.page.getByRole("link", { name: "Renew the gateway certificate", exact: true }).waitFor();
  await plain.close();
});

test("the browser tells of what newly waits for a decision, once, if it may", async (t) => {
  const router = await start();
  t.after(router.stop);
  await team(router.api);
  await router.api("POST", "/api/tasks", { title: "Draw the banner", project: "web" });
  const { page, clean, close } = await look(router);
  await page.addInitScript(() => {
    window.told = [];
    window.Notification = class {
      static permission = "default";
      static async requestPermission() { return (this.permission = "granted"); }
      constructor(title, { body }) { window.told.push(title + ": " + body); }
      close() {}
    };
  });
  await page.goto(router.url + "/ui/inbox");
  await page.getByRole("button", { name: "Notify me of what is new" }).click();
  await page.getByRole("button", { name: "Notify me of what is new" }).waitFor({ state: "hidden" });
  await page.getByText("Live", { exact: true }).waitFor();
  await page.evaluate(() => document.activeElement.blur());
  assert.deepEqual(await page.evaluate(() => window.told), []); // what waited before is no news
  const { tasks } = await router.api("GET", "/api/tasks?project=web");
  await router.api("POST", `/api/tasks/${tasks[0].number ?? tasks[0].id}/block`, { reason: "No colours" });
  await page.locator("main").getByText(/Draw the banner/).first().waitFor();
  await page.waitForFunction(() => window.told.length > 0); // the list and the bell come by two ways
  assert.deepEqual(await page.evaluate(() => window.told), ["Skill Router: Something waits for you to decide."]);
  clean("a notification");
  await close();
});

test("hostile text in every field: no script of it runs", async (t) => {
  const router = await start();
  t.after(router.stop);
  const { api } = router;
  await learned(api, hostile);
  await api("POST", "/heartbeat", { agent_id: "a..", status: hostile.slice(0, 100), current_task: hostile, project_path: "/" + hostile, model: "<img src=x onerror=ran=1>", role: "<script>ran=1</script>" });
  await api("POST", "/api/tasks", { title: hostile, description: hostile.repeat(50), project: "<script>ran=1</script>", agent_id: "a.." });
  await api("POST", "/api/tasks/1/block", { reason: hostile });
  await api("POST", "/signal", { from_agent_id: "a..", to_agent_id: "a..", signal: "<img src=x onerror=ran=1>", thread_id: "\"><script>ran=1</script>", context: { [hostile]: hostile }, ack_required: true });
  await api("POST", "/api/sessions", { agent_id: "a..", goal: hostile, data: { x: hostile } });
  await api("POST", "/api/reminders", { task: hostile, trigger: "time:+1h" });
  const { page, clean } = await look(router);
  const list = await paths(router, page);
  list.push("/ui/tasks?text=" + encodeURIComponent(hostile), "/ui/messages?thread=" + encodeURIComponent("\"><script>ran=1</script>"));
  if (true) list.push("/ui/search?q=" + encodeURIComponent(hostile));
  for (const path of list) {
    await page.goto(router.url + path);
    await page.evaluate(() => { for (const one of document.querySelectorAll("details")) one.open = true; });
    await page.mouse.move(600, 400);
    const found = await page.evaluate(() => ({ ran: window.ran, images: document.images.length, inline: document.querySelectorAll("script:not([src]), [onerror], [onmouseover], [style*=expression]").length }));
    assert.deepEqual(found, { ran: undefined, images: 0, inline: 0 }, path);
    assert.ok(!(await page.content()).includes("\u202e"), path);
    clean(path);
  }
  await page.goto(router.url + "/");
  for (const text of ["a..", "stop a..", hostile.slice(0, 200), "1"]) {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find or do" }).fill(text);
    await page.waitForTimeout(700);
    assert.deepEqual(await page.evaluate(() => ({ ran: window.ran, images: document.images.length, links: document.querySelectorAll("#palette a, #palette form").length })), { ran: undefined, images: 0, links: 0 }, text);
    await page.keyboard.press("Escape");
    clean("the palette, " + text);
  }
  const control = await browser.newPage(); // where nothing escapes it, it does run
  await control.setContent("<table><tr><td>" + hostile);
  await control.waitForFunction(() => window.ran === 1);
  await control.close();
});

test(`a full router: every page loads with ${entries} entries`, { timeout: 1800000 }, async (t) => {
  const router = await start();
  t.after(router.stop);
  const { api } = router;
  await team(api);
  const begin = Date.now();
  await full(api, entries, (line) => t.diagnostic(line));
  await learned(api, "docker compose down removes the volumes");
  t.diagnostic(`filled in ${((Date.now() - begin) / 1000).toFixed(0)} s`);
  const { page, clean } = await look(router);
  const list = await paths(router, page);
  list.push("/ui/tasks?status=pending", "/ui/messages?agent=agent-7", "/ui/messages?signal=nothing", "/ui/tasks?text=number+977");
  if (true) list.push("/ui/search?q=matter+977");
  for (const path of list) {
    const before = Date.now();
    const answer = await page.goto(router.url + path);
    const took = Date.now() - before, size = (await answer.text()).length;
    t.diagnostic(`${path}: ${took} ms, ${size} characters`);
    assert.equal(answer.status(), 200, path);
    assert.ok(size < 400000, `${path} has ${size} characters`);
    assert.ok(took < 5000, `${path} took ${took} ms`);
    clean(path);
  }
  // A busy machine paints late: the fastest of ten counts, and none where others use the machine for themselves.
  for (const path of ["/", "/ui/inbox", "/ui/work", "/ui/timeline", "/ui/agents", "/ui/messages", "/ui/messages?kind=thread&id=t7", "/ui/memory", "/ui/memory?kind=lesson", "/ui/guard", "/ui/guard?kind=rule", "/ui/memory?q=matter+977", "/ui/find?q=matter+977"]) {
    const paints = [];
    let size = 0, floor = Infinity;
    for (let i = 0; i < 10 && !(paints[0] <= 300); i++) {
      await page.goto(router.url + "/ui/settings", { waitUntil: "load" });
      floor = Math.min(floor, await painted(page));
      size = (await (await page.goto(router.url + path, { waitUntil: "load" })).body()).length;
      paints.push(await painted(page));
      paints.sort((a, b) => a - b);
    }
    t.diagnostic(`${path}: painted after ${paints.map((p) => p.toFixed(0)).join(", ")} ms, beside ${floor.toFixed(0)} of a page of nothing, ${size} bytes, at a load of ${loadavg()[0].toFixed(1)}`);
    assert.ok(size <= budget, `${path} has ${size} bytes`);
    if (loadavg()[0] <= 2 * cpus().length) assert.ok(paints[0] <= 300, `${path}: the fastest first paint took ${paints[0]} ms`);
  }
  await page.goto(router.url + "/ui/tasks");
  for (let i = 0; i < 3; i++) await page.locator("main").getByRole("link", { name: /More/ }).click();
  assert.equal(await page.locator("main table tbody tr").count(), 50);
  await page.goto(router.url + "/ui/messages");
  for (let i = 0; i < 3; i++) await page.locator("main").getByRole("link", { name: /More/ }).click();
  assert.ok(await page.locator("main table tbody tr").count() > 0);
  clean("pages");
});
