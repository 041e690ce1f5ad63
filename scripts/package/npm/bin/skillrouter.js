#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Starts the program skillrouter, which lies in the package of this platform.
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

function fail(text) {
  console.error("skillrouter: " + text);
  process.exit(1);
}

// programs is the folder of this platform's programs.
function programs() {
  const name = `@skillrouter/${process.platform}-${process.arch}`;
  if (!require("../package.json").optionalDependencies[name]) {
    fail(`there is no package for ${process.platform} on ${process.arch}. Build it from source: see docs/install.md in the repository.`);
  }
  try {
    return path.join(path.dirname(require.resolve(name + "/package.json")), "bin");
  } catch {
    fail(`the package ${name} is missing: npm left out optional dependencies. Install again without --omit=optional: npm install -g skillrouter`);
  }
}

const suffix = process.platform === "win32" ? ".exe" : "";

// lasting copies the programs of folder to a place that stays, and returns it.
// npx removes its own folder from time to time, and agents would then start nothing.
function lasting(folder) {
  const home = os.homedir();
  const env = (name, otherwise) => (path.isAbsolute(process.env[name] || "") ? process.env[name] : otherwise);
  const place = {
    win32: path.join(env("LOCALAPPDATA", path.join(home, "AppData", "Local")), "skillrouter", "bin"),
    darwin: path.join(home, "Library", "Application Support", "skillrouter", "bin"),
  }[process.platform] || path.join(env("XDG_DATA_HOME", path.join(home, ".local", "share")), "skillrouter", "bin");
  try {
    // The folder is the user's alone: it may hold the databases of a router, too.
    fs.mkdirSync(place, { recursive: true, mode: 0o700 });
    for (const program of ["skillrouter", "skillrouter-hook"]) {
      const from = path.join(folder, program + suffix);
      const to = path.join(place, program + suffix);
      if (fs.existsSync(to) && fs.readFileSync(from).equals(fs.readFileSync(to))) continue;
      const fresh = `${to}.${process.pid}`;
      fs.copyFileSync(from, fresh);
      fs.chmodSync(fresh, 0o755);
      try {
        fs.renameSync(fresh, to); // a program that runs is not written over
      } catch (error) {
        fs.rmSync(fresh, { force: true });
        throw error;
      }
    }
  } catch (error) {
    fail(`the programs cannot be copied to ${place}: ${error.message}. Install them instead: npm install -g skillrouter`);
  }
  return place;
}

let folder = programs();
const args = process.argv.slice(2);
const npx = __dirname.split(path.sep).includes("_npx");
if (npx && args[0] === "setup" && !args.includes("--help") && !args.includes("-h")) folder = lasting(folder);

const child = spawn(path.join(folder, "skillrouter" + suffix), args, { stdio: "inherit", windowsHide: true });
child.on("error", (error) => fail(`the program cannot be started: ${error.message}`));
// What another process sends this one goes on to the program. A terminal sends Ctrl-C to both by itself.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => signal === "SIGINT" && process.stdin.isTTY || child.kill(signal));
}
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
