"""A run as AskBench's own result files."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.report import RunView
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import error_value, null_value, stopped_value, value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult, Run
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.origins.askbench.layout import AskBenchLayout

MakeView = Callable[..., RunView]
RUN = Run(id="r", name="n", suite="s", suite_key="k", candidate=Spec(name="openai"),
          started=1_700_000_000.0, finished=1_700_000_061.5)  # fmt: skip
JUDGED = Criterion(id="correct", scorer=Spec(name="judged_correct", params={"kind": "maths"}))
NOTED = Criterion(id="correct", scorer=Spec(name="noted", params={"key": "correct"}))


def attempt_result(case: Case, attempt: Attempt, scores: Mapping[str, Score]) -> AttemptResult:
    values = {
        AttemptStatus.ERROR: error_value,
        AttemptStatus.UNANSWERED: null_value,
        AttemptStatus.STOPPED: stopped_value,
    }
    value = values.get(attempt.status, lambda found: value_of(found, scores))(case)
    return AttemptResult(attempt=attempt, scores=scores, value=value)


def case_result(case: Case, attempts: Sequence[tuple[Attempt, Mapping[str, Score]]]) -> CaseResult:
    made = tuple(attempt_result(case, attempt, scores) for attempt, scores in attempts)
    folded = fold(parse_fold("avg"), [found.value for found in made])
    return CaseResult(case=case, attempts=made, folded=folded)


def ruled(right: bool) -> dict[str, Score]:
    word = "correct" if right else "incorrect"
    detail = {"tries": 2, "raw": ["?", "{}"], "reason": "because", "result": word, "extracted": "4"}
    return {"correct": Score(points=float(right), out_of=1.0, reason="because", detail=detail)}


def unread(reason: str) -> dict[str, Score]:
    detail = {"tries": 10, "raw": ["?"] * 10}
    return {"correct": Score.failed(f"{reason}: no", out_of=1.0, detail=detail)}


def question(name: str, **more: Any) -> Case:
    case = Case(
        id=name,
        messages=(Message(role="user", content=f"q{name}"),),
        criteria=(JUDGED,),
        references=("4",),
        tags={"task": ("math500",)},
    )
    return replace(case, **more)


def said(text: str, **more: Any) -> Attempt:
    reply = Message(role="assistant", content=text, thinking=more.pop("thinking", ""))
    return replace(Attempt.of("x", None), status=AttemptStatus.ANSWERED, messages=(reply,), **more)


@pytest.fixture
def written(make_view: MakeView, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def write(results: Sequence[CaseResult], name: str, compat: str = "") -> dict[str, Any]:
        suite = Suite(name=name, cases=(), dialect="askbench", compat=compat)
        view = make_view(results, run=RUN, suite=suite)
        paths = AskBenchLayout().write(view, tmp_path)
        assert all(path.is_file() for path in paths)
        found: dict[str, Any] = {}
        for path in paths:
            text = path.read_text(encoding="utf-8")
            key = str(path.relative_to(tmp_path))
            found[key] = json.loads(text) if path.suffix == ".json" else text
        return found

    return write


SINGLE = [
    case_result(question("0"), [(said(" 4 ", notes={"finish": "stop"}), ruled(True))]),
    case_result(
        question("1"),
        [(said("5", thinking="hm", notes={"finish": "length", "truncated": [1]}), ruled(False))],
    ),
    case_result(question("2"), [(said("6"), unread("JudgeJSONParseFailed"))]),
    case_result(question("3"), [(said("7"), unread("JudgeResultInvalid"))]),
    case_result(question("4"), [(Attempt.of("4", None), {})]),
    case_result(
        question("5"),
        [(Attempt(case_id="5", status=AttemptStatus.ERROR, error="gone"), {})],
    ),
]


def test_a_task_of_questions(written: Callable[..., dict[str, Any]]) -> None:
    files = written(SINGLE, "math500")
    assert sorted(files) == [
        "final_result.txt",
        "math500/math500/attempt_1/api_responses.json",
        "math500/math500/results.txt",
        "math500/math500/summary_results.json",
    ]
    records = files["math500/math500/attempt_1/api_responses.json"]
    assert records[0] == {
        "question": "q0",
        "response": " 4 ",
        "extracted_answer": "4",
        "reference_answer": "4",
        "thinking_process": "none",
        "truncated": "not_truncated",
        "judge": {
            "decision": {"reason": "because", "result": "correct"},
            "raw_response": "{}",
            "parse_attempts": 2,
            "parse_success": True,
        },
        "correct": 1,
        "skipped": False,
    }
    assert (records[1]["thinking_process"], records[1]["truncated"]) == ("hm", "truncated")
    assert [record["correct"] for record in records] == [1, 0, None, None, 0, None]
    assert [record.get("skip_reason") for record in records] == [
        None, None, "JudgeJSONParseFailed", "JudgeResultInvalid", None, "CandidateError",
    ]  # fmt: skip
    parsed = [record["judge"]["parse_success"] for record in records]
    assert parsed == [True, True, False, True, False, False]
    assert records[2]["judge"]["parse_attempts"] == 10
    lines = files["math500/math500/results.txt"].splitlines()
    assert lines[:6] == [
        "Evalset: math500",
        "Task: math500",
        "Accuracy: 0.3333",
        "Start time: 2023-11-14 22:13:20 UTC",
        "End time: 2023-11-14 22:14:21 UTC",
        "Total time: 0:01:01.500000",
    ]
    line = f"{'math500':<30} | {'Accuracy: 0.3333':<30} | Total time: 0:01:01.500000\n"
    assert files["final_result.txt"] == line
    assert files["math500/math500/summary_results.json"][0] == {
        "question": "q0",
        "answer": "4",
        "attempts": [
            {
                "response": " 4 ",
                "thinking_process": "none",
                "truncated": "not_truncated",
                "correct": 1,
                "attempt_num": 1,
            }
        ],
    }


def test_several_attempts_are_pooled(written: Callable[..., dict[str, Any]]) -> None:
    first = [(said("a"), ruled(True)), (said("b"), unread("JudgeJSONParseFailed"))]
    second = [(said("a"), ruled(False)), (said("b"), ruled(False))]
    third = [(said("a"), unread("JudgeResultInvalid"))] * 2
    results = [case_result(question(str(n)), both) for n, both in enumerate((first, second, third))]
    files = written(results, "math500", "original")
    assert "math500/math500/attempt_2/api_responses.json" in files
    summary = files["math500/math500/summary_results.json"]
    assert [row["pass@1"] for row in summary] == [1.0, 0.0, None]
    assert {row["answer"] for row in summary} == {""}
    assert "Pass@1 (n_attempts=2, valid=3): 0.3333" in files["math500/math500/results.txt"]
    assert f"| {'Pass@1: 0.3333':<30} |" in files["final_result.txt"]


def test_choices_are_told_apart(written: Callable[..., dict[str, Any]]) -> None:
    criterion = replace(JUDGED, scorer=Spec(name="judged_correct", params={"choices": ["a", "b"]}))
    case = question("0", criteria=(criterion,), references=("B) beta",))
    files = written([case_result(case, [(said("B"), ruled(True))])], "gpqa")
    (record,) = files["math500/gpqa/attempt_1/api_responses.json"]
    assert record["reference_answer"] == {"letter": "B", "text": "beta"}


def rubric_case() -> Case:
    items = [("good", 6.0), ("more", 4.0), ("bad", -5.0)]
    criteria = tuple(
        Criterion(
            id=f"rubric-{number}",
            scorer=Spec(name="rubric", params={"criterion": text}),
            weight=points,
        )
        for number, (text, points) in enumerate(items)
    )
    return question("0", criteria=criteria, hidden={"canary": "c"}, min_points=0.0, references=())


def test_rubrics(written: Callable[..., dict[str, Any]]) -> None:
    def met(yes: bool, **more: Any) -> Score:
        detail = {"tries": 1, "raw": ["{}"], "explanation": "e", **more}
        return Score(points=float(yes), out_of=1.0, detail=detail)

    scores = {"rubric-0": met(True), "rubric-1": met(False, valid=False), "rubric-2": met(True)}
    results = [case_result(rubric_case(), [(said("drink"), scores)])]
    files = written(results, "healthbench", "original")
    (record,) = files["math500/healthbench/attempt_1/healthbench_detailed_results.json"]
    assert files["math500/healthbench/attempt_1/api_responses.json"] == [record]
    conversation = [{"role": "user", "content": "q0"}, {"role": "assistant", "content": "drink"}]
    assert record["conversation"] == conversation
    assert record["conversation_text"] == "user: q0\nassistant: drink"
    assert [item.get("criteria_met") for item in record["rubrics"]] == [True, None, True]
    assert record["rubrics"][0] == {
        "criterion": "good",
        "points": 6.0,
        "grader_raw_response": "{}",
        "grader_parse_attempts": 1,
        "grader_parse_success": True,
        "criteria_met": True,
        "explanation": "e",
    }
    numbers = (
        "raw_score", "positive_total", "denominator_used", "normalized_score",
        "valid_rubric_count", "total_rubric_count",
    )  # fmt: skip
    assert [record[name] for name in numbers] == [1.0, 10.0, 10.0, 0.1, 2, 3]
    assert (record["id"], record["canary"]) == (0, "c")
    assert "HealthBench Score: 0.1000" in files["final_result.txt"]


def test_the_summary_of_rubrics_holds_scores(written: Callable[..., dict[str, Any]]) -> None:
    """Each attempt is worth its score, and not right or wrong."""

    def met(*points: float | None) -> dict[str, Score]:
        return {
            f"rubric-{place}": Score(
                points=point or 0.0,
                out_of=1.0,
                detail={"tries": 1, "raw": ["{}"], "valid": point is not None},
            )
            for place, point in enumerate(points)
        }

    attempts = [
        (said("drink"), met(1.0, 0.0, 0.0)),
        (said("sleep"), met(0.0, 1.0, 0.0)),
        (said("?"), met(None, None, None)),
    ]
    results = [case_result(rubric_case(), attempts)]
    files = written(results, "healthbench", "original")
    (summary,) = files["math500/healthbench/summary_results.json"]
    assert summary["question"] == [{"role": "user", "content": "q0"}]
    assert [attempt["correct"] for attempt in summary["attempts"]] == [0.6, 0.4, None]
    assert summary["pass@1"] == 0.5
    (unread,) = files["math500/healthbench/attempt_3/api_responses.json"]
    assert (unread["normalized_score"], unread["valid_rubric_count"]) == (0.0, 0)
    assert unread["canary"] == "c"
    lines = files["math500/healthbench/results.txt"].splitlines()
    assert lines[2] == "Pass@1 (n_attempts=3, valid=2): 0.5000"
    assert "| Pass@1: 0.5000 | HealthBench Score: 0.6000 |" in files["final_result.txt"]


def test_what_was_thought_keeps_its_tags(written: Callable[..., dict[str, Any]]) -> None:
    results = [case_result(question("0"), [(said("4", thinking="hm"), ruled(True))])]
    for compat, wanted in (("original", "<think>hm</think>"), ("", "hm")):
        files = written(results, "math500", compat)
        (record,) = files["math500/math500/attempt_1/api_responses.json"]
        (summary,) = files["math500/math500/summary_results.json"]
        assert record["thinking_process"] == wanted
        assert summary["attempts"][0]["thinking_process"] == wanted


def test_a_ruling_of_no_use_is_written_as_it_came(
    written: Callable[..., dict[str, Any]],
) -> None:
    detail = {"tries": 1, "raw": ['```json\n{"result": "maybe", "reason": "r"}\n```']}
    odd = {"correct": Score.failed("JudgeResultInvalid: no", out_of=1.0, detail=detail)}
    results = [case_result(question("0"), [(said("4"), odd)])]
    (record,) = written(results, "m", "original")["math500/m/attempt_1/api_responses.json"]
    assert record["judge"]["decision"] == {"result": "maybe", "reason": "r"}
    (record,) = written(results, "m")["math500/m/attempt_1/api_responses.json"]
    assert record["judge"]["decision"] is None


def talk(name: str, reason: str, **notes: Any) -> tuple[Case, Attempt]:
    case = Case(
        id=name,
        messages=(Message(role="user", content="less"),),
        criteria=(NOTED,),
        references=("7",),
        hidden={"question": "whole", "info": "", "points": ["a", "b"]},
        dialogue=Spec(name="clarify"),
        tags={"task": ("ask_mind",)},
    )
    messages = tuple(
        Message(role=role, content=text)
        for role, text in (("assistant", "a?"), ("user", "1"), ("assistant", "7"))
    )
    turns = [
        {"turn": 1, "verdict": {"is_final_answer": False}, "tries": 1, "raw": ["{1}"], "user": "1"},
        {"turn": 2, "verdict": {"is_final_answer": True}, "tries": 3, "raw": ["?", "?", "{2}"]},
    ]
    known = {
        "reason": reason, "final": True, "correct": True, "final_turn": 2, "resolved": True,
        "missing": [], "asked": True, "redundant": 0, "premature": False, "skipped": False,
        "turns": turns,
        "ledger": {"points": ["a", "b"], "covered": [[False, False], [True, True]], "first": [2, 2]},
        **notes,
    }  # fmt: skip
    status = AttemptStatus.STOPPED if known["skipped"] else AttemptStatus.ANSWERED
    return case, Attempt(case_id=name, messages=messages, status=status, notes=known)


def talked(name: str, reason: str, **notes: Any) -> CaseResult:
    case, attempt = talk(name, reason, **notes)
    right = attempt.notes["correct"]
    scores = {} if right is None else {"correct": Score(points=float(right), out_of=1.0)}
    return case_result(case, [(attempt, scores)])


DIALOGUES = [
    talked("10", "FinalAnswerEvaluated"),
    talked("9", "FinalAnswerMissingInfo", resolved=False, missing=["b"], correct=False, premature=True),
    talked("x", "FailedToAnswerOnLastTurn", final=False, correct=False, redundant=2),
    talked("y", "JudgeJSONParseFailed", final=False, correct=None, skipped=True),
]  # fmt: skip


def test_dialogues(written: Callable[..., dict[str, Any]]) -> None:
    files = written(DIALOGUES, "ask_mind")
    assert sorted(files) == [
        "ask_mind/ask_mind/askbench_detailed_results.json",
        "ask_mind/ask_mind/results.txt",
        "final_result.txt",
    ]
    records = files["ask_mind/ask_mind/askbench_detailed_results.json"]
    assert [record["id"] for record in records] == [9, 10, "x", "y"]
    record = records[1]
    turns = record.pop("turn_logs")
    assert record == {
        "id": 10,
        "correct": True,
        "reason": "FinalAnswerEvaluated",
        "final_turn": 2,
        "conversation_history": [
            {"role": "user", "content": "less"},
            {"role": "assistant", "content": "a?"},
            {"role": "user", "content": "1"},
            {"role": "assistant", "content": "7"},
        ],
        "ground_truth_answer": "7",
        "is_final_answer": True,
        "missing_required_points": [],
        "all_required_points_resolved": True,
        "required_points": ["a", "b"],
        "required_points_first_covered": [2, 2],
        "skipped": False,
        "behavior_metrics": {
            "redundant_question_events": 0,
            "premature_final_answer": False,
            "asked_any_question": True,
        },
    }
    assert turns[0] == {
        "turn": 1,
        "conversation_at_turn": record["conversation_history"][:2],
        "judge_decision": {"is_final_answer": False},
        "judge_raw_response": "{1}",
        "judge_parse_attempts": 1,
        "judge_parse_success": True,
        "covered_required_points": [],
        "simulated_user_response": "1",
    }
    assert turns[1]["covered_required_points"] == ["a", "b"]
    assert (turns[1]["judge_raw_response"], turns[1]["judge_parse_attempts"]) == ("{2}", 3)
    text = files["ask_mind/ask_mind/results.txt"]
    for line in (
        "Final accuracy: 0.3333",
        "Valid samples: 3/4 (skipped: 1)",
        "- ask_rate: 1.0000 (3/3)",
        "- cov_rate: 0.5000 (1/2)",
        "- unq_rate: 0.3333 (1/3, 2 events)",
        "- Composite score: 0.4500",
        "- JudgeJSONParseFailed: 1 (25.00%)",
    ):
        assert line in text.splitlines(), line
    assert "Final accuracy: 0.3333 | Composite score: 0.4500" in files["final_result.txt"]


def test_the_original_never_shows_the_composite(written: Callable[..., dict[str, Any]]) -> None:
    files = written(DIALOGUES[2:3], "ask_mind", "original")
    assert "- Composite score: 0.3000" in files["ask_mind/ask_mind/results.txt"]
    assert f"| {'Final accuracy: 0.0000':<30} |" in files["final_result.txt"]
    ours = written(DIALOGUES[2:3], "ask_mind")
    assert "- Composite score: 0.0000" in ours["ask_mind/ask_mind/results.txt"]
    assert len(ours["final_result.txt"].splitlines()) == 2


def test_several_dialogues_have_folders_of_their_own(
    written: Callable[..., dict[str, Any]],
) -> None:
    case, attempt = talk("1", "FinalAnswerEvaluated")
    wrong = replace(attempt, index=1, notes={**attempt.notes, "correct": False})
    right = {"correct": Score(points=1.0, out_of=1.0)}
    none = {"correct": Score(points=0.0, out_of=1.0)}
    files = written([case_result(case, [(attempt, right), (wrong, none)])], "ask_mind")
    assert sorted(files) == [
        "ask_mind/ask_mind/attempt_1/askbench_detailed_results.json",
        "ask_mind/ask_mind/attempt_1/results.txt",
        "ask_mind/ask_mind/attempt_2/askbench_detailed_results.json",
        "ask_mind/ask_mind/attempt_2/results.txt",
        "ask_mind/ask_mind/results.txt",
        "final_result.txt",
    ]
    lines = files["ask_mind/ask_mind/attempt_2/results.txt"].splitlines()
    assert lines[2:4] == ["Attempt: 2/2", "AskBench Final Accuracy: 0.0000"]
    assert "Average accuracy: 0.5000 | Composite score: 0.7500" in files["final_result.txt"]


@pytest.mark.parametrize("compat", ["", "original"])
def test_tasks_without_answers(written: Callable[..., dict[str, Any]], compat: str) -> None:
    results = []
    for name, vague, asked in (("0", True, True), ("1", True, False), ("2", False, False)):
        found = talked(name, "FinalAnswerAfterClarifications", asked=asked, correct=None)
        hidden = {**found.case.hidden, "vague": vague}
        case = replace(found.case, hidden=hidden, references=())
        scores = {"correct": Score(points=1.0, out_of=1.0)}
        results.append(case_result(case, [(found.attempts[0].attempt, scores)]))
    files = written(results, "in3_interaction", compat)
    text = files["ask_mind/in3_interaction/results.txt"].splitlines()
    rate = "Vague Ask Rate: 0.5000 (1 / 2)"
    if compat:
        assert text[:2] == ["Evalset: ask_mind", "Task: in3_interaction"]
        assert text[text.index("") + 1] == f"in3_interaction {rate}"
    else:
        assert text[:2] == [rate, "Evalset: ask_mind"]
    assert any(line.startswith("Accuracy: N/A") for line in text)
    assert "- Clear-task Direct Rate: 1.0000" in text
    assert not any("Composite" in line for line in text)
    assert f"| {'Vague Ask Rate: 0.5000':<30} |" in files["final_result.txt"]
    record = files["ask_mind/in3_interaction/askbench_detailed_results.json"][0]
    assert (record["metadata"], record["ground_truth_answer"]) == ({"vague": True}, None)


@pytest.mark.parametrize(
    "dialogue", [Spec(name="clarify", params={"wrapper": "fata"}), Spec(name="fata")]
)
def test_the_request_of_fata_is_in_the_history(
    written: Callable[..., dict[str, Any]], dialogue: Spec
) -> None:
    case, attempt = talk("1", "FinalAnswerEvaluated")
    case = replace(case, dialogue=dialogue)
    scores = {"correct": Score(points=1.0, out_of=1.0)}
    files = written([case_result(case, [(attempt, scores)])], "fata_math500", "original")
    (record,) = files["ask_mind/fata_math500/askbench_detailed_results.json"]
    for history in (
        record["conversation_history"],
        record["turn_logs"][0]["conversation_at_turn"],
    ):
        assert history[0]["content"].startswith("User request: less.\n")
        assert "before offering advice" in history[0]["content"]


def test_names_and_texts_that_no_file_can_hold(written: Callable[..., dict[str, Any]]) -> None:
    case = question("0", tags={"task": ("../up",)})
    files = written([case_result(case, [(said("half \ud800"), ruled(True))])], "a/b")
    assert "_up/a_b/attempt_1/api_responses.json" in files
    assert files["_up/a_b/attempt_1/api_responses.json"][0]["response"] == "half ?"
