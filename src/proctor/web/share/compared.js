// Two runs: whether B is better than A, what changed, and one case in all runs side by side.
const LETTERS = "ABCD";
function pairOf(state) {
  const [first, second] = (state.pair || "0-1").split("-").map(Number);
  const good = runs[first] && runs[second] && first !== second;
  return good ? [runs[first], runs[second]] : [runs[0], runs[1]];
}

function pairedCases(first, second) {
  const key = `${first.place}-${second.place}`;
  pairedCases.known ??= new Map();
  if (!pairedCases.known.has(key)) {
    pairedCases.known.set(key, first.cases.map((one) => {
      const other = second.byId.get(one.id);
      const kind = kindOf(one, other);
      return { one, id: one.id, value: one.value, reason: one.reason, other, kind, by: kind ? rateOf(other) - rateOf(one) : 0, order: KINDS.indexOf(kind) };
    }));
  }
  return pairedCases.known.get(key);
}

const isKind = (pair, kind) => !kind || (kind === "different" ? pair.kind === "better" || pair.kind === "worse" : pair.kind === kind);
function chosenPairs(state) {
  const [first, second] = pairOf(state);
  const test = holds({ ...state, status: "" });
  const wanted = (pair) => isKind(pair, state.kind) && (test(pair.one) || (pair.other && test(pair.other)));
  return sorted(pairedCases(first, second).filter(wanted), state, "change");
}

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
const changedWords = (pieces, first) => pieces.map((piece) => (piece.hit ? make(first ? "del" : "ins", {}, piece.text) : piece.text));

async function outputOf(run, one) {
  if (!one) return null;
  const attempts = (await partOf(`came-${run.place}`, one.at)).attempts ?? [];
  const worst = [...attempts].sort((a, b) => (a.value ?? -Infinity) - (b.value ?? -Infinity) || a.index - b.index)[0];
  const said = (worst?.turns ?? []).filter((turn) => turn.role === "assistant").at(-1);
  return { attempt: worst, text: said ? pieceText(said.text) : "" };
}

const SHOWN = 400;
const begin = (text) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
async function pairList(state) {
  const [first, second] = pairOf(state);
  const sides = [first, second, ...runs.filter((run) => run !== first && run !== second)];
  const { shown, count, steps } = paged(chosenPairs(state), state);
  const words = wordsOf(state);
  const rows = await Promise.all(shown.map(async (pair) => {
    const there = sides.map((run) => run.byId.get(pair.id));
    const texts = await Promise.all(sides.map(async (run, at) => begin((await outputOf(run, there[at]))?.text ?? "")));
    const cells = sides.map((run, at) => {
      if (!there[at]) return t("compare.absent");
      const [base, other] = at ? differing(texts[0], texts[at]) : differing(texts[0], texts[1]);
      return [pill(there[at].status, there[at].value, there[at].full), make("span", { class: "said", dir: "auto" }, texts[at] ? changedWords(at ? other : base, !at) : t("case.nothing"))];
    });
    const kind = pair.kind ? make("span", { class: pair.kind }, `${t(`compare.${pair.kind}`)} ${signed(pair.by)}`) : t("compare.left_out");
    return [[make("a", { href: address({ view: "both", case: pair.id }) }, pair.id), " ", kind, make("span", { class: "said", dir: "auto" }, marked(pair.one.question, words)), snippet(pair.one, words)], ...cells];
  }));
  const columns = [{ ...column(state, t("question"), "id", "text asked") }, ...sides.map((run, at) => ({ name: [make("span.letter", LETTERS[at]), ` ${run.run.name}`], kind: "text", label: LETTERS[at] }))];
  const all = pairedCases(first, second);
  const entries = [["", t("kind.all"), ""], ["different", t("compare.different"), ""], ["worse", t("compare.worse"), "bad"], ["better", t("compare.better"), "good"], ...["both_wrong", "both_partly", "both_right"].map((kind) => [kind, t(`compare.${kind}`), ""])]
    .map(([kind, label, meaning]) => [label, all.filter((pair) => isKind(pair, kind)).length, meaning, { kind }, state.kind === kind]);
  return make("section", { class: "list", "aria-label": t("compare.changes") }, make("h2", t("compare.changes")),
    make("div.bar", chips(t("compare.kind"), entries), filters(state, [["tag", t("share.tag"), (first.tagChoices ??= tagChoices(first.cases))]]), count),
    make("p.faint", t("compare.words")),
    shown.length ? table(columns, rows, { class: "answers sheet cases" }) : make("p", t("no_cases")), steps);
}

async function comparePage(state) {
  const [first, second] = pairOf(state);
  return [ownParts(head.compared[language][`${first.place}-${second.place}`]), someNotice(first), await pairList(state)];
}

async function bothPage(id, state) {
  const order = pairOf(state);
  const sides = [...order, ...runs.filter((run) => !order.includes(run))];
  const there = sides.map((run) => run.byId.get(id));
  const outputs = await Promise.all(sides.map((run, at) => outputOf(run, there[at])));
  const base = outputs.findIndex((output) => output !== null);
  const shown = sides.map((run, at) => {
    const one = there[at];
    const title = make("h2", make("span.letter", LETTERS[at]), " ", one ? make("a", { href: address({ view: "case", run: run.place, case: id }) }, run.run.name) : run.run.name, quotedMark(run.run), " ", one ? pill(one.status, one.value, one.full) : null);
    if (!one) return make("section", title, make("p", t("compare.absent")));
    const against = at === base ? outputs.find((output, place) => place > at && output) : outputs[base];
    const pieces = against && at !== base ? differing(against.text, outputs[at].text)[1] : against ? differing(outputs[at].text, against.text)[0] : [{ text: outputs[at].text }];
    return make("section", title, outputs[at].attempt?.error ? make("p.bad", outputs[at].attempt.error) : null,
      outputs[at].text ? make("pre", { class: "text", dir: "auto" }, changedWords(pieces, at === base)) : make("p", t("case.nothing")),
      (outputs[at].attempt?.scores ?? []).map(verdictCard));
  });
  const known = there.find((one) => one);
  return [neighbours(chosenPairs(state), id, "both"), make("h1", id), make("p", tagMarks(known.tags)),
    askedPart(await partOf("asked", known.asked)), make("p.faint", t("compare.words")), make("div.sides", shown)];
}
