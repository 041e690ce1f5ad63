// SPDX-License-Identifier: Apache-2.0
// The keys: the palette that finds anything and leads to what can be done, "/" for the search, "?" for the keys,
// and g with a letter for a page. What the palette shows is the page /ui/find, which is there without a script too.
"use strict";

(() => {
  const palette = document.getElementById("palette"), field = document.getElementById("palette-q"), list = document.getElementById("palette-list");
  const said = document.getElementById("palette-said"), keys = document.getElementById("keys"), find = document.getElementById("find");
  const opener = document.getElementById("palette-open");
  const pause = 120; // milliseconds after the last letter before it is asked
  let options = [], chosen = -1, asking = null, timer = 0, before = null;

  const choose = (n) => {
    if (options[chosen]) options[chosen].node.setAttribute("aria-selected", "false");
    chosen = options.length ? (n + options.length) % options.length : -1;
    const one = options[chosen];
    if (!one) { field.removeAttribute("aria-activedescendant"); return; }
    one.node.setAttribute("aria-selected", "true");
    field.setAttribute("aria-activedescendant", one.node.id);
    one.node.scrollIntoView({ block: "nearest" });
  };
  // go does what a list's entry does on its page: it follows the link, or sends the form of a setting.
  const go = (one) => {
    if (!one) { location.assign("/ui/memory?q=" + encodeURIComponent(field.value)); return; }
    const link = one.from.querySelector("a[href]");
    if (!link || !link.getAttribute("href").startsWith("/")) return;
    const to = new URL(link.getAttribute("href"), location.href);
    close();
    if (to.pathname + to.search === location.pathname + location.search) { location.hash = to.hash; opened(); } else location.assign(to);
  };
  // show makes the list of what the page has. Only its texts are taken over.
  const show = (page) => {
    list.replaceChildren();
    options = [];
    for (const section of page.querySelectorAll("#found > section")) {
      const entries = [...section.querySelectorAll(".choices > li")];
      if (!entries.length) continue;
      const group = document.createElement("div"), head = document.createElement("span");
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", section.querySelector("h2").textContent);
      head.textContent = section.querySelector("h2").textContent;
      head.setAttribute("aria-hidden", "true");
      group.append(head);
      for (const from of entries) {
        const node = document.createElement("div"), name = document.createElement("span");
        const one = { node, from };
        node.id = "palette-" + options.length;
        node.setAttribute("role", "option");
        node.setAttribute("aria-selected", "false");
        name.textContent = from.querySelector("a").textContent;
        node.append(name);
        const detail = from.querySelector(".detail");
        if (detail) { const more = document.createElement("span"); more.className = "detail"; more.textContent = detail.textContent; node.append(more); }
        node.addEventListener("click", () => go(one));
        options.push(one);
        group.append(node);
      }
      list.append(group);
    }
    field.setAttribute("aria-expanded", String(options.length > 0));
    said.textContent = options.length ? options.length + (options.length === 1 ? " entry" : " entries") + ". Up and down choose, Enter goes there." : "Nothing fits. Enter searches what is remembered.";
    chosen = -1;
    choose(0);
  };
  const ask = async () => {
    timer = 0;
    if (asking) asking.abort();
    const mine = asking = new AbortController();
    try {
      const answer = await fetch("/ui/find?q=" + encodeURIComponent(field.value), { signal: mine.signal });
      const text = await answer.text();
      if (mine !== asking) return;
      asking = null;
      if (!answer.ok) throw new Error(String(answer.status));
      show(new DOMParser().parseFromString(text, "text/html"));
    } catch (error) {
      if (error.name === "AbortError") return;
      asking = null;
      list.replaceChildren();
      options = [];
      choose(0);
      field.setAttribute("aria-expanded", "false");
      said.textContent = "The router does not answer. Enter searches what is remembered.";
    }
  };
  const later = () => { clearTimeout(timer); timer = setTimeout(ask, pause); };
  const open = () => {
    if (palette.open) return;
    if (keys.open) keys.close();
    before = document.activeElement;
    field.value = "";
    palette.showModal();
    field.focus();
    ask();
  };
  const close = () => { palette.close(); };
  palette.addEventListener("close", () => {
    clearTimeout(timer);
    if (asking) asking.abort();
    asking = null;
    if (before && before.isConnected && before !== document.body) before.focus();
  });
  palette.addEventListener("click", (event) => { if (event.target === palette) close(); }); // beside it
  field.addEventListener("input", later);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (moves[event.key]) choose(chosen + moves[event.key]);
    else if (event.key === "Enter") { if (timer || asking) { clearTimeout(timer); ask().then(() => go(options[chosen])); } else go(options[chosen]); }
    else return;
    event.preventDefault();
  });
  opener.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });

  // A link to an act opens its form.
  const opened = () => {
    const act = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (act && act.matches("details.act")) { act.open = true; act.querySelector("input:not([type=hidden]), textarea, select")?.focus(); }
  };
  window.addEventListener("hashchange", opened);
  opened();

  // The rows of a list: j and k move, Enter opens, x chooses, a accepts and d declines, while the list has the focus.
  const shown = () => document.getElementById("list");
  const rows = () => [...shown().querySelectorAll(".rows > tbody > tr, .moments > li")];
  const linkOf = (row) => row && row.querySelector("th a[href], .line a[href], a[href]");
  const current = () => document.activeElement.closest("#list .rows > tbody > tr, #list .moments > li");
  const move = (by) => {
    const all = rows(), now = all.indexOf(current() || shown().querySelector("tr.on"));
    const to = linkOf(all[now < 0 ? 0 : Math.min(Math.max(now + by, 0), all.length - 1)]);
    if (to) { to.focus(); to.scrollIntoView({ block: "nearest" }); }
  };
  // decide sends what is chosen, or the row, with a button's verb. A command is allowed on its own page alone, and so a opens it.
  const decide = (row, verb) => {
    const form = document.getElementById("choice");
    if (!form || !verb) { const to = linkOf(row); if (to) to.click(); return; }
    const box = row.querySelector("input[name=item]");
    if (!document.querySelector("#list input[name=item]:checked") && box) box.checked = true;
    const button = form.querySelector("button[name=do][value='" + verb + "']");
    if (button) button.click();
  };
  const act = (row, key) => {
    if (key === "x") { const box = row.querySelector("input[name=item]"); if (box) box.checked = !box.checked; } else decide(row, key === "a" ? row.dataset.accept : row.dataset.decline);
  };
  // The head of a column sorts the rows that the page has.
  const sort = (table, n, button) => {
    const up = button.parentElement.getAttribute("aria-sort") !== "ascending", body = table.tBodies[0];
    const value = (row) => { const cell = row.cells[n], time = cell.querySelector("time"); return time ? Date.parse(time.dateTime) : cell.textContent.trim(); };
    const number = (text) => (typeof text === "number" ? text : Number(text.replace(/[,×%\s]/g, "")));
    const order = (a, b) => { const x = value(a), y = value(b); return Number.isNaN(number(x)) || Number.isNaN(number(y)) ? String(x).localeCompare(String(y)) : number(x) - number(y); };
    body.append(...[...body.rows].sort((a, b) => (up ? order(a, b) : order(b, a))));
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    button.parentElement.setAttribute("aria-sort", up ? "ascending" : "descending");
  };
  const heads = () => {
    for (const table of document.querySelectorAll(".rows")) {
      [...table.tHead.rows[0].cells].forEach((head, n) => {
        if (head.querySelector("button, .unseen")) return;
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = head.textContent;
        button.addEventListener("click", () => sort(table, n, button));
        head.replaceChildren(button);
      });
    }
  };
  heads();
  if (window.htmx) htmx.onLoad(heads);

  let after = 0; // when g was pressed
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (palette.open) close(); else open();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || palette.open || event.target.closest("input, textarea, select, [contenteditable]")) return;
    const row = shown() && current();
    if ((event.key === "j" || event.key === "k") && shown() && !(Date.now() - after < 1500) && (row || document.activeElement === document.body)) {
      event.preventDefault();
      move(event.key === "j" ? 1 : -1);
    } else if (row && "xad".includes(event.key) && !(Date.now() - after < 1500)) {
      event.preventDefault();
      act(row, event.key);
    } else if (event.key === "u" && document.querySelector("button[data-undo]")) {
      const button = document.querySelector("button[data-undo]"), form = button.closest("details");
      if (form) form.open = true; else button.click();
    } else if (event.key === "Escape" && document.getElementById("detail") && !keys.open) {
      document.querySelector(".trail a").click();
    } else if (event.key === "/" && !keys.open) {
      event.preventDefault();
      find.focus();
      find.select();
    } else if (event.key === "?") {
      event.preventDefault();
      if (keys.open) keys.close(); else keys.showModal();
    } else if (event.key === "g" && Date.now() - after >= 1500) {
      after = Date.now();
    } else if (Date.now() - after < 1500) {
      after = 0;
      const to = [...document.querySelectorAll(".places a[data-key]")].find((link) => link.dataset.key === event.key);
      if (to) to.click();
    }
  });
})();
