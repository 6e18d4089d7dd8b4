// The page: which view the address asks for, what every view has, and the keys.
const NAMES = ["view", "run", "case", "q", "status", "tag", "kind", "pair", "sort", "down", "page", "lang"];
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

const elsewhere = { case: "", q: "", status: "", tag: "", kind: "", sort: "", down: "", page: "" };
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
  return [make("nav", { "aria-label": t("share.runs") }, compare, links), make("nav", { "aria-label": t("languages") }, languages)];
}

function card(name, value, more = "", kind = null) {
  return make("div", { class: kind }, make("span", {}, name), make("b", {}, value), make("span", {}, more));
}

function cards(run) {
  const totals = run.totals;
  const within = totals.interval ? `${t("interval")} ${ends(totals.interval, percent)}` : "";
  const trouble = [["errors", "error"], ["unscored", "unscored"], ["unanswered", "unanswered"]]
    .filter(([name]) => totals[name])
    .map(([name, status]) => card(t(name), make("a", { href: address({ ...elsewhere, view: "run", run: run.place, status }) }, totals[name]), t("attempts"), name));
  const used = run.usage.calls
    ? card(t("calls"), run.usage.calls, t("tokens", { prompt: run.usage.prompt_tokens, completion: run.usage.completion_tokens }))
    : null;
  return make("section", { class: "cards", "aria-label": t("totals") },
    totals.full ? card(t("rate"), percent(totals.rate), within) : null,
    totals.bounds ? card(t("bounds"), ends(totals.bounds, percent), t("bounds_why")) : null,
    totals.full ? card(t("points"), number(totals.score), t("of", { full: number(totals.full) })) : null,
    card(t("cases"), totals.cases, [totals.clusters ? t("in_clusters", { count: totals.clusters }) : "", t("count_attempts", { count: totals.attempts })].filter(Boolean).join(", ")),
    trouble, used, run.usage.cost === undefined ? null : card(t("cost"), `$${number(run.usage.cost)}`));
}

function measuresPart(run) {
  const rows = Object.entries(run.measures ?? {}).map(([name, found]) => [name, number(found.value), found.interval ? ends(found.interval, number) : "–", found.n]);
  if (!rows.length) return null;
  const columns = [{ name: t("measure"), kind: "text" }, { name: t("value"), kind: "" }, { name: t("interval"), kind: "" }, { name: "n", kind: "" }];
  return make("section", {}, make("h2", {}, t("measures")), table(columns, rows));
}

function groupsPart(run) {
  return Object.entries(run.groups ?? {}).map(([tag, found], place) => {
    const entries = Object.entries(found);
    const meter = (group) => [make("meter", { min: 0, max: 1, value: group.rate ?? 0 }), ` ${percent(group.rate)}`];
    const name = (value) => (tag === "metric" ? value : make("a", { href: address({ ...elsewhere, view: "run", run: run.place, tag: JSON.stringify([tag, value]) }) }, value));
    const rows = entries.map(([value, group]) => [name(value), meter(group), ends(group.interval, percent), number(group.score), number(group.full), group.clusters ? `${group.cases} ${t("in_clusters", { count: group.clusters })}` : group.cases]);
    const columns = [tag, t("rate"), t("interval"), t("points"), t("full"), t("cases")].map((word, at) => ({ name: word, kind: at ? "" : "text" }));
    const title = make("h2", {}, `${t("by", { tag })} `, make("span", { class: "faint" }, `(${entries.length})`));
    return entries.length ? make("details", { class: "group", open: place === 0 || entries.length <= 12 }, make("summary", {}, title), table(columns, rows)) : null;
  });
}

function distribution(run) {
  const counts = new Array(10).fill(0);
  let known = 0;
  for (const one of run.cases) {
    if (one.value === null) continue;
    counts[Math.min(9, Math.max(0, Math.floor(rateOf(one) * 10 + NEAR)))]++;
    known++;
  }
  if (known < 2) return null;
  const most = Math.max(...counts);
  const bars = counts.map((count, at) => {
    const bar = make("div", { title: `${at * 10}–${at * 10 + 10}%: ${count}` });
    bar.style.height = `${(100 * count) / most}%`;
    return bar;
  });
  return make("section", {}, make("h2", {}, t("distribution")),
    make("div", { class: "bars", role: "img", "aria-label": t("distribution_of", { run: run.run.name }) }, bars),
    make("div", { class: "scale faint" }, make("small", {}, "0%"), make("small", {}, "100%")));
}

function someNotice(run) {
  return run.cases.length < run.totals.cases
    ? make("p", { class: "faint" }, t("share.some", { count: run.cases.length, all: run.totals.cases }))
    : null;
}

function runPage(run, state) {
  const about = [`${t("suite")} ${run.run.suite} · ${t("candidate")} ${run.run.candidate} · `, statusMark(run.run.status), quotedMark(run.run)];
  return [make("h1", {}, run.run.name), make("p", { class: "faint" }, about), cards(run), someNotice(run),
    measuresPart(run), groupsPart(run), distribution(run), caseList(run, state),
    make("details", { class: "group" }, make("summary", {}, t("signature")), make("p", { class: "said" }, run.run.signature ?? ""))];
}

function comparePage(state) {
  const found = head.compared[language];
  const verdict = (pair) =>
    make("p", { class: `verdict ${pair.verdict === "better" ? "good" : pair.verdict === "worse" ? "bad" : ""}` }, pair.sentence);
  const text = { kind: "text" };
  const sides = found.runs.map((one, at) => [make("span", {}, make("a", { href: address({ ...elsewhere, view: "run", run: at }) }, one.name), quotedMark(one)), one.candidate ?? "", percent(one.rate), one.interval ? ends(one.interval, percent) : "–"]);
  const names = new Map(found.runs.map((one) => [one.id, one.name]));
  const left = (pair) => Object.values(pair.left_out ?? {}).reduce((sum, count) => sum + count, 0);
  const rows = found.pairs.map((pair) => [
    `${names.get(pair.first)} → ${names.get(pair.second)}`, pair.difference?.value === undefined ? "–" : signed(pair.difference.value),
    pair.difference?.low === undefined ? "–" : `${signed(pair.difference.low)} … ${signed(pair.difference.high)}`,
    pair.adjusted_p === undefined ? "–" : pair.adjusted_p < 0.001 ? "< 0.001" : number(pair.adjusted_p, 2), number(pair.effect, 2), pair.cases, number(pair.cases_needed),
    pair.counts.better, pair.counts.worse, pair.counts.both_wrong, pair.counts.both_partly, pair.counts.both_right, left(pair)]);
  const columns = [{ name: t("compare.pair"), ...text }, ...["difference", "interval", "p", "effect", "cases", "needed", "better", "worse", "both_wrong", "both_partly", "both_right", "left_out"]
    .map((name) => ({ name: name === "p" ? "p" : t(`compare.${name}`), kind: "" }))];
  return [make("h1", {}, t("compare.title")), found.pairs.map(verdict),
    (found.warnings ?? []).map((warning) => make("p", { class: "bad" }, warning)),
    table([{ name: t("compare.run"), ...text }, { name: t("compare.candidate"), ...text }, { name: t("compare.rate"), kind: "" }, { name: t("compare.interval"), kind: "" }], sides),
    table(columns, rows), someNotice(runs[0]), pairList(state)];
}

function viewOf(state) {
  const run = runs[Number(state.run) || 0] ?? runs[0];
  const view = state.view || (runs.length > 1 ? "compare" : "run");
  if (view === "case") {
    const one = run.byId.get(state.case);
    return one ? casePage(run, one, state) : [make("p", { class: "problem" }, t("share.lacking"))];
  }
  if (view === "both" && runs.length > 1) {
    return runs.some((one) => one.byId.has(state.case)) ? bothPage(state.case, state) : [make("p", { class: "problem" }, t("share.lacking"))];
  }
  return view === "compare" && runs.length > 1 ? comparePage(state) : runPage(run, state);
}

function focused() {
  const now = document.activeElement;
  return now && now.name ? { name: now.name, at: now.selectionStart } : null;
}

function show() {
  const state = stateNow();
  if (state.lang in head.words) language = state.lang;
  document.documentElement.lang = language;
  const before = focused();
  document.querySelector(".top").replaceChildren(...topBar(state).flat());
  const footer = make("footer", { class: "faint" }, make("p", {}, t("share.keys")), make("p", {}, t("share.made", { version: head.version })));
  document.getElementById("main").replaceChildren(...viewOf(state).flat(9).filter((part) => part), footer);
  if (before) {
    const again = document.querySelector(`[name="${before.name}"]`);
    again?.focus();
    if (again?.setSelectionRange && before.at !== null) again.setSelectionRange(before.at, before.at);
  }
}

let last = "";
function moved() {
  const state = stateNow();
  const place = `${state.view} ${state.run} ${state.case} ${state.page}`;
  show();
  if (place !== last) {
    const list = state.page && !state.case ? document.querySelector(".filters") : null;
    if (list) list.scrollIntoView();
    else scrollTo(0, 0);
  }
  last = place;
}

function step(by) {
  const rows = [...document.querySelectorAll("table.cases tbody a")];
  const at = rows.indexOf(document.activeElement);
  rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLElement && event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const marked = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
  const act = marked ? () => marked.click() : {
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
moved();
