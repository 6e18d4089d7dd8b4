// The page: which view the address asks for, what every view has, and the keys.
const NAMES = ["view", "run", "case", "q", "status", "tag", "kind", "pair", "sort", "down", "page", "attempt", "step", "text", "lang"];
function stateNow() {
  const asked = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(NAMES.map((name) => [name, asked.get(name) ?? ""]));
}

function address(changes) {
  const state = { ...stateNow(), ...changes };
  return `#${new URLSearchParams(NAMES.filter((name) => state[name] !== "" && state[name] !== undefined).map((name) => [name, state[name]]))}`;
}

function go(changes, replace = false) {
  const next = address(changes);
  if (replace) {
    history.replaceState(null, "", next);
    show();
  } else location.hash = next;
}

function themeMenu() {
  const choose = (name) => () => {
    document.documentElement.dataset.theme = name;
    try {
      localStorage.setItem("proctor_theme", name);
    } catch {}
    show();
  };
  const now = document.documentElement.dataset.theme ?? "system";
  const choices = ["light", "dark", "system"].map((name) =>
    make("li", make("button.chip", { type: "button", "aria-pressed": String(name === now), onclick: choose(name) }, t(`theme.${name}`))));
  return make("details.menu", make("summary", t("theme")), make("ul.chips", choices));
}

const elsewhere = { case: "", q: "", status: "", tag: "", kind: "", sort: "", down: "", page: "", attempt: "", step: "" };
function topBar(state) {
  const view = state.view || (runs.length > 1 ? "compare" : "run");
  const current = (is) => (is ? "true" : null);
  const at = Number(state.run) || 0;
  const links = runs.map((run) =>
    make("a", { href: address({ ...elsewhere, view: "run", run: run.place }), "aria-current": current((view === "run" || view === "case") && at === run.place) }, run.run.name));
  const compare = runs.length > 1
    ? make("a", { href: address({ ...elsewhere, view: "compare" }), "aria-current": current(view === "compare" || view === "both") }, t("compare.title"))
    : null;
  const languages = Object.keys(head.words).map((code) =>
    make("a", { href: address({ lang: code }), lang: code, "aria-current": current(code === language) }, code === "zh" ? "中文" : "English"));
  return [make("nav", { "aria-label": t("share.runs") }, make("span.brand", "Proctor"), compare, links), make("nav", { "aria-label": t("languages") }, languages, themeMenu())];
}

function someNotice(run) {
  return run.cases.length < run.totals.cases
    ? make("p.faint", t("share.some", { count: number(run.cases.length, 7), all: number(run.totals.cases, 7) }))
    : null;
}

function runPage(run, state) {
  return [make("p.trail", run.run.suite),
    make("div.heading-line", make("h1", run.run.name), " ", statusMark(run.run.status), quotedMark(run.run)),
    ownParts(run.facts[language]), someNotice(run), caseList(run, state),
    make("h2", t("breakdowns")), ownParts(run.breakdowns[language])];
}

async function viewOf(state) {
  const run = runs[Number(state.run) || 0] ?? runs[0];
  const view = state.view || (runs.length > 1 ? "compare" : "run");
  const lacking = [make("p.problem", t("share.lacking"))];
  if (wordsOf(state) && !textsRead) {
    const count = document.querySelector(".listed");
    if (count) count.textContent = t("share.reading");
    await readTexts();
  }
  if (view === "case") {
    const one = run.byId.get(state.case);
    return one ? casePage(run, one, state) : lacking;
  }
  if (view === "both" && runs.length > 1) return runs.some((one) => one.byId.has(state.case)) ? bothPage(state.case, state) : lacking;
  return view === "compare" && runs.length > 1 ? comparePage(state) : runPage(run, state);
}

function focused() {
  const now = document.activeElement;
  return now && now.name ? { name: now.name, at: now.selectionStart, value: now.value } : null;
}

let turn = 0;
async function show() {
  const own = ++turn;
  const state = stateNow();
  if (state.lang in head.words) language = state.lang;
  raw = state.text === "raw";
  document.documentElement.lang = language;
  const parts = (await viewOf(state)).flat(9).filter((part) => part);
  if (own !== turn) return false;
  const before = focused();
  document.querySelector(".top").replaceChildren(...topBar(state).flat());
  const footer = make("footer.faint", make("p", t("share.keys")), make("p", t("share.made", { version: head.version })));
  document.getElementById("main").replaceChildren(...parts, footer);
  if (before) {
    const again = document.querySelector(`[name="${before.name}"]`);
    again?.focus();
    if (again?.setSelectionRange && before.at !== null) {
      again.value = before.value;
      again.setSelectionRange(before.at, before.at);
    }
  }
  return true;
}

let last = "";
let left = "";
async function moved() {
  const state = stateNow();
  const place = `${state.view} ${state.run} ${state.case} ${state.page} ${state.pair}`;
  const shown = await show();
  if (!shown || place === last) return;
  const row = !state.case && left ? [...document.querySelectorAll("table.cases tbody a")].find((link) => link.textContent === left) : null;
  if (row) {
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
  } else if (state.page && !state.case) document.querySelector(".bar")?.scrollIntoView();
  else scrollTo(0, 0);
  [last, left] = [place, state.case];
}

function step(by) {
  const rows = [...document.querySelectorAll("table.cases tbody tr")].map((row) => row.querySelector("a")).filter(Boolean);
  const at = rows.indexOf(document.activeElement);
  rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLElement && event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const pressed = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
  const act = pressed ? () => pressed.click() : {
    "/": () => document.querySelector('input[name="q"]')?.focus(),
    n: () => document.querySelector("button.next")?.click(),
    p: () => document.querySelector("button.prev")?.click(),
    j: () => step(1),
    k: () => step(-1),
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});
addEventListener("hashchange", moved);
await moved();
