// SPDX-License-Identifier: Apache-2.0
// What the pages do beyond HTML: times that stay true, and parts that are
// fetched again when something happened. Without it the pages are read as they
// were when they were loaded.
"use strict";

(() => {
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const span = (seconds) => {
    for (const [size, name] of units) if (seconds >= size) return Math.floor(seconds / size) + " " + name;
    return "0 s";
  };
  const age = () => {
    for (const time of document.querySelectorAll("time[datetime]")) {
      const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
      if (Number.isNaN(seconds)) continue;
      const text = seconds >= 0 ? span(seconds) + " ago" : "in " + span(-seconds);
      if (time.textContent !== text) time.textContent = text;
    }
  };
  setInterval(() => { if (!document.hidden) age(); }, 5000);

  // A part of a page is fetched at most once in `rest` milliseconds, however
  // many events there are, and always once more after the last of them.
  const place = document.getElementById("live-source");
  if (!place || !window.htmx) return;
  const rest = 1500, soon = 150;
  const state = document.getElementById("live-state"), pause = document.getElementById("live-pause");
  let source = null, node = null, paused = false, missed = false, timer = 0, last = 0;
  const waiting = new Set();

  const parts = () => document.querySelectorAll("[data-live]");
  const hears = (part, type) => part.dataset.live.split(" ").some((word) => word === "*" || (word && type.startsWith(word)));
  // Whoever is in a part with the keyboard, a selection or an opened text is not interrupted.
  const occupied = (part) => part.contains(document.activeElement) || part.querySelector("details[open], input:checked") !== null ||
    (!getSelection().isCollapsed && part.contains(getSelection().anchorNode));

  // Who allows it is told of what newly waits for a decision, as long as the page Decide is open, also behind other windows.
  const waits = () => document.querySelector("[data-waiting]");
  const tells = () => Boolean(waits() && window.Notification && Notification.permission === "granted");
  const asleep = () => document.hidden && !tells();
  let known = null;
  const tell = () => {
    const box = waits(), ask = document.getElementById("notify");
    if (!box) { known = null; return; }
    if (ask) ask.hidden = !window.Notification || Notification.permission !== "default";
    const now = new Set(box.dataset.waiting.split(" ").filter(Boolean));
    const fresh = known ? [...now].filter((key) => !known.has(key)).length : 0;
    known = now;
    if (!fresh || !tells()) return;
    const note = new Notification("Skill Router", { body: fresh === 1 ? "Something waits for you to decide." : fresh + " things wait for you to decide.", tag: "decide", icon: document.querySelector("link[rel=icon]").href });
    note.onclick = () => { window.focus(); note.close(); };
  };
  htmx.onLoad(tell);
  document.addEventListener("click", (event) => {
    if (event.target.id === "notify") Notification.requestPermission().then(tell);
  });

  const refresh = () => {
    timer = 0;
    if (paused || asleep()) return;
    last = Date.now();
    for (const id of [...waiting]) {
      const part = document.getElementById(id);
      if (part && occupied(part)) continue;
      waiting.delete(id);
      if (part) htmx.trigger(part, "live");
    }
    if (waiting.size) plan();
  };
  const plan = () => {
    if (!timer) timer = setTimeout(refresh, Math.max(soon, last + rest - Date.now()));
  };
  const heard = (type) => {
    for (const part of parts()) if (part.id && hears(part, type)) waiting.add(part.id);
    if (waiting.size) plan();
  };
  const all = () => {
    for (const part of parts()) if (part.id) waiting.add(part.id);
    if (waiting.size) plan();
  };

  const say = (text, on) => {
    if (state.textContent !== text) state.textContent = text;
    state.classList.toggle("on", on);
  };
  // The connection is given up while the page is hidden: browsers hold six to a
  // host, and tabs in the background would leave none for the one in front.
  const open = () => {
    if (node) return;
    node = document.createElement("div");
    node.hidden = true;
    node.setAttribute("sse-connect", place.dataset.events);
    place.append(node);
    htmx.process(node);
  };
  const close = () => {
    if (!node) return;
    if (source) source.close();
    node.remove();
    node = source = null;
    missed = true;
  };
  document.body.addEventListener("htmx:sseOpen", (event) => {
    if (event.detail.source !== source) {
      source = event.detail.source;
      const listen = (event) => heard(event.type);
      for (const type of place.dataset.types.split(" ")) source.addEventListener(type, listen);
    }
    say(paused ? "Paused" : "Live", !paused);
    if (missed) all();
    missed = false;
  });
  document.body.addEventListener("htmx:sseError", () => {
    missed = true;
    if (!paused) say("Not connected, trying again", false);
  });
  document.addEventListener("visibilitychange", () => {
    if (asleep()) close(); else { age(); open(); }
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", () => { if (!asleep()) open(); });
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Resume" : "Pause";
    say(paused ? "Paused" : "Live", !paused);
    if (!paused) all();
  });
  state.hidden = pause.hidden = false;
  say("Connecting", false);
  tell();
  if (!asleep()) open();
})();
