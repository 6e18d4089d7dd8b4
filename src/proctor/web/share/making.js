// The page's data, unpacked, and the making of elements: every text goes in as text, never as HTML.
if (typeof DecompressionStream === "undefined") {
  document.getElementById("old").hidden = false;
  throw new Error("this browser cannot unpack the page");
}
const NEAR = 1e-9;
const SIZE = 50;
const BLOCK = 50;
const LONG = 50000;
const TALL = 6000;

async function unpacked(name) {
  const packed = atob(document.getElementById(name).textContent);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const head = await unpacked("head");
let language = document.documentElement.lang;
let raw = false;

function t(key, values = {}) {
  const word = head.words[language][key] ?? key;
  return word.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

const SPACES = { svg: "http://www.w3.org/2000/svg", math: "http://www.w3.org/1998/Math/MathML" };
// make("span.faint", { title: "…" }, "text", element, [more]): what it is made with may be left out.
function make(name, ...rest) {
  const [kind, ...classes] = name.split(".");
  const made = kind === "svg" || kind === "rect" ? document.createElementNS(SPACES.svg, kind) : document.createElement(kind);
  const isAbout = rest[0] && Object.getPrototypeOf(rest[0]) === Object.prototype;
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(isAbout ? rest.shift() : {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...rest.flat(9).filter((child) => child !== null && child !== undefined));
  return made;
}

const number = (value, digits = 4) => inDigits(value, digits).replace("-", "−");
const inDigits = (value, digits) =>
  value === undefined || value === null ? "–" : Math.abs(value) >= 10 ** digits ? Math.round(value).toLocaleString("en") : Math.abs(value) >= 1000 ? Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 9 }) : String(Number(value.toPrecision(digits)));
const signed = (share) => {
  const text = (100 * share).toFixed(1);
  return Number(text) === 0 ? "0.0" : share > 0 ? `+${text}` : text.replace("-", "−");
};
function span(seconds) {
  if (seconds === undefined || seconds === null) return "–";
  if (seconds < 0.0995) return `${Math.round(1000 * seconds)} ms`;
  return seconds < 99.5 ? `${seconds.toFixed(seconds < 0.995 ? 2 : seconds < 9.95 ? 1 : 0)} s` : `${Math.round(seconds / 60)} min`;
}
const statusMark = (word) => make("span", { class: `status ${word}` }, t(`status_${word}`));
const quotedMark = (run) =>
  run.imported ? [" ", make("span", { class: "status imported", title: t("imported_why") }, t("imported"))] : null;
const listed = (value) => (Array.isArray(value) ? value : value === undefined ? [] : [value]);
const tagMarks = (tags) =>
  Object.entries(tags ?? {}).map(([name, value]) => [make("span.tag", `${name}: ${listed(value).join(", ")}`), " "]);

// The parts of docs/design-language.md: score pill, interval bar, table, drawer.
const SIGNS = { good: "✓", bad: "✗", warn: "◐", none: "⚠" };
const sign = (kind) => SIGNS[kind] ?? "·";
function kindOfValue(status, value, full) {
  if (status === "error" || status === "broken") return "bad";
  if (status === "unscored" || status === "failed") return "none";
  if (status === "unanswered") return "warn";
  if (status === "shown" || status === "not_applicable" || value === undefined || value === null) return "plain";
  return full && value >= full ? "good" : value <= 0 ? "bad" : "warn";
}

function pill(status, value, full = 1) {
  const kind = kindOfValue(status, value, full);
  const missing = ["error", "broken", "unscored"].includes(status);
  const worth = full === 1 ? `${number(100 * (value ?? 0), 3)}%` : `${number(value)}/${number(full)}`;
  const words = value === undefined || value === null || missing ? `${missing ? "⚠" : "·"} ${t(`status_${status}`)}` : `${sign(kind)} ${worth}`;
  return make("span", { class: `pill ${kind}`, title: t(`status_${status}`) }, words);
}

function folded(summary, content, open = false) {
  return make("details", { class: "drawer", open }, make("summary", summary), content);
}

function table(columns, rows, about = {}) {
  const cells = (row) => row.map((cell, at) => make("td", { class: columns[at].kind, "data-label": columns[at].label }, cell));
  const made = make("table", about, make("thead", make("tr", columns.map(heading))),
    make("tbody", rows.map((row) => make("tr", cells(row)))));
  return (about.class ?? "").includes("sheet") ? made : make("div", { class: "wide", tabindex: 0 }, made);
}

function heading(column) {
  const kind = column.kind.includes("text") ? "text" : null;
  if (!column.sort) return make("th", { class: kind, scope: "col" }, column.name);
  const order = column.sorted ? (column.down ? "descending" : "ascending") : null;
  const button = make("button", { class: "link", type: "button", onclick: column.sort }, column.name);
  return make("th", { class: kind, scope: "col", "aria-sort": order }, button);
}

// Texts of strangers: as they were rendered when the page was written, or as they are. A tree is
// built from allowed elements and attributes alone; our own parts may also draw and lead on.
const names = (text) => new Set(text.split(" "));
const ELEMENTS = names("p ul ol li blockquote table thead tbody tr th td em strong s pre code span a small br hr img");
const OWN = names("section div h1 h2 h3 dl dt dd b details summary svg rect line text title");
const FORMULAS = names("math mrow mi mn mo mtext mspace mfrac msqrt mroot msup msub msubsup munder mover munderover mtable mtr mtd mstyle mpadded mphantom menclose");
const ABOUT = names("class start rel target alt display displaystyle stretchy fence separator form linethickness mathvariant columnalign rowspacing columnspacing accent movablelimits minsize maxsize width");
const ABOUT_OWN = names("title role open scope tabindex aria-label aria-hidden data-key x y x1 x2 y1 y2 height fill stroke viewBox preserveAspectRatio text-anchor font-family font-size");
const allowed = (name, value) =>
  ABOUT.has(name) || (name === "href" && /^(https?|mailto):/i.test(value)) || (name === "src" && /^data:image\/(png|jpeg|gif|webp);base64,/.test(value));
const linked = (value) => address({ ...elsewhere, ...Object.fromEntries(new URLSearchParams(value.slice(1))) });
function grown(parts, own = false, space = "") {
  return parts.flatMap((part) => {
    if (typeof part === "string") return [part];
    const [name, about, ...inner] = part;
    const within = name === "math" || (own && name === "svg") ? name : space;
    const children = grown(inner, own, within);
    const good = within === "math" ? FORMULAS.has(name) : ELEMENTS.has(name) || (own && OWN.has(name));
    if (!good) return children;
    const made = within ? document.createElementNS(SPACES[within], name) : document.createElement(name);
    for (const [key, value] of Object.entries(about)) {
      if (own && key === "href" && value.startsWith("#")) made.setAttribute(key, linked(value));
      else if (allowed(key, value) || (own && ABOUT_OWN.has(key))) made.setAttribute(key, value);
    }
    made.append(...children);
    return [made];
  });
}
const ownParts = (parts) => grown(parts, true);

const rawOf = (value) => (value && (value.rich || value.code) ? (value.raw ?? []) : value);
const pieceText = (value) => listed(rawOf(value)).map((piece) => (typeof piece === "string" ? piece : (piece.text ?? ""))).join("");

function rawText(pieces, kind) {
  return make("pre", { class: `text${kind}`, dir: "auto", tabindex: kind.includes("tall") ? 0 : null },
    listed(pieces).map((piece) => {
      if (typeof piece === "string") return piece;
      const more = piece.more ? make("i", ` … ${piece.more} ${t("case.more")}`) : null;
      return [piece.hit ? make("mark", piece.text ?? "") : (piece.text ?? ""), more];
    }));
}

function shownText(value) {
  const pieces = rawOf(value);
  const count = pieceText(pieces).length;
  const tall = count > TALL ? " tall" : "";
  let made;
  if (raw || !value || !(value.rich || value.code)) made = rawText(pieces, tall + (raw ? "" : " prose"));
  else if (value.code) made = make("pre", { class: `code${tall}`, dir: "auto", tabindex: 0 }, grown(value.code));
  else {
    const hits = listed(pieces).some((piece) => piece.hit);
    made = [make("div", { class: `rich${tall}`, dir: "auto", tabindex: tall ? 0 : null }, grown(value.rich)), hits ? folded(t("case.matches"), rawText(pieces, tall)) : null];
  }
  return count > LONG ? make("details.fold", make("summary", t("case.show_long", { count: number(count, 8) })), made) : made;
}

function marked(text, words) {
  if (!words) return text;
  const parts = [];
  const low = text.toLowerCase();
  let end = 0;
  for (let at = low.indexOf(words); at >= 0; at = low.indexOf(words, end)) {
    parts.push(text.slice(end, at), make("mark", text.slice(at, at + words.length)));
    end = at + words.length;
  }
  return [...parts, text.slice(end)];
}

// Blocks of the page are unpacked when they are needed, and the last few are kept.
const readBlocks = new Map();
function block(name) {
  let found = readBlocks.get(name);
  if (!found) {
    found = unpacked(name);
    readBlocks.set(name, found);
    if (readBlocks.size > 40) readBlocks.delete(readBlocks.keys().next().value);
  }
  return found;
}
const partOf = async (kind, at) => (await block(`${kind}-${Math.floor(at / BLOCK)}`))[at % BLOCK];

// Rows as objects, made once; cases of several runs meet by their ids.
const runs = head.runs.map((run, place) => ({
  ...run,
  place,
  cases: run.rows.map(([id, status, value, full, low, high, tags, question, answer, reason, tokens, seconds, attempts, asked], at) =>
    ({ id, status, value, full, low, high, tags, question, answer, reason, tokens, seconds, attempts, asked, at, run: place })),
}));
for (const run of runs) {
  run.byId = new Map(run.cases.map((one) => [one.id, one]));
  delete run.rows;
}

// Search covers whole texts: the first one unpacks all blocks, and keeps what they say.
const UNSEARCHED = new Set(["rich", "code", "prompt", "params", "detail", "role", "status", "kind", "scorer", "id", "language", "formula", "verdict"]);
function said(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(said).filter(Boolean).join("\n");
  if (value === null || typeof value !== "object") return "";
  return Object.entries(value).map(([name, part]) => (UNSEARCHED.has(name) && !(name === "code" && typeof part === "string") ? "" : said(part))).filter(Boolean).join("\n");
}
let reading = null;
let textsRead = false;
async function readAll() {
  const asked = [];
  for (let number = 0; document.getElementById(`asked-${number}`); number++) asked.push(...(await unpacked(`asked-${number}`)).map(said));
  for (const run of runs) {
    for (let number = 0; number * BLOCK < run.cases.length; number++) {
      const came = await unpacked(`came-${run.place}-${number}`);
      came.forEach((part, at) => {
        const one = run.cases[number * BLOCK + at];
        one.text = [one.id, ...Object.values(one.tags).flat(), asked[one.asked], said(part)].join("\n");
      });
    }
  }
  textsRead = true;
}
const readTexts = () => (reading ??= readAll());

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
const KINDS = ["worse", "better", "both_wrong", "both_partly", "both_right", ""];
