// A router of the real binary on a temporary data folder, for one test file.
import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { once } from "node:events";

const binary = resolve(process.env.SKILLROUTER || "../../bin/skillrouter");

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
};

// caller returns what calls the API at a URL. Connections are kept, and fetch is
// not used: a router is filled several times faster without it.
export const caller = (url) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return (method, path, body, token) => new Promise((done, failed) => {
    const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
    const headers = { "Content-Length": Buffer.byteLength(text), "Content-Type": typeof body === "string" ? "application/x-ndjson" : "application/json" };
    if (token) headers.Authorization = "Bearer " + token;
    const sent = request(url + path, { method, agent, headers }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part)).on("error", failed).on("end", () => {
        const said = Buffer.concat(parts).toString();
        if (answer.statusCode >= 300) failed(new Error(`${method} ${path}: ${answer.statusCode} ${said.slice(0, 300)}`));
        else done(said ? JSON.parse(said) : null);
      });
    });
    sent.on("error", failed).end(text);
  });
};

// start returns a router that answers, and what calls its API.
export async function start() {
  const data = mkdtempSync(join(tmpdir(), "skillrouter-browser-"));
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(binary, ["serve", "--listen", url.slice("http://".length), "--data", data], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (text) => { log = (log + text).slice(-20000); });
  const deadline = Date.now() + 30000;
  for (;;) {
    try {
      if ((await fetch(url + "/health")).ok) break;
    } catch { /* it is not up yet */ }
    if (child.exitCode !== null || Date.now() > deadline) throw new Error("the router does not start:\n" + log);
    await new Promise((done) => setTimeout(done, 50));
  }
  const owner = readFileSync(join(data, "owner.token"), "utf8").trim();
  const api = caller(url);
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    rmSync(data, { recursive: true, force: true });
  };
  return { url, api, owner, stop, log: () => log };
}

// chromium is the browser of this machine: $CHROMIUM, or the first that is on the path.
export function chromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const dir of (process.env.PATH || "").split(delimiter)) {
    for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]) {
      const file = join(dir, name);
      if (!existsSync(file)) continue;
      try { accessSync(file, constants.X_OK); return file; } catch { /* not for us */ }
    }
  }
  throw new Error("no Chromium is on the path: name one in CHROMIUM");
}
