"""Gradings as criteria: what each part becomes, and how the limits of a case fit together."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.io.yaml_files import read_yaml
from proctor.origins.infibench.criteria import GradedCase, criteria_of
from proctor.origins.infibench.format import Grading
from proctor.origins.infibench.notes import Notes

Read = Callable[..., tuple[tuple[GradedCase, ...], Notes]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def make(
        text: str, compat: str = "", lang: str = "python", misshapen: tuple[str, ...] = ()
    ) -> tuple[tuple[GradedCase, ...], Notes]:
        path = tmp_path / "case.yaml"
        path.write_text(f"grading: {text}\n", encoding="utf-8")
        (tmp_path / "ref.txt").write_text("a reference")
        document = read_yaml(path)
        notes = Notes(document=document, root=tmp_path, home=tmp_path, compat=compat)
        grading = Grading.model_validate(document.data["grading"])
        return criteria_of(notes, grading, lang, misshapen), notes

    return make


ALL = (
    "{keywords: [a, {content: b, weight: 2}], blank_filling: {template: 'x [blank] y', targets: [z]},"
    " unit_test: {tests: ['assert True']}, similarity: [{metric: rouge1, references: [r]},"
    " {metric: rougeL, references: [{path: ref.txt}], weight: 0.5}]}"
)


def test_parts_become_criteria_in_the_order_of_the_original(read: Read) -> None:
    graded, notes = read(ALL)
    assert notes.findings.errors == []
    assert [(one.criterion.id, one.criterion.scorer.name, one.full) for one in graded] == [
        ("keywords", "keywords", 3.0),
        ("blank_filling", "blanks", 1.0),
        ("unit_test", "unit_tests", 1.0),
        ("similarity", "rouge", 1.0),
        ("similarity-2", "rouge", 0.5),
    ]
    params = graded[4].criterion.scorer.params
    assert (params["references"], params["low"], params["high"]) == (["a reference"], 0.3, 0.51)
    assert graded[3].criterion.scorer.params["high"] == 0.53
    old, _ = read(ALL, "original")
    assert all(one.criterion.scorer.params["compat"] == "original" for one in old)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "nothing is graded"),
        ("{keywords: [a], min_score: 2, max_score: 1}", "min_score (2) is greater than max_score"),
        ("{unit_test: {tests: [x], lang: klingon}}", "there is no language"),
        ("{similarity: [{metric: rouge1, references: [r], min_score: 0.9}]}",
         "must be greater than min_score"),
        ("{similarity: [{metric: rouge1, references: [{path: gone.txt}]}]}", "there is no file"),
        ("{customized: {module: gone, func: f}}", "there is no module 'gone'"),
    ],
)  # fmt: skip
def test_what_cannot_be_graded_is_said(read: Read, text: str, words: str) -> None:
    _, notes = read(text)
    assert any(words in problem.message for problem in notes.findings.errors)


def test_tests_need_a_language(read: Read) -> None:
    assert (
        "no language to run the tests in"
        in read("{unit_test: {tests: [x]}}", lang="")[1].findings.errors[0].message
    )
    own, notes = read("{unit_test: {tests: [x], lang: go}}", lang="")
    assert (own[0].criterion.scorer.params["lang"], notes.findings.errors) == ("go", [])


@pytest.mark.parametrize(("limit", "warned"), [("1", False), ("2", False), ("3", True)])
def test_a_limit_above_what_can_be_won_is_warned_of(read: Read, limit: str, warned: bool) -> None:
    _, notes = read(f"{{keywords: [a, b], max_score: {limit}}}")
    assert bool(notes.findings.warnings) is warned
    if warned:
        assert "divides by 2" in notes.findings.warnings[0].message


def test_a_function_decides_how_much_there_is_to_win(read: Read, tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text("def f(x): ...")
    (graded,), notes = read("{customized: {module: check, func: f, real_metric_type: style}}")
    assert (graded.full, graded.criterion.metric) == (None, "style")
    params: Any = graded.criterion.scorer.params
    assert (params["module"], params["source"]) == ("check", "def f(x): ...")
    assert "its row is its own" in notes.findings.warnings[0].message
    (keywords,), _ = read("{keywords: [a, {post_handler: {module: check, func: f}}]}")
    assert keywords.full is None


def test_what_lost_a_part_for_its_shape_is_not_looked_at_again(read: Read) -> None:
    graded, notes = read("{keywords: ['']}", misshapen=("grading.keywords.0",))
    assert (graded, notes.findings.errors) == ((), [])
