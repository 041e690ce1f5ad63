// SPDX-License-Identifier: Apache-2.0
// Charts. Each is drawn from a table of the page, which stays there to be read:
//
//   <table data-chart="Confidence over time" data-low="0" data-high="1">
//
// whose head names the series, whose rows begin with a cell that bears data-x
// (Unix milliseconds) and go on with cells that bear data-y (a number, or
// nothing). Series are told apart by dashes as well as by colour.
"use strict";

(() => {
  const drawn = new Map();
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (text) => (text === undefined || text === "" ? null : Number(text));
  const read = (table) => {
    const of = (row) => [...row.cells];
    const rows = [...table.tBodies[0].rows].map((row) => of(row).map((cell, i) => number(i ? cell.dataset.y : cell.dataset.x)))
      .filter((row) => row[0] !== null).sort((a, b) => a[0] - b[0]);
    const names = of(table.tHead.rows[0]).map((cell) => cell.textContent.trim());
    const columns = names.map((_, i) => rows.map((row) => (row[i] === undefined ? null : row[i])));
    columns[0] = columns[0].map((ms) => ms / 1000);
    const series = names.map((name, i) => ({ name, values: columns[i], first: i === 0 }))
      .filter((one) => one.first || one.values.some((value) => value !== null));
    return series;
  };
  const boxOf = (table) => {
    let box = table.previousElementSibling;
    if (!box || !box.classList.contains("chart")) {
      box = document.createElement("div");
      box.className = "chart";
      table.before(box);
    }
    return box;
  };
  // A box that is empty yet may not be shown, and has no width: it will have its parent's.
  const draw = (table) => {
    const series = read(table);
    if (series.length < 2 || series[0].values.length < 2) return;
    const box = boxOf(table);
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", table.dataset.chart + ", drawn from the table below");
    const tones = ["--accent", "--good", "--warn", "--bad"], dashes = [[], [6, 3], [2, 3], [10, 3, 2, 3]];
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
    const scale = {};
    if (table.dataset.low !== undefined) scale.range = [Number(table.dataset.low), Number(table.dataset.high)];
    const old = drawn.get(box);
    if (old) old.destroy();
    drawn.set(box, new uPlot({
      width: Math.max(240, box.clientWidth || box.parentElement.clientWidth), height: 240, cursor: { drag: { x: false, y: false } }, scales: { x: { time: true }, y: scale },
      axes: [axis, { ...axis, size: 56 }],
      series: series.map((one, i) => (i === 0 ? { label: one.name } : {
        label: one.name, stroke: colour(tones[(i - 1) % 4]), dash: dashes[(i - 1) % 4], width: 2, spanGaps: true, points: { size: 5 },
      })),
    }, series.map((one) => one.values), box));
    const legend = box.querySelector("table");
    if (legend) { legend.createCaption().textContent = "What is drawn"; legend.caption.className = "unseen"; }
  };
  const all = (root) => {
    for (const table of (root.querySelectorAll ? root : document).querySelectorAll("table[data-chart]")) draw(table);
  };
  all(document);
  let later = 0;
  const again = () => { clearTimeout(later); later = setTimeout(() => all(document), 150); };
  window.addEventListener("resize", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  if (window.htmx) htmx.onLoad(() => {
    for (const [box, plot] of drawn) if (!box.isConnected) { plot.destroy(); drawn.delete(box); }
    again();
  });
})();
