// Lists of cases: filtered, sorted, a page at a time; all of it stands in the address.
function filters(state, choices) {
  const change = (name) => (event) => go({ [name]: event.target.value, page: "" }, true);
  const options = (name, entries) =>
    entries.map(([value, words]) => make("option", { value, selected: state[name] === value }, words));
  const chooser = (name, label, entries) =>
    make("label", {}, label, " ",
      make("select", { name, onchange: change(name) }, make("option", { value: "" }, t("any")), options(name, entries)));
  return make("div", { class: "filters", role: "search" },
    make("label", { class: "grow" }, t("search"), " ",
      make("input", { type: "search", name: "q", value: state.q, placeholder: t("share.search_hint"), oninput: searchSoon })),
    choices.map(([name, label, entries]) => (entries.length ? chooser(name, label, entries) : null)),
    state.q || choices.some(([name]) => state[name])
      ? make("a", { href: address({ q: "", page: "", ...Object.fromEntries(choices.map(([name]) => [name, ""])) }) }, t("clear"))
      : null,
  );
}

let waiting = 0;
function searchSoon(event) {
  const text = event.target.value;
  clearTimeout(waiting);
  waiting = setTimeout(() => go({ q: text, page: "" }, true), 150);
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

function holds(state) {
  const words = (state.q ?? "").toLowerCase();
  let tag = null;
  try {
    tag = state.tag ? JSON.parse(state.tag) : null;
  } catch {
    tag = null;
  }
  return (one) =>
    (!state.status || one.status === state.status) &&
    (!tag || listed(one.tags[tag[0]]).includes(tag[1])) &&
    (!words || haystack(one).includes(words));
}

const ORDERS = {
  id: (one, two) => (one.id < two.id ? -1 : one.id > two.id ? 1 : 0),
  value: (one, two) => (one.value ?? -Infinity) - (two.value ?? -Infinity) || 0,
  status: (one, two) => (one.status < two.status ? -1 : one.status > two.status ? 1 : 0),
  change: (one, two) => one.order - two.order || Math.abs(two.by) - Math.abs(one.by),
};

function sorted(cases, state, natural = "") {
  const order = ORDERS[state.sort || natural];
  const made = order ? [...cases].sort(order) : [...cases];
  return state.down ? made.reverse() : made;
}

function column(state, name, key, kind, natural = "") {
  const now = state.sort || natural;
  const again = now === key;
  const turned = again ? (state.down ? { sort: "", down: "" } : { sort: key, down: "1" }) : { sort: key, down: "" };
  return { name, kind, sorted: again, down: !!state.down, sort: () => go({ ...turned, page: "" }, true) };
}

function paged(cases, state) {
  const pages = Math.max(1, Math.ceil(cases.length / SIZE));
  const page = Math.min(pages - 1, Math.max(0, Math.floor(Number(state.page) || 0)));
  const from = page * SIZE;
  const shown = cases.slice(from, from + SIZE);
  const words = cases.length
    ? t("share.shown", { from: from + 1, to: from + shown.length, count: cases.length })
    : t("no_cases");
  const step = (by, word, rel) =>
    make("button", { type: "button", class: rel, disabled: page + by < 0 || page + by >= pages, onclick: () => go({ page: page + by || "" }) }, word);
  return {
    shown,
    count: make("p", { class: "count", role: "status" }, words),
    steps: pages > 1 ? make("p", { class: "paging" }, step(-1, t("share.previous_page"), "prev"), step(1, t("next_page"), "next"), `${page + 1} / ${pages}`) : null,
  };
}

const worth = (one) =>
  one.value === null && one.high > one.low
    ? make("span", { class: "faint" }, `${number(one.low)}…${number(one.high)}`)
    : number(one.value);

function chosenCases(run, state) {
  return sorted(run.cases.filter(holds(state)), state);
}

function caseList(run, state) {
  const found = chosenCases(run, state);
  const { shown, count, steps } = paged(found, state);
  const statuses = [...new Set(run.cases.map((one) => one.status))].sort();
  const columns = [
    column(state, t("case"), "id", "text"),
    column(state, t("value"), "value", ""),
    { name: t("full"), kind: "" },
    column(state, t("status"), "status", "text"),
    { name: t("question"), kind: "quote" },
    { name: t("tags"), kind: "text" },
  ];
  const rows = shown.map((one) => [
    make("a", { href: address({ view: "case", run: run.place, case: one.id }) }, one.id),
    worth(one), number(one.full), statusMark(one.status), one.question, tagMarks(one.tags),
  ]);
  return make("section", { "aria-label": t("cases") },
    make("h2", {}, t("cases")),
    filters(state, [
      ["status", t("status"), statuses.map((word) => [word, t(`status_${word}`)])],
      ["tag", t("share.tag"), (run.tagChoices ??= tagChoices(run.cases))],
    ]),
    count,
    shown.length ? table(columns, rows, { class: "cases" }) : null,
    steps);
}

// Two runs: what changed comes first.
function pairOf(state) {
  const [first, second] = (state.pair || "0-1").split("-").map(Number);
  return [runs[first] ?? runs[0], runs[second] ?? runs[1]];
}

function pairedCases(first, second) {
  const key = `${first.place}-${second.place}`;
  pairedCases.known ??= new Map();
  if (!pairedCases.known.has(key)) {
    pairedCases.known.set(key, first.cases.map((one) => {
      const other = second.byId.get(one.id);
      const kind = kindOf(one, other);
      const by = kind ? rateOf(other) - rateOf(one) : 0;
      return { ...one, other, kind, by, flip: isFlip(one, other), order: KINDS.indexOf(kind) };
    }));
  }
  return pairedCases.known.get(key);
}

function chosenPairs(state) {
  const [first, second] = pairOf(state);
  const test = holds({ ...state, status: "" });
  const wanted = (one) =>
    (!state.kind || (state.kind === "flips" ? one.flip : one.kind === state.kind)) &&
    (test(one) || (one.other && !state.tag && state.q && haystack(one.other).includes(state.q.toLowerCase())));
  return sorted(pairedCases(first, second).filter(wanted), state, "change");
}

function pairList(state) {
  const [first, second] = pairOf(state);
  const { shown, count, steps } = paged(chosenPairs(state), state);
  const columns = [
    column(state, t("case"), "id", "text"),
    column(state, t("share.change"), "change", "text", "change"),
    ...runs.map((run) => ({ name: run.run.name, kind: "" })),
    { name: t("compare.difference"), kind: "" },
    { name: t("question"), kind: "quote" },
  ];
  const rows = shown.map((one) => [
    make("a", { href: address({ view: "both", case: one.id }) }, one.id),
    one.kind ? make("span", { class: one.kind === "better" ? "good" : one.kind === "worse" ? "bad" : "" }, t(`compare.${one.kind}`)) : t("compare.left_out"),
    ...runs.map((run) => {
      const there = run.byId.get(one.id);
      return there ? worth(there) : "–";
    }),
    one.kind ? make("span", { class: one.by > NEAR ? "good" : one.by < -NEAR ? "bad" : "" }, signed(one.by)) : "–",
    one.question,
  ]);
  const pairs = [];
  for (const one of runs) for (const two of runs.slice(one.place + 1)) pairs.push([`${one.place}-${two.place}`, `${one.run.name} → ${two.run.name}`]);
  const kinds = [["flips", t("share.flips")], ...KINDS.slice(0, 4).map((kind) => [kind, t(`compare.${kind}`)])];
  return make("section", { "aria-label": t("compare.changes") },
    make("h2", {}, t("compare.changes")),
    filters(state, [
      ["kind", t("share.change"), kinds],
      ["tag", t("share.tag"), (first.tagChoices ??= tagChoices(first.cases))],
      ...(pairs.length > 1 ? [["pair", t("share.pair"), pairs]] : []),
    ]),
    make("p", { class: "faint" }, `${first.run.name} → ${second.run.name}`),
    count,
    shown.length ? table(columns, rows, { class: "cases" }) : null,
    steps);
}

const signed = (share) => {
  const text = (100 * share).toFixed(1);
  return share > 0 ? `+${text}` : text.replace("-", "−");
};
