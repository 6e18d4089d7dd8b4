// What came of a case: what was said, a card for each verdict, the steps of an agent.
function message(one) {
  const pictures = (one.images ?? []).map((image) => make("p", `${t("case.image")}: `, make("code", image.text ?? "")));
  const calls = (one.calls ?? []).map((call) => make("div.call", make("h4", `${t("case.call")}: `, make("code", call.name ?? "")), shownText(call.arguments)));
  return make("div", { class: `turn ${one.role === "assistant" ? "mine" : "theirs"}` },
    make("h3", one.role),
    one.thinking ? folded(t("case.thinking"), rawText(one.thinking, "")) : null,
    pieceText(one.text) || !calls.length ? shownText(one.text) : null, calls, pictures);
}

function askedPart(asked) {
  const texts = (title, all) => (all ?? []).map((one, at) => make("details", { open: all.length === 1 }, make("summary", `${title} ${at + 1}`), shownText(one)));
  return make("section", make("h2", t("case.asked")),
    (asked.messages ?? []).map(message),
    texts(t("case.reference"), asked.references), texts(t("case.context"), asked.context),
    asked.hidden ? make("details", make("summary", t("case.hidden")), rawText(asked.hidden, "")) : null);
}

const pointsOf = (one) =>
  one.points === undefined
    ? make("span.bad", t(`case.status.${one.status}`))
    : number(one.points) + (one.out_of === undefined ? "" : ` / ${number(one.out_of)}`);
const tick = (hit) => (hit ? "✓" : "✗");

function evidence(one) {
  const rules = (one.rules ?? []).map((rule) =>
    make("li", `${tick(rule.hit)} ${rule.points ?? ""} `, make("code", rule.keyword ?? ""), rule.places ? make("small", ` ${t("case.at")} ${rule.places}`) : null));
  const blanks = (one.blanks ?? []).map((blank) => [tick(blank.hit), make("code", blank.text ?? ""), make("code", blank.target ?? ""), blank.line ?? ""]);
  const names = ["", t("case.blank"), t("case.wanted"), t("case.outcome")].map((name) => ({ name, kind: "text" }));
  return [rules.length ? make("ul.checks", rules) : null, blanks.length ? table(names, blanks) : null, (one.tests ?? []).map(testPart),
    (one.panel ?? []).map((member, at) => make("p", make("small", `${t("case.judge")} ${at + 1}: ${number(member.points)} ${member.reason ?? ""}`)))];
}

function testPart(test, at) {
  const line = test.line ? ` · ${t("case.line")} ${test.line}` : "";
  const words = `${tick(test.hit)} ${t("case.test")} ${at + 1}${test.hit ? "" : `: ${test.result ?? ""}${line}`}`;
  const program = (test.program ?? []).map(([row, text]) => `${String(row).padStart(4)} ${text}\n`).join("");
  return folded(words, [test.output ? rawText(test.output, "") : null, program ? folded(t("case.program"), rawText(program, " program")) : null], !test.hit);
}

function verdictCard(one) {
  const verdict = one.verdict;
  const gave = verdict.penalty
    ? `${t(verdict.kind === "bad" ? "case.penalty_taken" : "case.penalty_avoided")} ${verdict.kind === "bad" ? verdict.gave : ""}`
    : one.points === undefined ? t(`case.status.${one.status}`) : verdict.gave;
  const facts = [one.scorer, one.weight === 1 ? "" : `${t("case.weight")} ${number(one.weight)}`, one.points === undefined || one.out_of === undefined ? "" : `${number(one.points)} / ${number(one.out_of)}`,
    verdict.judges ? `${t("case.judge")} ${verdict.judges}` : "", verdict.tokens ? t("case.tokens", { count: number(verdict.tokens, 6) }) : "", verdict.cost === undefined ? "" : `$${number(verdict.cost)}`];
  const drawer = (words, parts) => (parts?.length ? folded(words, parts) : null);
  return make("article", { class: `card verdict-card ${verdict.kind}` },
    make("h3", make("span", { class: verdict.kind }, `${sign(verdict.kind)} ${t(`case.verdict.${verdict.kind}`)}`), " ", make("span.name", one.id), " ", make("span.gave", gave)),
    verdict.question ? make("p", { class: "asked", dir: "auto" }, verdict.question) : null,
    one.reason ? make("p", { class: "reason", dir: "auto" }, one.reason) : null,
    evidence(one),
    make("p.facts", make("small", facts.filter(Boolean).join(" · "))),
    drawer(t("case.prompt"), verdict.prompt?.map((part) => rawText(part.text, ""))),
    drawer(`${t("case.replies")} (${one.replies?.length})`, one.replies?.map((reply) => rawText(reply, ""))),
    verdict.params ? folded(t("case.params"), rawText(verdict.params, "")) : null,
    one.detail ? folded(t("case.detail"), rawText(one.detail, "")) : null);
}

function verdicts(attempt) {
  const scores = attempt.scores ?? [];
  const passed = scores.filter((one) => one.verdict.kind === "good");
  const between = ["unscored", "error"].includes(attempt.status) && attempt.high > attempt.low ? make("small", ` ${t("case.between")} ${number(attempt.low)} – ${number(attempt.high)}`) : null;
  const value = attempt.value === undefined ? [make("span.bad", t(`case.status.${attempt.status}`)), between] : number(attempt.value);
  return [make("h2", `${t("case.verdicts")}: `, value),
    make("div.verdicts",
      scores.filter((one) => one.verdict.kind !== "good").map(verdictCard),
      passed.length
        ? make("details", { class: "drawer passed", open: passed.length === scores.length && passed.length <= 3 }, make("summary", make("span.good", `✓ ${t("case.passed", { count: passed.length })}`)), passed.map(verdictCard))
        : null,
      attempt.formula ? make("p.formula", `= ${attempt.formula}`) : null)];
}

function ledgerPart(ledger) {
  if (!ledger) return null;
  const columns = [{ name: t("case.point"), kind: "text" }, ...ledger.turns.map((turn) => ({ name: `${t("case.turn")} ${turn}`, kind: "" }))];
  const rows = ledger.rows.map((row) => [row.point ?? "", ...(row.turns ?? []).map((cell) => (cell.covered ? "✓" : "·") + (cell.asked ? " ?" : ""))]);
  return [table(columns, rows, { class: "ledger" }), make("p", make("small", `✓ ${t("case.covered")} · ? ${t("case.askedfor")}`))];
}

// What an agent did: an outline, a timeline, and one step with input and output.
const ICONS = { code: "⌘", tool: "⚙", post: "›", model: "◇" };
function tracePart(attempt, state) {
  const steps = attempt.steps ?? [];
  if (!steps.length) return null;
  const failed = steps.filter((one) => one.failed);
  const asked = Number(state.step);
  const chosen = asked >= 1 && asked <= steps.length ? asked : (failed[0]?.number ?? 1);
  const step = steps[chosen - 1];
  const next = failed.find((one) => one.number > chosen) ?? failed[0];
  const to = (place) => address({ attempt: attempt.index, step: place });
  const words = (one) => (one.failed ? "✗" : (ICONS[one.kind] ?? "·"));
  const lanes = 1 + Math.max(...steps.map((one) => one.lane ?? 0));
  const length = steps.reduce((sum, one) => sum + (one.lane ? 0 : (one.width ?? 0)), 0);
  const bars = steps.map((one) => {
    const [on, lane] = [one.number === chosen, one.lane ?? 0];
    return make("rect", { class: (one.failed ? "bad" : one.kind) + (on ? " chosen" : ""), x: one.start ?? 0, y: 6 * lane + (on ? 0 : 2), width: one.width ?? 0, height: on && !lane ? 10 : 6 });
  });
  const within = (one) => one.within?.length && make("details.within", { open: true }, make("summary", t("case.within", { count: one.within.length })), make("ol", one.within.map((place) => entry(steps[place - 1]))));
  const entry = (one) => make("li", make("a", { href: to(one.number), class: one.failed ? "bad" : null, "aria-current": one.number === chosen ? "step" : null }, `${words(one)} ${one.number} ${one.title ?? ""} `, make("small", [one.seconds === undefined ? "" : span(one.seconds), one.tokens === undefined ? "" : t("case.tokens", { count: number(one.tokens, 6) })].filter(Boolean).join(" · "))), within(one) || null);
  const top = steps.filter((one) => !one.depth);
  const outline = top.flatMap((one, at) => [
    one.round === top[at - 1]?.round ? null : make("li.round-of", `${t("case.round")} ${one.round}`, (attempt.marks ?? []).filter((mark) => mark.turn === one.round).map((mark) => make("span", { class: `mark-of ${mark.normalized === 1 ? "good" : mark.normalized ? "warn" : "bad"}` }, ` ${t(`case.mark.${mark.status}`)} ${mark.score === undefined ? "" : number(mark.score)}`))),
    entry(one),
  ]);
  const link = (place, key, text) => (place >= 1 && place <= steps.length ? make("a", { href: to(place), "data-key": key }, text) : null);
  return make("section", { class: "trace", "aria-label": t("case.trace") },
    make("h2", `${t("case.trace")} `, make("small", `${steps.length} · `, failed.length ? make("span.bad", `✗ ${t("case.errors", { count: failed.length })}`) : "✓"), " ",
      next ? make("a", { class: "chip bad", href: to(next.number), "data-key": "n" }, `${t("case.next_error")} `, make("kbd", "n")) : null),
    make("svg", { class: `timeline${lanes > 1 ? ` lanes-${Math.min(lanes, 4)}` : ""}`, viewBox: `0 0 ${length} ${4 + 6 * lanes}`, preserveAspectRatio: "none", "aria-hidden": "true" }, bars),
    make("div.trace-panes", make("ol.outline", outline),
      make("div", { class: `card step ${step.failed ? "bad" : ""}` },
        make("h3", `${t("case.step")} ${chosen}: ${step.title ?? ""} `, step.failed ? make("span.bad", `✗ ${step.error || t("case.verdict.bad")}`) : null),
        make("div.steps", link(chosen - 1, ",", `← ${t("case.step")} ${chosen - 1}`), link(chosen + 1, ".", `${t("case.step")} ${chosen + 1} →`)),
        make("h4", t("case.input")), shownText(step.input),
        step.output ? [make("h4", t("case.output")), shownText(step.output)] : null,
        (step.more ?? []).map((item) => folded(item.kind, rawText(item.text ?? "", ""))))));
}

function attemptPart(one, asked, several, state) {
  const notes = one.notes ?? {};
  const tokens = one.tokens?.some((count) => count) ? t("tokens", { prompt: number(one.tokens[0] ?? 0, 6), completion: number(one.tokens[1] ?? 0, 6) }) : "";
  const facts = [one.seconds === undefined ? "" : span(one.seconds), tokens, one.cost === undefined ? "" : `$${number(one.cost)}`].filter(Boolean).join(" · ");
  const turns = one.turns ? one.turns.map(message) : make("p", t("case.nothing"));
  return make("section.attempt", tracePart(one, state),
    make("div.case-panes",
      make("div.left", asked,
        make("h2", several ? `${t("case.attempt")} ${one.index + 1} ` : `${t("case.answer")} `, make("small.facts", facts)),
        one.cause ? make("p", make("span", { class: "chip-like warn" }, `${t("case.fault")}: ${t(`case.cause.${one.cause}`)}`)) : null,
        one.error ? make("p.bad", one.error) : null,
        one.traceback ? make("pre.traceback", one.traceback) : null,
        (one.context ?? []).map((text, at) => folded(`${t("case.context")} ${at + 1}`, rawText(text, ""))),
        one.steps?.length ? folded(t("case.all_steps"), turns) : turns,
        one.files?.length ? folded(`${t("case.files")} (${one.files.length})`, make("ul", one.files.map((name) => make("li", name)))) : null),
      make("div.right", verdicts(one),
        notes.reason ? make("p", `${t("case.ended")}: ${notes.reason}`) : null,
        notes.truncated ? make("p.bad", `${t("case.truncated")}: ${notes.truncated}`) : null,
        (notes.changes ?? []).map((one) => make("p", `${t("case.changes")}: ${one}`)),
        (notes.user_calls ?? []).map((one) => make("p", `${t("case.user_calls")}: ${one}`)),
        (notes.flags ?? []).map((flag) => make("p.bad", `${t("case.simulated")}: ${flag}`)),
        ledgerPart(notes.ledger),
        (notes.turns ?? []).map((turn) => folded(`${t("case.replies")}, ${t("case.turn")} ${turn.turn}`, (turn.raw ?? []).map((text) => rawText(text, "")))))));
}
