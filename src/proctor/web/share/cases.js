// The page of one case: the way from case to case, its attempts, one at a time.
function neighbours(cases, id, view) {
  const at = cases.findIndex((one) => one.id === id);
  const link = (one, words, rel, key) => (one ? make("a", { href: address({ view, case: one.id, attempt: "", step: "" }), rel, "data-key": key }, words) : null);
  const choice = (wanted) =>
    make("a", { class: "chip", href: address({ text: wanted ? "raw" : "" }), "aria-current": wanted === raw ? "true" : null, "data-key": wanted === raw ? null : "m" }, t(wanted ? "case.raw" : "case.rendered"));
  return make("nav.steps",
    make("a", { href: address({ view: view === "both" ? "compare" : "run", case: "", attempt: "", step: "" }), "data-key": "Escape" }, t("share.back")),
    at >= 0 ? make("span.faint", t("case.listed", { number: at + 1, count: number(cases.length, 7) })) : null,
    at > 0 ? link(cases[at - 1], `← ${t("case.before")}`, "prev", "k") : null,
    at >= 0 ? link(cases[at + 1], `${t("case.after")} →`, "next", "j") : null,
    make("span", { class: "switch", role: "group", "aria-label": t("case.texts") }, choice(false), choice(true)));
}

function strip(attempts, chosen, full) {
  if (attempts.length < 2) return null;
  const place = attempts.findIndex((one) => one.index === chosen);
  const to = (one, key) => (one ? make("a", { class: "chip", href: address({ attempt: one.index, step: "" }), "data-key": key }, key) : null);
  return make("nav", { class: "attempts", "aria-label": t("case.attempts") }, make("span.faint", t("case.attempts")),
    attempts.map((one) => {
      const kind = kindOfValue(one.status, one.value, full);
      const words = `${t("case.attempt")} ${one.index + 1}`;
      return make("a", { class: `square ${kind}`, href: address({ attempt: one.index, step: "" }), "aria-current": one.index === chosen ? "true" : null, title: `${words}: ${t(`status_${one.status}`)} ${number(one.value)}` },
        sign(kind), make("span.hidden", ` ${words}`));
    }),
    place > 0 ? to(attempts[place - 1], "[") : null, place >= 0 ? to(attempts[place + 1], "]") : null,
    make("a", { class: "chip", href: address({ attempt: "all", step: "" }), "aria-current": chosen === null ? "true" : null }, t("case.all_attempts")));
}

async function casePage(run, one, state) {
  const [came, asked] = await Promise.all([partOf(`came-${run.place}`, one.at), partOf("asked", one.asked)]);
  const attempts = came.attempts ?? [];
  const worst = [...attempts].sort((a, b) => (a.value ?? -Infinity) - (b.value ?? -Infinity) || a.index - b.index)[0];
  const all = state.attempt === "all" || attempts.length < 2;
  const chosen = attempts.find((attempt) => state.attempt !== "" && attempt.index === Number(state.attempt)) ?? worst;
  const shown = all ? attempts : [chosen];
  const question = askedPart(asked);
  const folding = came.buckets ? make("p", `${t("case.folded")}: ${came.buckets.map((bucket) => number(bucket)).join(", ")} → ${number(one.value)}`) : null;
  return [
    neighbours(chosenCases(run, state), one.id, "case"),
    make("div.heading-line", make("h1", one.id), quotedMark(run.run), " ", make("span.value", pill(one.status, one.value, one.full)),
      one.value === null && one.high > one.low ? make("small", ` ${t("case.between")} ${number(one.low)} – ${number(one.high)}`) : null, " ", tagMarks(one.tags)),
    strip(attempts, all ? null : chosen?.index, one.full),
    shown.length ? shown.map((attempt, at) => attemptPart(attempt, at ? null : question, attempts.length > 1, state)) : question,
    folding,
  ];
}
