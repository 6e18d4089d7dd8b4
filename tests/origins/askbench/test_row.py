"""One row: fields under all their names, each problem at its line, and oddities once."""

from pathlib import Path
from typing import Any

import pytest

from proctor.io.findings import Findings
from proctor.io.text_files import Document
from proctor.origins.askbench.row import AskBenchRow, number_in, same_ids


def row(**data: Any) -> AskBenchRow:
    return AskBenchRow(Document(path=Path("rows.jsonl"), data=data, row=4), Findings())


def messages(one: AskBenchRow) -> list[str]:
    assert all(problem.line == 4 for problem in one.findings.errors)
    return [problem.message for problem in one.findings.errors]


def test_the_first_field_that_says_something_is_taken() -> None:
    one = row(question=" ", prompt="Why?", n=3)
    assert one.optional("question", "prompt") == "Why?"
    assert one.optional("n") == "3"
    assert one.optional("none") == ""
    assert messages(one) == []


@pytest.mark.parametrize("value", [["x"], True, {"a": 1}, "half \ud800"])
def test_what_is_no_text_is_a_problem(value: Any) -> None:
    one = row(question=value)
    assert one.optional("question") == ""
    assert len(messages(one)) == 1


def test_lists_of_texts_and_truths_are_checked() -> None:
    one = row(points=["a ", "", 2], bad=["x", None], worse="x", vague=True, odd="yes")
    assert one.texts("points") == ["a", "2"]
    assert one.texts("none") == []
    assert one.truth("vague")
    assert messages(one) == []
    assert (one.texts("bad"), one.texts("worse"), one.truth("odd")) == ([], [], False)
    assert len(messages(one)) == 3


def test_an_oddity_is_told_once_with_its_number() -> None:
    findings = Findings()
    for line in (2, 3, 4):
        document = Document(path=Path("rows.jsonl"), data={}, row=line)
        AskBenchRow(document, findings).warn("no answer", "add one")
    AskBenchRow(Document(path=Path("rows.jsonl"), data={}, row=9), findings).warn("other")
    assert [(one.message, one.place, one.severity) for one in findings.warnings] == [
        ("no answer (2 more like it)", "rows.jsonl:2", "warning"),
        ("other", "rows.jsonl:9", "warning"),
    ]


def test_an_id_that_two_rows_have_is_a_problem_at_the_second() -> None:
    documents = [Document(path=Path("r"), data={}, row=line) for line in (1, 2, 3)]
    (problem,) = same_ids(zip(("a", "b", "a"), documents, strict=True))
    assert problem.line == 3
    assert "that of line 1" in problem.message


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3.0), (0.5, 0.5), (True, None), ("3", None), (float("inf"), None), (None, None)],
)
def test_only_a_finite_number_is_one(value: Any, number: float | None) -> None:
    assert number_in(value) == number
