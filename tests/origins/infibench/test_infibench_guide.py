"""The examples of the guide for annotators are read, and both forms of each mean the same."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from proctor import registry
from proctor.contracts.dialect import Dialect
from proctor.contracts.scorer import Probe, ScoreContext
from proctor.contracts.scoring import run_scorer
from proctor.core.case_value import value_of
from proctor.core.score import Score
from proctor.core.suite import Case, Spec

DOCS = Path(__file__).resolve().parents[3] / "docs"
BLOCK = re.compile(r"```yaml\n# (infibench|native)\n(.*?)```", re.DOTALL)
HEAD = "id: example\nprompt_path: prompt.txt\ntype: t\nlang: l\n"


def examples(name: str) -> list[tuple[str, str]]:
    return BLOCK.findall((DOCS / name).read_text(encoding="utf-8"))


def pairs(name: str) -> list[tuple[str, str]]:
    blocks = examples(name)
    assert [kind for kind, _ in blocks] == ["infibench", "native"] * (len(blocks) // 2)
    return [(blocks[i][1], blocks[i + 1][1]) for i in range(0, len(blocks), 2)]


def read(folder: Path, dialect: str, text: str) -> Case:
    (folder / "prompt.txt").write_text("?", encoding="utf-8")
    (folder / "checks.py").write_text("def valid_json(response): ...\n", encoding="utf-8")
    path = folder / f"{dialect}.yaml"
    path.write_text(text, encoding="utf-8")
    reader: Dialect = registry.build("dialect", Spec(name=dialect))
    assert reader.recognises(path)
    reading = reader.read(path)
    assert reading.warnings == ()
    (case,) = reading.suite.cases
    return case


@pytest.mark.parametrize("name", ["annotating.md", "annotating.zh.md"])
@pytest.mark.parametrize("number", range(6))
def test_both_forms_of_an_example_mean_the_same(tmp_path: Path, name: str, number: int) -> None:
    foreign, native = pairs(name)[number]
    if not foreign.startswith("id:"):
        foreign = HEAD + foreign
    ours, theirs = read(tmp_path, "native", native), read(tmp_path, "infibench", foreign)
    assert (ours.min_points, ours.max_points) == (theirs.min_points, theirs.max_points)
    (one,), (two,) = ours.criteria, theirs.criteria
    assert one.scorer.name == two.scorer.name
    left, right = (registry.build("scorer", each.scorer) for each in (one, two))
    probes: list[Probe] = [*left.probes(ours), *right.probes(theirs), Probe(kind="none", answer="")]
    for probe in probes:
        context = ScoreContext.of(probe.answer, references=ours.references)
        assert run_scorer(left, context) == run_scorer(right, context)


def test_both_languages_have_the_same_examples() -> None:
    assert len(pairs("annotating.md")) == len(pairs("annotating.zh.md")) == 6


def test_the_worked_example_of_the_formula(tmp_path: Path) -> None:
    page = (DOCS / "dialects" / "infibench.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    case = replace(read(tmp_path, "infibench", HEAD + block), full_score=5.0)
    keywords = registry.build("scorer", case.criteria[0].scorer)
    words = keywords.score(ScoreContext.of("An index; then restart the server."))
    assert (words.points, words.out_of) == (1.0, 3.0)
    similarity = case.criteria[1].scorer.params
    overlap = (0.447 - similarity["low"]) / (similarity["high"] - similarity["low"])
    scores = {"keywords": words, "similarity": Score(points=overlap, out_of=1.0)}
    assert value_of(case, scores).value == pytest.approx(3.0)
    assert "÷ 4 × 5 = **3.0**" in page
