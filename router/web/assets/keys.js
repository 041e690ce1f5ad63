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
    if (!one) { location.assign("/ui/search?q=" + encodeURIComponent(field.value)); return; }
    const link = one.from.querySelector("a[href]"), form = one.from.querySelector("form");
    if (link && link.getAttribute("href").startsWith("/")) {
      const to = new URL(link.getAttribute("href"), location.href);
      close();
      if (to.pathname + to.search === location.pathname + location.search) location.hash = to.hash; else location.assign(to);
    } else if (form && form.getAttribute("action") === "/ui/settings") {
      const own = document.importNode(form, true), next = document.createElement("input");
      next.type = "hidden";
      next.name = "next";
      next.value = location.pathname + location.search;
      own.append(next);
      own.hidden = true;
      document.body.append(own);
      own.submit();
    }
  };
  // show makes the list of what the page has. Only its texts are taken over.
  const show = (page) => {
    list.replaceChildren();
    options = [];
    for (const section of page.querySelectorAll("#found > section")) {
      const entries = [...section.querySelectorAll(".places > li")];
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
        name.textContent = from.querySelector("a, button").textContent;
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
      if (!answer.ok) throw new Error(String(answer.status));
      show(new DOMParser().parseFromString(text, "text/html"));
    } catch (error) {
      if (error.name === "AbortError") return;
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
    else if (event.key === "Enter") { if (timer) { clearTimeout(timer); ask().then(() => go(options[chosen])); } else go(options[chosen]); }
    else return;
    event.preventDefault();
  });
  opener.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });

  let after = 0; // when g was pressed
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (palette.open) close(); else open();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || palette.open || event.target.closest("input, textarea, select, [contenteditable]")) return;
    if (event.key === "/" && !keys.open) {
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
      const to = [...document.querySelectorAll("nav a[data-key]")].find((link) => link.dataset.key === event.key);
      if (to) to.click();
    }
  });
})();
