"""Records of targets and answers: paired by id, or by place as the original does."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.suite import Case, Suite
from proctor.errors import DialectError, SuiteError
from proctor.io.findings import Findings
from proctor.origins.colossal.records import AnswerRecord, check_ids, read_answers, read_records


def write(tmp_path: Path, data: Any) -> Path:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(data))
    return path


def suite(*questions: tuple[str, str, str], compat: str = "") -> Suite:
    cases = tuple(
        Case(
            id=name,
            messages=(),
            criteria=(),
            tags={"category": (category,)},
            hidden={"instruction": instruction, "input": ""},
        )
        for name, category, instruction in questions
    )
    return Suite(name="s", cases=cases, compat=compat)


def row(number: int, **more: Any) -> dict[str, Any]:
    return {
        "category": "qa",
        "instruction": f"q{number}",
        "output": f"a{number}",
        "id": number,
        **more,
    }


TWO = suite(("1", "qa", "q1"), ("2", "qa", "q2"))


def test_answers_are_found_by_their_ids(tmp_path: Path) -> None:
    path = write(tmp_path, [row(2), row(1, target="t"), row(9, category="other")])
    found = list(read_answers(path, TWO))
    assert [(one.case_id, one.output, dict(one.meta)) for one in found] == [
        ("2", "a2", {"id": 2}),
        ("1", "a1", {"id": 1, "target": "t"}),
    ]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row(1)], "the id 2 has no answer"),
        ([row(1), row(2), row(3)], "no target has the id 3"),
        ([row(1), row(2), row(2)], "the id 2 occurs twice"),
        ([row(1), row(2, instruction="other")], "is not that of the target"),
        ([row(1), row(2, category="chat")], "the category is 'chat'"),
        ([row(1), {**row(2), "output": 3}], "expected a string"),
        ([row(1), row(True)], "an id is a whole number or a text"),
        ([row(1), "x"], "a record is a mapping"),
        ([row(1), {"category": "qa", "instruction": "q2", "id": 2, "answer": "x"}],
         "the record has no 'output'"),
        ([], "the list is empty"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(tmp_path: Path, rows: list[Any], words: str) -> None:
    with pytest.raises(SuiteError, match=words):
        list(read_answers(write(tmp_path, rows), TWO))


def test_the_original_pairs_them_by_their_place_in_their_category(tmp_path: Path) -> None:
    old = suite(("1", "qa", "q1"), ("2", "chat", "q2"), ("3", "qa", "q3"), compat="original")
    rows = [
        {"category": name, "output": name + str(n)} for n, name in enumerate(("chat", "qa", "qa"))
    ]
    found = list(read_answers(write(tmp_path, rows), old))
    assert [(one.case_id, one.output) for one in found] == [
        ("2", "chat0"),
        ("1", "qa1"),
        ("3", "qa2"),
    ]
    with pytest.raises(SuiteError, match="1 answers of category 'qa' for 2 targets"):
        read_answers(write(tmp_path, rows[:2]), old)


def test_what_is_no_list_is_another_format(tmp_path: Path) -> None:
    with pytest.raises(DialectError, match="expected a list of records"):
        read_records(write(tmp_path, {}), (), Findings())
    with pytest.raises(DialectError, match="answers are a JSON list"):
        read_answers(tmp_path / "answers.csv", TWO)
    path = write(tmp_path, [{"category": "a"}, {"category": "a"}])
    records = read_records(path, ("category",), Findings())
    check_ids(records)
    assert (records.findings.errors, len(records.of("a"))) == ([], 2)


def test_a_record_knows_its_question_and_its_reference() -> None:
    one = AnswerRecord(place=2, id=None, category="qa", instruction="Do.", input="x", output="o")
    assert (one.key, one.question(), one.question(" "), one.reference) == (
        "#3",
        "Do.\nx",
        "Do. x",
        "o",
    )
    assert AnswerRecord(place=0, id=0, category="", target="t").key == "0"
