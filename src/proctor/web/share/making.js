"use strict";
// Making elements: every text goes in as text, never as HTML.
const head = JSON.parse(document.getElementById("head").textContent);
const NEAR = 1e-9;
const SIZE = 50;
let language = document.documentElement.lang;

function t(key, values = {}) {
  const word = head.words[language][key] ?? key;
  return word.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

function make(kind, about = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(about)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
  return made;
}

const percent = (value) => (value === undefined || value === null ? "–" : `${(100 * value).toFixed(1)}%`);
const number = (value, digits = 4) =>
  value === undefined || value === null ? "–" : String(Number(value.toPrecision(digits)));
const ends = (interval, shown) =>
  interval ? `${shown(interval[0])}–${shown(interval[1])}` : "–";
const statusMark = (word) => make("span", { class: `status ${word}` }, t(`status_${word}`));
const quotedMark = (run) =>
  run.imported ? [" ", make("span", { class: "status imported", title: t("imported_why") }, t("imported"))] : null;
const listed = (value) => (Array.isArray(value) ? value : value === undefined ? [] : [value]);
const tagMarks = (tags) =>
  Object.entries(tags ?? {}).map(([name, value]) => [
    make("span", { class: "tag" }, `${name}: ${listed(value).join(", ")}`),
    " ",
  ]);

// A text that was cut into pieces: what was found is marked, what was left out is counted.
function shownText(pieces, about = { class: "text", dir: "auto" }) {
  return make(
    "pre",
    about,
    listed(pieces).map((piece) => {
      if (typeof piece === "string") return piece;
      const text = piece.text ?? "";
      const more = piece.more ? make("i", {}, ` … ${piece.more} ${t("case.more")}`) : null;
      return [piece.hit ? make("mark", {}, text) : text, more];
    }),
  );
}

function folded(summary, content, open = false) {
  return make("details", { open }, make("summary", {}, summary), content);
}

function table(columns, rows, about = {}) {
  const cells = (row) => row.map((cell, at) => make("td", { class: columns[at].kind }, cell));
  return make(
    "div",
    { class: "wide" },
    make(
      "table",
      about,
      make("thead", {}, make("tr", {}, columns.map(heading))),
      make("tbody", {}, rows.map((row) => make("tr", {}, cells(row)))),
    ),
  );
}

function heading(column) {
  const kind = column.kind === "quote" ? "text" : column.kind;
  if (!column.sort) return make("th", { class: kind, scope: "col" }, column.name);
  const order = column.sorted ? (column.down ? "descending" : "ascending") : null;
  const button = make("button", { class: "link", type: "button", onclick: column.sort }, column.name);
  return make("th", { class: kind, scope: "col", "aria-sort": order }, button);
}

// Blocks of the page are read when they are needed, and the last few are kept.
const readBlocks = new Map();
function block(name) {
  let found = readBlocks.get(name);
  if (!found) {
    found = JSON.parse(document.getElementById(name).textContent);
    readBlocks.set(name, found);
    if (readBlocks.size > 40) readBlocks.delete(readBlocks.keys().next().value);
  }
  return found;
}
const BLOCK = 50;
const partOf = (kind, at) => block(`${kind}-${Math.floor(at / BLOCK)}`)[at % BLOCK];

// Rows as objects, made once; cases of several runs meet by their ids.
const runs = head.runs.map((run, place) => ({
  ...run,
  place,
  cases: run.rows.map((row, at) => ({
    id: row[0], status: row[1], value: row[2], full: row[3], low: row[4], high: row[5],
    tags: row[6], question: row[7], answer: row[8], asked: row[9], at, run: place,
  })),
}));
for (const run of runs) {
  run.byId = new Map(run.cases.map((one) => [one.id, one]));
  delete run.rows;
}
function haystack(one) {
  one.found ??= [one.id, one.question, one.answer, ...Object.values(one.tags).flat()]
    .join("\n")
    .toLowerCase();
  return one.found;
}
const rateOf = (one) => (one.full > 0 ? one.value / one.full : 0);
function kindOf(one, other) {
  if (!other || one.value === null || other.value === null) return "";
  const by = rateOf(other) - rateOf(one);
  if (by > NEAR) return "better";
  if (by < -NEAR) return "worse";
  const wrong = one.value < one.full - NEAR || other.value < other.full - NEAR;
  if (!wrong) return "both_right";
  return Math.max(rateOf(one), rateOf(other)) <= NEAR ? "both_wrong" : "both_partly";
}
const KINDS = ["better", "worse", "both_wrong", "both_partly", "both_right", ""];
const isRight = (one) => one.value >= one.full - NEAR;
const isFlip = (one, other) =>
  !!other && one.value !== null && other.value !== null && isRight(one) !== isRight(other);
