// Pictures of every place, at two sizes, light and dark: SHOTS=dir node shots.mjs [path …]; of an empty router with EMPTY=1,
// and of a full one with ENTRIES=20000.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import playwright from "playwright-core";
import { chromium, start } from "./router.mjs";
import { full, learned, team } from "./seed.mjs";

const dir = process.env.SHOTS || "shots";
mkdirSync(dir, { recursive: true });
const router = await start();
const { api } = router;
try {
  if (!process.env.EMPTY) {
    await team(api);
    if (process.env.ENTRIES) await full(api, +process.env.ENTRIES, console.log);
    await learned(api, "docker compose down removes the volumes");
    await api("POST", "/api/leases", { agent_id: "builder-1", project: "shop", patterns: ["src/cart.ts"], why: "fix the total" });
    await api("POST", "/api/context", { task: "docker compose down", start: true, budget: 1800, agent_id: "planner", project: "shop", session_id: "s1" });
    for (let n = 0; n < 3; n++) await api("POST", "/api/incidents/answer", { project: "shop", agent_id: "planner", command: "npm test", error: "npm: command not found", session_id: "s" + n });
    await api("PUT", "/api/facts/default/gateway.url", { value: "https://gateway.example", ttl: 0 });
    await api("PUT", "/api/procedures/default/renew", { description: "Renew it", steps: [{ name: "renew", run: "certbot renew" }] });
  }
  const browser = await playwright.chromium.launch({ executablePath: chromium(), args: ["--no-sandbox"] });
  let paths = process.argv.slice(2);
  if (!paths.length) paths = ["/", "/ui/inbox", "/ui/work", "/ui/work?kind=task&id=2", "/ui/timeline", "/ui/agents", "/ui/agents?kind=agent&id=builder-1", "/ui/agents?kind=lease", "/ui/messages", "/ui/messages?kind=thread&id=login", "/ui/memory", "/ui/memory?q=docker", "/ui/memory?kind=lesson", "/ui/memory?kind=lesson&id=1", "/ui/guard", "/ui/guard?kind=rule", "/ui/guard?kind=pack", "/ui/settings", "/?kind=worth", "/ui/find?q=stop"];
  if (!process.env.EMPTY) {
    const approvals = (await api("GET", "/check/approvals").catch(() => ({ approvals: [] }))).approvals || [];
    if (approvals[0] && process.argv.length < 3) paths.push("/ui/inbox?kind=approval&id=" + approvals[0].approval_id);
    const e = (await api("GET", "/escalations")).escalations || [];
    if (e[0] && process.argv.length < 3) paths.push("/ui/inbox?kind=escalation&id=" + e[0].id);
  }
  for (const [name, width, height, colorScheme] of [["wide", 1440, 900, "light"], ["dark", 1440, 900, "dark"], ["phone", 390, 844, "light"]]) {
    if (process.env.ONLY && !process.env.ONLY.includes(name)) continue;
    const page = await (await browser.newContext({ viewport: { width, height }, colorScheme })).newPage();
    page.on("console", (m) => { if (m.type() === "error") console.log(page.url(), m.text()); });
    page.on("pageerror", (e) => console.log(page.url(), e.message));
    for (const path of paths) {
      const answer = await page.goto(router.url + path);
      if (answer.status() >= 500) console.log(router.log().slice(-400));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      console.log(name, path, answer.status(), (await answer.body()).length, wide > width ? "WIDE " + wide : "");
      await page.waitForTimeout(150);
      await page.screenshot({ path: join(dir, name + path.replace(/[^a-z0-9]+/gi, "_").slice(0, 50) + ".png") });
    }
  }
  await browser.close();
} finally { await router.stop(); }
