"""Test the starter suite and the two candidates' answers that come with it."""

from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.case_value import value_of
from proctor.core.suite import Case
from proctor.io.text_files import read_jsonl
from proctor.io.yaml_files import read_yaml

FOLDER = Path(str(files("proctor.starter")))
# Programs, dialogues, and what needs more than the base install is not for a first look.
SHOWN = {"blanks", "contains", "exact_match", "judged", "keywords", "matches", "number", "rouge"}
TYPES = {"knowledge", "completion", "debugging", "reading"}
EMPTY = {"en-reading-worker-log", "zh-css-box"}
MISSING = {"zh-http-idempotent"}


@pytest.fixture(scope="module")
def suite() -> dict[str, Any]:
    document = read_yaml(FOLDER / "suite.yaml")
    assert document.warnings == ()
    return dict(document.data)


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    reading = registry.find("dialect", "native")().read(FOLDER / "suite.yaml")
    assert reading.warnings == ()
    return {case.id: case for case in reading.suite.cases}


def share(case: Case, output: str) -> float:
    context = ScoreContext(case=case, attempt=Attempt.of(case.id, output))
    scores = {
        criterion.id: registry.build("scorer", criterion.scorer).score(context)
        for criterion in case.criteria
        if criterion.weight
    }
    value = value_of(case, scores).value
    assert value is not None, f"{case.id}: {scores}"
    return value / case.full_score


def kinds(case: dict[str, Any]) -> list[str]:
    names = set(registry.names("scorer"))
    found: list[str] = []
    for criterion in case["criteria"]:
        keys = {"contains"} if isinstance(criterion, str) else names & set(criterion)
        assert len(keys) == 1, f"{case['id']}: {criterion}"
        found += keys
    return found


def answers(candidate: str) -> list[dict[str, Any]]:
    return [row.data for row in read_jsonl(FOLDER / f"answers-{candidate}.jsonl")]


def test_every_case_has_its_own_id(suite: dict[str, Any]) -> None:
    counts = Counter(case["id"] for case in suite["cases"])
    assert [name for name, count in counts.items() if count > 1] == []
    assert len(counts) == 44


def test_cases_are_spread_over_languages_and_types(suite: dict[str, Any]) -> None:
    tags = [case["tags"] for case in suite["cases"]]
    assert Counter(tag["language"] for tag in tags) == {"en": 22, "zh": 22}
    assert {(tag["type"], tag["language"]) for tag in tags} == {
        (kind, language) for kind in TYPES for language in ("en", "zh")
    }
    assert {"python", "javascript", "sql", "bash", "git", "css", "general"} == {
        tag["lang"] for tag in tags
    }
    for case in suite["cases"]:
        assert case["id"].startswith(case["tags"]["language"] + "-")


def test_every_kind_of_criterion_is_used(suite: dict[str, Any]) -> None:
    used = {kind for case in suite["cases"] for kind in kinds(case)}
    assert used == SHOWN


def test_every_case_asks_something(suite: dict[str, Any]) -> None:
    for case in suite["cases"]:
        assert ("ask" in case) != ("messages" in case), case["id"]
        asked = case["ask"] if "ask" in case else case["messages"][-1]["content"]
        assert asked.strip(), case["id"]


@pytest.mark.parametrize(
    ("candidate", "empty", "missing"),
    [("careful", set(), set()), ("hasty", EMPTY, MISSING)],
)
def test_each_candidate_answers_twice(
    suite: dict[str, Any], candidate: str, empty: set[str], missing: set[str]
) -> None:
    rows = answers(candidate)
    wanted = [case["id"] for case in suite["cases"] if case["id"] not in missing]
    assert [(row["case"], row["attempt"]) for row in rows] == [
        (name, attempt) for name in wanted for attempt in (0, 1)
    ]
    assert {row["case"] for row in rows if not row["output"]} == empty


def test_nothing_and_the_question_itself_are_worth_nothing(cases: dict[str, Case]) -> None:
    for case in cases.values():
        whole = "\n".join(message.content for message in case.messages)
        for output in ("", " \n", case.prompt, whole):
            assert share(case, output) == 0.0, (case.id, output)


def test_references_get_full_marks(cases: dict[str, Case]) -> None:
    for case in cases.values():
        for reference in case.references:
            assert share(case, reference) == 1.0, (case.id, reference)


@pytest.mark.parametrize(("candidate", "low", "high"), [("careful", 0.8, 0.9), ("hasty", 0.4, 0.6)])
def test_candidates_differ_as_they_should(
    cases: dict[str, Case], candidate: str, low: float, high: float
) -> None:
    won = 0.0
    for row in answers(candidate):
        case = cases[row["case"]]
        won += share(case, row["output"]) * case.full_score / 2
    assert low < won / sum(case.full_score for case in cases.values()) < high


@pytest.mark.parametrize(
    ("name", "output", "expected"),
    [
        ("en-python-aliasing", "**Yes**, since no copy is made.", 1.0),
        ("en-python-aliasing", "No, they are the same object.", 0.0),
        ("en-git-unstage", "git reset HEAD -- notes.txt", 1.0),
        ("en-git-unstage", "git checkout notes.txt", 0.0),
        ("en-merge-sort", r"$\mathcal{O}(n \log_2 n)$", 1.0),
        ("en-merge-sort", "O(n^2)", 0.0),
        ("en-css-position", "Fixed, Sticky, Absolute, Relative", 1.0),
        ("en-css-position", "fixed, sticky, block", 1 / 3),
        ("en-bash-error-count", "cat app.log | grep -w ERROR | wc -l > count.txt", 1.0),
        ("en-bash-error-count", "cat app.log | grep -v ERROR | wc -l > count.txt", 0.5),
        ("en-sql-null", "SELECT * FROM orders WHERE shipped_at IS NOT NULL;", 0.0),
        ("en-bash-quotes", 'if [ "x$name" = "xroot" ]; then echo yes; fi', 1.0),
        ("en-bash-quotes", "if [ '$name' = root ]; then echo yes; fi", 0.0),
        ("en-reading-worker-log", "They ran out of disk space.", 1.0),
        ("en-reading-worker-log", "They may not write there.", 0.0),
        ("zh-python-tuple", "元组创建后不能修改，而列表可以。", 1.0),
        ("zh-python-tuple", "元组可变，列表不可变。", 0.0),
        ("zh-css-box", "content → padding → border → margin", 1.0),
        ("zh-css-box", "margin、border、padding、content", 2 / 3),
        ("zh-sql-left-join", "这一行不会被丢弃，B 的各列为空。", 1.0),
        ("zh-sql-left-join", "会被过滤掉，B 的列是 NULL。", 0.0),
        ("zh-git-secret", "git reset --hard HEAD~1", 0.0),
        ("zh-css-specificity", "blue（蓝色）", 1.0),
        ("zh-css-specificity", "不是蓝色而是绿色", 0.0),
    ],
)
def test_other_wordings(cases: dict[str, Case], name: str, output: str, expected: float) -> None:
    assert share(cases[name], output) == pytest.approx(expected)
