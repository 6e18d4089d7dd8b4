// One case: what was asked, what was said, what each score gave and why.
function message(one) {
  const pictures = (one.images ?? []).map((image) => make("p", {}, `${t("case.image")}: `, make("code", {}, image.text ?? "")));
  const calls = (one.calls ?? []).map((call) => make("div", { class: "call" }, make("h5", {}, `${t("case.call")}: `, make("code", {}, call.name ?? "")), shownText(call.arguments)));
  const said = listed(one.text).some((piece) => (typeof piece === "string" ? piece : piece.text));
  return make("div", { class: `turn ${one.role === "assistant" ? "mine" : "theirs"}` },
    make("h4", {}, one.role),
    one.thinking ? folded(t("case.thinking"), shownText(one.thinking)) : null,
    said || !calls.length ? shownText(one.text) : null, calls, pictures);
}

function askedPart(asked) {
  const texts = (title, all) => (all ?? []).map((one, at) => folded(`${title} ${at + 1}`, shownText(one), all.length === 1));
  return make("section", {}, make("h2", {}, t("case.asked")),
    (asked.messages ?? []).map(message),
    texts(t("case.reference"), asked.references), texts(t("case.context"), asked.context),
    asked.hidden ? folded(t("case.hidden"), shownText(asked.hidden)) : null);
}

const pointsOf = (one) =>
  one.points === undefined
    ? make("span", { class: "bad" }, t(`case.status.${one.status}`))
    : number(one.points) + (one.out_of === undefined ? "" : ` / ${number(one.out_of)}`);
const tick = (hit) => (hit ? "✓" : "✗");

function scorePart(one) {
  const weight = one.weight === 1 ? "" : ` · ${t("case.weight")} ${number(one.weight)}`;
  const rules = (one.rules ?? []).map((rule) =>
    make("li", {}, `${tick(rule.hit)} ${rule.points ?? ""} `, make("code", {}, rule.keyword ?? ""), rule.places ? make("small", {}, ` ${t("case.at")} ${rule.places}`) : null));
  const blanks = (one.blanks ?? []).map((blank) => [tick(blank.hit), make("code", {}, blank.text ?? ""), make("code", {}, blank.target ?? ""), blank.line ?? ""]);
  const names = ["", t("case.blank"), t("case.wanted"), t("case.outcome")].map((name) => ({ name, kind: "text" }));
  return make("article", { class: "score" },
    make("h4", {}, `${one.id}: `, pointsOf(one), make("small", {}, ` ${one.scorer}${weight}`)),
    one.reason ? make("p", { class: "reason", dir: "auto" }, one.reason) : null,
    rules.length ? make("ul", { class: "checks" }, rules) : null,
    blanks.length ? table(names, blanks) : null,
    (one.tests ?? []).map(testPart),
    (one.panel ?? []).map((member, at) => make("p", {}, make("small", {}, `${t("case.judge")} ${at + 1}: ${number(member.points)} ${member.reason ?? ""}`))),
    one.replies ? folded(`${t("case.replies")} (${one.replies.length})`, one.replies.map((reply) => shownText(reply))) : null,
    one.detail ? folded(t("case.detail"), shownText(one.detail)) : null);
}

function testPart(test, at) {
  const line = test.line ? ` · ${t("case.line")} ${test.line}` : "";
  const words = `${tick(test.hit)} ${t("case.test")} ${at + 1}${test.hit ? "" : `: ${test.result ?? ""}${line}`}`;
  const program = (test.program ?? []).map(([row, text]) => `${String(row).padStart(4)} ${text}\n`).join("");
  return folded(words, [test.output ? shownText(test.output) : null, program ? folded(t("case.program"), shownText(program)) : null], !test.hit);
}

function ledgerPart(ledger) {
  if (!ledger) return null;
  const columns = [{ name: t("case.point"), kind: "text" }, ...ledger.turns.map((turn) => ({ name: `${t("case.turn")} ${turn}`, kind: "" }))];
  const rows = ledger.rows.map((row) => [row.point ?? "", ...(row.turns ?? []).map((cell) => (cell.covered ? "✓" : "·") + (cell.asked ? " ?" : ""))]);
  return [table(columns, rows, { class: "ledger" }), make("p", {}, make("small", {}, `✓ ${t("case.covered")} · ? ${t("case.askedfor")}`))];
}

function attemptPart(one) {
  const notes = one.notes ?? {};
  const between = ["unscored", "error"].includes(one.status) ? make("small", {}, ` ${t("case.between")} ${number(one.low)} – ${number(one.high)}`) : null;
  const value = one.value === undefined ? [make("span", { class: "bad" }, t(`case.status.${one.status}`)), between] : number(one.value);
  return make("section", {},
    make("h2", {}, `${t("case.attempt")} ${one.index}: `, value),
    one.error ? make("p", { class: "bad" }, one.error) : null,
    (one.context ?? []).map((text, at) => folded(`${t("case.context")} ${at + 1}`, shownText(text))),
    one.turns ? one.turns.map(message) : make("p", {}, t("case.nothing")),
    notes.reason ? make("p", {}, `${t("case.ended")}: ${notes.reason}`) : null,
    notes.truncated ? make("p", { class: "bad" }, `${t("case.truncated")}: ${notes.truncated}`) : null,
    (notes.flags ?? []).map((flag) => make("p", { class: "bad" }, `${t("case.simulated")}: ${flag}`)),
    ledgerPart(notes.ledger),
    (notes.turns ?? []).map((turn) => folded(`${t("case.replies")}, ${t("case.turn")} ${turn.turn}`, (turn.raw ?? []).map((text) => shownText(text)))),
    (one.scores ?? []).map(scorePart),
    one.formula ? make("p", { class: "formula" }, `= ${one.formula}`) : null);
}

function neighbours(cases, id, view) {
  const at = cases.findIndex((one) => one.id === id);
  const link = (one, words, rel, key) =>
    one ? make("a", { href: address({ view, case: one.id }), rel, "data-key": key }, words) : null;
  return make("nav", { class: "steps" },
    make("a", { href: address({ view: view === "both" ? "compare" : "run", case: "" }), "data-key": "Escape" }, t("share.back")),
    at > 0 ? link(cases[at - 1], `← ${t("case.before")}`, "prev", "k") : null,
    at >= 0 ? link(cases[at + 1], `${t("case.after")} →`, "next", "j") : null);
}

function casePage(run, one, state) {
  const came = partOf(`came-${run.place}`, one.at);
  const value = one.value === null
    ? [make("span", { class: "bad" }, t(`case.status.${one.status}`)), one.high > one.low ? make("small", {}, ` ${t("case.between")} ${number(one.low)} – ${number(one.high)}`) : null]
    : `${number(one.value)} / ${number(one.full)}`;
  const buckets = came.buckets ? make("p", {}, `${t("case.folded")}: ${came.buckets.map((one) => number(one)).join(", ")} → ${number(one.value)}`) : null;
  return [
    neighbours(chosenCases(run, state), one.id, "case"),
    make("h1", {}, one.id, quotedMark(run.run)),
    make("p", {}, make("b", { class: "value" }, value), " ", tagMarks(one.tags)),
    askedPart(partOf("asked", one.asked)),
    (came.attempts ?? []).map(attemptPart), buckets,
  ];
}

// One case in all runs, side by side, each against the first.
const WORD = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;
function differing(one, other) {
  let first = one.match(WORD) ?? [];
  let second = other.match(WORD) ?? [];
  if (Math.max(first.length, second.length) > 1500) [first, second] = [one.split(/(?<=\n)/), other.split(/(?<=\n)/)];
  if (Math.max(first.length, second.length) > 1500) return [one, other].map((text) => [{ text, hit: false }]);
  const width = second.length + 1;
  const longest = new Uint16Array((first.length + 1) * width);
  for (let i = first.length - 1; i >= 0; i--)
    for (let j = second.length - 1; j >= 0; j--)
      longest[i * width + j] = first[i] === second[j]
        ? longest[(i + 1) * width + j + 1] + 1
        : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  const sides = [[], []];
  const put = (side, text, hit) => {
    const last = sides[side].at(-1);
    if (last && last.hit === hit) last.text += text;
    else sides[side].push({ text, hit });
  };
  let [i, j] = [0, 0];
  while (i < first.length || j < second.length) {
    if (i < first.length && j < second.length && first[i] === second[j]) {
      put(0, first[i++], false);
      put(1, second[j++], false);
    } else if (j >= second.length || (i < first.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) put(0, first[i++], true);
    else put(1, second[j++], true);
  }
  return sides;
}

const pieceText = (pieces) => listed(pieces).map((piece) => (typeof piece === "string" ? piece : (piece.text ?? ""))).join("");
function outputOf(run, one) {
  const attempt = partOf(`came-${run.place}`, one.at).attempts?.[0];
  const said = (attempt?.turns ?? []).filter((turn) => turn.role === "assistant").at(-1);
  return { attempt, text: said ? pieceText(said.text) : "" };
}

function bothPage(id, state) {
  const there = runs.map((run) => run.byId.get(id));
  const outputs = runs.map((run, at) => (there[at] ? outputOf(run, there[at]) : null));
  const base = outputs.findIndex((output) => output !== null);
  const sides = runs.map((run, at) => {
    const one = there[at];
    const title = make("h2", {}, one ? make("a", { href: address({ view: "case", run: at, case: id }) }, run.run.name) : run.run.name, quotedMark(run.run));
    if (!one) return make("section", {}, title, make("p", {}, t("compare.absent")));
    const against = at === base ? outputs.find((output, place) => place > at && output) : outputs[base];
    const pieces = against && at !== base ? differing(against.text, outputs[at].text)[1] : against ? differing(outputs[at].text, against.text)[0] : [outputs[at].text];
    const scores = (outputs[at].attempt?.scores ?? []).map((score) =>
      make("p", {}, make("small", {}, `${score.id}: `, pointsOf(score), ` ${score.reason ?? ""}`)));
    return make("section", {}, title,
      make("p", {}, make("b", { class: "value" }, worth(one), ` / ${number(one.full)}`), " ", one.value === null ? statusMark(one.status) : null),
      outputs[at].text ? shownText(pieces) : make("p", {}, t("case.nothing")), scores);
  });
  const known = there.find((one) => one);
  return [
    neighbours(chosenPairs(state), id, "both"),
    make("h1", {}, id),
    make("p", {}, tagMarks(known.tags)),
    askedPart(partOf("asked", known.asked)),
    make("div", { class: "sides" }, sides),
  ];
}
