"""Rows of AskBench as cases: every shape, every alias, and every way to get one wrong."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from proctor import registry
from proctor.contracts.dialect import Dialect, Reading
from proctor.core.suite import Case, Message, Spec
from proctor.errors import Problem, SuiteError
from proctor.origins.askbench.in3 import NO_PREFERENCE

GOLDEN = json.loads(
    (Path(__file__).resolve().parents[2] / "golden" / "askbench.json").read_text(encoding="utf-8")
)
SCENARIOS = {scenario["name"]: scenario for scenario in GOLDEN["scenarios"]}


def dialect() -> Dialect:
    found: Dialect = registry.build("dialect", Spec(name="askbench"))
    return found


def rows_file(folder: Path, task: str, rows: Iterable[Any]) -> Path:
    path = folder / task / "test.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(folder: Path, task: str, rows: Iterable[Any], compat: str = "") -> Reading:
    return dialect().read(rows_file(folder, task, rows).parent, compat=compat)


def case(folder: Path, task: str, row: Any, compat: str = "") -> Case:
    (found,) = read(folder, task, [row], compat).suite.cases
    return found


def problems(folder: Path, task: str, rows: Iterable[Any]) -> Sequence[Problem]:
    with pytest.raises(SuiteError) as caught:
        read(folder, task, rows)
    return caught.value.problems


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("compat", ["", "original"])
def test_golden_rows_are_read(tmp_path: Path, name: str, compat: str) -> None:
    scenario = SCENARIOS[name]
    suite = read(tmp_path, scenario["evalset"], scenario["rows"], compat).suite
    assert (suite.name, suite.dialect, suite.compat) == (scenario["evalset"], "askbench", compat)
    wanted = [str(row.get("id", index)) for index, row in enumerate(scenario["rows"])]
    assert [found.id for found in suite.cases] == wanted
    assert {found.tags["task"] for found in suite.cases} == {(scenario["evalset"],)}


def test_the_candidate_is_asked_in_the_original_way(tmp_path: Path) -> None:
    """What the original's candidate saw, but for the fixed texts, which are in our words."""
    for name in (
        "math500",
        "medqa",
        "healthbench",
        "ask_mind",
        "ask_overconfidence",
        "quest_bench",
    ):
        scenario = SCENARIOS[name]
        suite = read(tmp_path, scenario["evalset"], scenario["rows"], "original").suite
        ours = {json.dumps([[m.role, m.content] for m in found.messages]) for found in suite.cases}
        asked = scenario["requests"]["candidate_messages"]
        first = [found["messages"] for found in asked if found["turn"] == 1]
        known = {json.dumps([[m["role"], m["content"]] for m in messages]) for messages in first}
        plain = {text for text in known if "<FORCE_FINAL>" not in text}
        assert plain
        assert plain <= ours, name


QUESTION = {"ori_question": "2 + 2?", "expected_answer": "4"}


@pytest.mark.parametrize(
    ("row", "content", "reference"),
    [
        (QUESTION, "2 + 2?", "4"),
        ({"problem": "1 + 1?", **QUESTION}, "1 + 1?", "4"),
        ({"problem": "", **QUESTION}, "2 + 2?", "4"),
        ({"degraded_question": "x?", "expected_answer": "4"}, "x?", "4"),
        ({**QUESTION, "expected_answer": 4}, "2 + 2?", "4"),
        ({**QUESTION, "expected_answer": 0.5}, "2 + 2?", "0.5"),
    ],
)
def test_names_of_a_question(tmp_path: Path, row: Any, content: str, reference: str) -> None:
    found = case(tmp_path, "math500", row)
    assert found.messages == (Message(role="user", content=content),)
    assert found.references == (reference,)
    assert found.dialogue == Spec(name="single_turn")


@pytest.mark.parametrize(
    ("task", "kind"), [("math500", "maths"), ("medqa", "choice"), ("bbh", "open"), ("mine", "open")]
)
def test_judged_questions(tmp_path: Path, task: str, kind: str) -> None:
    (criterion,) = case(tmp_path, task, QUESTION).criteria
    assert criterion.scorer == Spec(name="judged_correct", params={"kind": kind, "tries": 10})
    (criterion,) = case(tmp_path, task, QUESTION, "original").criteria
    compat = {"compat": "original", "extract": False}
    assert criterion.scorer.params == {"kind": kind, "tries": 10, **compat}


def test_bbh_names_its_category(tmp_path: Path) -> None:
    found = case(tmp_path, "bbh", {**QUESTION, "category": "logic"})
    assert found.prompt.startswith("[Task: logic]\n2 + 2?\n\n")
    assert found.criteria[0].scorer.params["category"] == "logic"
    assert found.tags["category"] == ("logic",)
    assert case(tmp_path, "medqa", {**QUESTION, "ori_question": " a \n"}).prompt == "a"


def test_gpqa_letters_its_choices(tmp_path: Path) -> None:
    row = SCENARIOS["gpqa"]["rows"][0]
    found = case(tmp_path, "gpqa", {**row, "correct_index": 2})
    assert found.prompt.endswith(f"{row['question']}\n\nA) alpha\nB) beta\nC) gamma\nD) delta")
    assert found.references == ("C) gamma",)
    assert found.criteria[0].scorer.params["choices"] == ["alpha", "beta", "gamma", "delta"]
    assert found.tags["category"] == ("Letters",)


def test_healthbench_has_a_criterion_for_each_item(tmp_path: Path) -> None:
    prompt = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    rubrics = [{"criterion": "good", "points": 5}, {"criterion": "bad", "points": -3.5}]
    found = case(tmp_path, "healthbench", {"prompt": prompt, "rubrics": rubrics})
    assert [message.role for message in found.messages] == ["user", "assistant"]
    assert [criterion.weight for criterion in found.criteria] == [5.0, -3.5]
    params = {"criterion": "bad", "points": -3.5, "tries": 10}
    assert found.criteria[1].scorer == Spec(name="rubric", params=params)
    assert (found.min_points, found.out_of) == (0.0, None)
    only = {"prompt": prompt, "rubrics": rubrics[1:]}
    assert case(tmp_path, "healthbench", only).out_of is None
    assert case(tmp_path, "healthbench", only, "original").out_of == 3.5


MIND = {
    "ori_question": "whole",
    "expected_answer": "7",
    "degraded_question": "less",
    "degraded_info": "why",
    "required_points": ["a", "b"],
}
WRONG = {
    "ori_question": "whole",
    "expected_answer": "7",
    "overconfidence_question": "misled",
    "overconfidence_info": "why",
    "misleading_points": ["a"],
    "required_points": ["b"],
}


@pytest.mark.parametrize(
    ("task", "row", "shown", "scenario", "points"),
    [
        ("ask_mind", MIND, "less", "missing_info", ["a", "b"]),
        ("ask_mind", {**MIND, "degraded_question": "", "required_points": ["a"]}, "whole", "plain", ["a"]),
        ("ask_mind_bbhde", MIND, "less", "missing_info", ["a", "b"]),
        ("ask_overconfidence", WRONG, "misled", "overconfidence", ["a"]),
        ("ask_overconfidence", {**WRONG, "misleading_points": []}, "misled", "overconfidence", []),
        ("ask_mind", WRONG, "misled", "overconfidence", ["a"]),
        ("quest_bench", {**MIND, "degraded_question": None}, "whole", "plain", ["a", "b"]),
        ("something_new", MIND, "less", "missing_info", ["a", "b"]),
        ("something_new", WRONG, "misled", "overconfidence", ["a"]),
    ],
)  # fmt: skip
def test_questions_that_must_be_asked_back(
    tmp_path: Path, task: str, row: Any, shown: str, scenario: str, points: list[str]
) -> None:
    found = case(tmp_path, task, row)
    assert found.prompt == shown
    assert found.references == ("7",)
    assert found.hidden == {"question": "whole", "info": "why", "points": points}
    assert found.dialogue.name == "clarify"
    assert found.dialogue.params["scenario"] == scenario
    assert found.criteria[0].scorer == Spec(name="noted", params={"key": "correct"})


def test_the_alias_of_misleading_points(tmp_path: Path) -> None:
    row = {key: value for key, value in WRONG.items() if key != "misleading_points"}
    assert case(tmp_path, "ask_overconfidence", row).hidden["points"] == ["b"]


def test_a_row_without_a_checklist_is_warned_of(tmp_path: Path) -> None:
    row = {key: value for key, value in MIND.items() if key != "required_points"}
    reading = read(tmp_path, "ask_mind", [row, row, row])
    (warning,) = reading.warnings
    assert warning.message.startswith("the row has no 'required_points'")
    assert "(2 more like it)" in warning.message
    assert (warning.line, warning.severity) == (1, "warning")


DETAILS = [
    {
        "description": "where",
        "importance": "3",
        "inquiry": "Where to?",
        "options": ["Rome", "Oslo"],
    },
    {"inquiry": "When?"},
    {"options": []},
]


@pytest.mark.parametrize(
    ("more", "points", "answers"),
    [
        ({}, ["where", "When?", "Detail 3"], ["Rome", NO_PREFERENCE, NO_PREFERENCE]),
        (
            {
                "actions": [
                    {"role": "assistant", "content": "?"},
                    {"role": "user", "content": "Bonn"},
                ]
            },
            ["where", "When?", "Detail 3"],
            ["Bonn", NO_PREFERENCE, NO_PREFERENCE],
        ),
        (
            {"required_points": ["x"], "required_point_answers": {"x": "y"}},
            ["x"],
            ["y"],
        ),
    ],
)
def test_in3_as_published(tmp_path: Path, more: Any, points: list[str], answers: list[str]) -> None:
    row = {"task": "Plan a trip.", "vague": True, "missing_details": DETAILS, **more}
    found = case(tmp_path, "in3_interaction", row)
    assert found.prompt == "Plan a trip."
    assert found.references == ()
    assert (found.hidden["points"], found.hidden["point_answers"]) == (points, answers)
    assert found.hidden["vague"] is True
    assert found.hidden["info"].splitlines()[0] == (
        "- where; importance: 3; to be asked as: Where to?; options: Rome, Oslo"
    )
    assert found.criteria[0].scorer == Spec(name="noted", params={"key": "asked_right"})


@pytest.mark.parametrize(
    ("task", "row", "messages"),
    [
        ("math500", {"ori_question": "q"}, ["the row has no 'expected_answer'"]),
        (
            "math500",
            {"expected_answer": "4"},
            ["the row has no 'problem' or 'ori_question' or 'degraded_question'"],
        ),
        (
            "math500",
            {"ori_question": ["q"], "expected_answer": "4"},
            ["expected a string for 'ori_question', not a list"],
        ),
        (
            "math500",
            {"ori_question": "q", "expected_answer": True},
            ["expected a string for 'expected_answer', not true"],
        ),
        (
            "math500",
            {"ori_question": "q\ud800", "expected_answer": "4"},
            ["a text contains half of a surrogate pair, which is no character"],
        ),
        ("math500", ["q"], ["a row is an object, not a list"]),
        (
            "gpqa",
            {"question": "q", "choice1": "a", "choice2": "b", "choice3": "c", "correct_index": 4},
            [
                "the row has no 'choice4'",
                "expected 0, 1, 2 or 3 for 'correct_index', not the number 4",
            ],
        ),
        (
            "ask_mind",
            {"degraded_question": "less", "required_points": "a"},
            [
                "the row has no 'ori_question'",
                "the row has no 'expected_answer'",
                "expected a list of strings for 'required_points'",
            ],
        ),
        ("ask_mind", QUESTION, ["the row has no 'degraded_question'"]),
        (
            "in3_interaction",
            {"task": "t", "vague": "yes"},
            ["expected true or false for 'vague', not the string 'yes'"],
        ),
        (
            "healthbench",
            {"prompt": "hi", "rubrics": [{"criterion": "x"}]},
            [
                "item 1 of 'rubrics' needs a text 'criterion' and a number 'points'",
                "expected a list of messages for 'prompt', not the string 'hi'",
            ],
        ),
        (
            "healthbench",
            {"prompt": [{"role": "judge", "content": "hi"}], "rubrics": None},
            [
                "expected a list for 'rubrics', not nothing",
                "message 1 of 'prompt' needs a 'role' (system, developer, user, assistant) and a 'content'",
            ],
        ),
    ],
)
def test_rows_with_something_wrong(
    tmp_path: Path, task: str, row: Any, messages: list[str]
) -> None:
    good = SCENARIOS[task]["rows"][0]
    found = problems(tmp_path, task, [good, row])
    assert [problem.message for problem in found] == messages
    path = str(tmp_path / task / "test.jsonl")
    assert {(problem.file, problem.line) for problem in found} == {(path, 2)}


def test_a_broken_line(tmp_path: Path) -> None:
    path = rows_file(tmp_path, "math500", [QUESTION])
    with path.open("a") as file:
        file.write('\n{"ori_question": what}\n')
    with pytest.raises(SuiteError) as caught:
        dialect().read(path.parent)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (3, 18)
    assert "not valid JSON" in problem.message


def test_ids_that_occur_twice(tmp_path: Path) -> None:
    rows = [
        {**QUESTION, "id": "a"},
        {**QUESTION, "id": 1},
        QUESTION,
        {**QUESTION, "id": "a"},
        QUESTION,
    ]
    found = problems(tmp_path, "math500", [*rows, {**QUESTION, "id": 2}])
    assert [(problem.line, problem.message) for problem in found] == [
        (4, "the id 'a' is that of line 1 too"),
        (6, "the id '2' is that of line 3 too"),
    ]


def test_an_empty_file(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "math500", [])
    assert problem.message == "the file has no rows"
