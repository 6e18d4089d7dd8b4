// Lists of cases: filtered, sorted, a page at a time; all of it stands in the address.
const FAILED = "failed";
const isFailed = (one) => one.status !== "shown" && one.value !== null && one.value < one.full - NEAR;
const isOf = (one, status) => !status || (status === FAILED ? isFailed(one) : one.status === status);

function filters(state, choices) {
  const change = (name) => (event) => go({ [name]: event.target.value, page: "" }, true);
  const options = (name, entries) => entries.map(([value, words]) => make("option", { value, selected: state[name] === value }, words));
  const chooser = (name, label, entries) =>
    make("label", make("span.hidden", label), make("select", { name, "aria-label": label, onchange: change(name) }, make("option", { value: "" }, `${label}: ${t("any")}`), options(name, entries)));
  return make("div", { class: "filters", role: "search" },
    make("label.grow", make("span.hidden", t("search")),
      make("input", { type: "search", name: "q", value: state.q, placeholder: t("share.search_hint"), oninput: searchSoon })),
    choices.map(([name, label, entries]) => (entries.length ? chooser(name, label, entries) : null)),
    state.q || state.status || choices.some(([name]) => state[name])
      ? make("a", { href: address({ q: "", page: "", status: "", ...Object.fromEntries(choices.map(([name]) => [name, ""])) }) }, t("clear"))
      : null,
  );
}

let waiting = 0;
function searchSoon(event) {
  const text = event.target.value;
  clearTimeout(waiting);
  waiting = setTimeout(() => go({ q: text, page: "" }, true), 150);
}

function chips(label, entries) {
  return make("ul", { class: "chips", "aria-label": label }, entries.map(([words, count, kind, changes, current]) =>
    make("li", make("a", { class: `chip ${kind}`, href: address({ ...changes, page: "" }), "aria-current": current ? "true" : null }, `${words} `, make("b", number(count))))));
}

function tagChoices(cases) {
  const seen = new Map();
  for (const one of cases) {
    for (const [name, value] of Object.entries(one.tags)) {
      const values = seen.get(name) ?? new Set();
      seen.set(name, values);
      if (values.size <= 60) for (const part of listed(value)) values.add(part);
    }
  }
  return [...seen].flatMap(([name, values]) =>
    values.size > 60 ? [] : [...values].sort().map((part) => [JSON.stringify([name, part]), `${name}: ${part}`]));
}

const wordsOf = (state) => (state.q ?? "").trim().toLowerCase();
function holds(state) {
  const words = wordsOf(state);
  let tag = null;
  try {
    tag = state.tag ? JSON.parse(state.tag) : null;
  } catch {
    tag = null;
  }
  return (one) =>
    isOf(one, state.status) &&
    (!tag || listed(one.tags[tag[0]]).includes(tag[1])) &&
    (!words || (one.text ?? "").toLowerCase().includes(words));
}

// Where the words stand, for a row that does not show them.
function snippet(one, words) {
  if (!words || [one.id, one.question, one.answer, one.reason].some((text) => text.toLowerCase().includes(words))) return null;
  const at = (one.text ?? "").toLowerCase().indexOf(words);
  if (at < 0) return null;
  const text = `…${one.text.slice(Math.max(0, at - 60), at + words.length + 60).replace(/\s+/g, " ")}…`;
  return make("div.faint.snippet", marked(text, words.replace(/\s+/g, " ")));
}

const compared = (one, two) => (one < two ? -1 : one > two ? 1 : 0);
const ORDERS = {
  id: (one, two) => compared(one.id, two.id),
  value: (one, two) => (one.value ?? -Infinity) - (two.value ?? -Infinity) || 0,
  reason: (one, two) => compared(one.reason, two.reason),
  tokens: (one, two) => (one.tokens ?? -1) - (two.tokens ?? -1),
  seconds: (one, two) => (one.seconds ?? -1) - (two.seconds ?? -1),
  change: (one, two) => one.order - two.order || Math.abs(two.by) - Math.abs(one.by),
};

function sorted(cases, state, natural = "") {
  const order = ORDERS[state.sort || natural];
  const made = order ? [...cases].sort(order) : [...cases];
  return state.down ? made.reverse() : made;
}

function column(state, name, key, kind, natural = "") {
  const again = (state.sort || natural) === key;
  const turned = again ? (state.down ? { sort: "", down: "" } : { sort: key, down: "1" }) : { sort: key, down: "" };
  return { name, kind, sorted: again, down: !!state.down, sort: () => go({ ...turned, page: "" }, true) };
}

function paged(cases, state) {
  const pages = Math.max(1, Math.ceil(cases.length / SIZE));
  const page = Math.min(pages - 1, Math.max(0, Math.floor(Number(state.page) || 0)));
  const from = page * SIZE;
  const shown = cases.slice(from, from + SIZE);
  const words = cases.length ? t("share.shown", { from: from + 1, to: from + shown.length, count: number(cases.length, 7) }) : t("no_cases");
  const step = (by, word, rel) =>
    make("button", { type: "button", class: rel, disabled: page + by < 0 || page + by >= pages, onclick: () => go({ page: page + by || "" }) }, word);
  return {
    shown,
    count: make("span", { class: "listed", role: "status" }, words),
    steps: pages > 1 ? make("p.paging", step(-1, t("share.previous_page"), "prev"), step(1, t("next_page"), "next"), `${page + 1} / ${pages}`) : null,
  };
}

const chosenCases = (run, state) => sorted(run.cases.filter(holds(state)), state);

function caseList(run, state) {
  const { shown, count, steps } = paged(chosenCases(run, state), state);
  const words = wordsOf(state);
  const counted = [["", "all", ""], [FAILED, "failed", "bad"], ["unscored", "unscored", "none"], ["unanswered", "unanswered", "warn"], ["error", "error", "bad"]]
    .map(([status, word, kind]) => [t(`kind.${word}`), run.cases.filter((one) => isOf(one, status)).length, kind, { status }, state.status === status])
    .filter(([, many, , { status }, current]) => many || current || !status || status === FAILED);
  const columns = [
    column(state, t("score"), "value", "text score"),
    column(state, t("case"), "id", "text id"),
    { name: t("column.question"), kind: "text block long" },
    { name: t("column.answer"), kind: "text block long" },
    column(state, t("column.reason"), "reason", "text block why"),
    { ...column(state, t("column.tokens"), "tokens", ""), label: t("column.tokens") },
    { ...column(state, t("column.seconds"), "seconds", ""), label: t("column.seconds") },
  ];
  const two = (text) => make("div.two", marked(text, words));
  const rows = shown.map((one) => [
    [pill(one.status, one.value, one.full), one.attempts > 1 ? make("small", ` ×${one.attempts}`) : null,
      one.value === null && one.high > one.low ? [make("br"), make("small", `${number(one.low)}…${number(one.high)}`)] : null],
    make("a", { href: address({ view: "case", run: run.place, case: one.id }) }, marked(one.id, words)),
    [two(one.question), snippet(one, words)], two(one.answer || "∅"), two(one.reason), number(one.tokens, 6), span(one.seconds),
  ]);
  return make("section", { class: "list", "aria-label": t("cases") },
    make("h2.hidden", t("cases")),
    make("div.bar", chips(t("status"), counted),
      filters(state, [["tag", t("share.tag"), (run.tagChoices ??= tagChoices(run.cases))]]), count),
    shown.length ? table(columns, rows, { class: "sheet cases" }) : make("p", t("no_cases")),
    steps);
}
