"""Methods that ask a judge: what it is asked, how its verdicts count, who it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.bench import (
    MissingParameterError,
    TestRun,
    TestSuite,
    UserValueError,
)
from proctor.testing import FakeServer


def verdict(**fields: Any) -> str:
    return f"Reasoning: so.\n```json\n{json.dumps(fields)}\n```"


def judged(
    folder: Path, method: str, script: Any, compat: str = "", **more: Any
) -> tuple[TestRun, int]:
    with FakeServer(script) as server:
        suite = TestSuite(
            method,
            method,
            input_text_list=["What is it?", "And then?"],
            reference_output_list=["the reference", "the reference"],
            compat=compat,
            judge=f"openai:judge@{server.url}",
            store=folder / "store.db",
        )
        run = suite.run(
            "x",
            candidate_output_list=["good answer", "bad answer"],
            context_list=["It is good.", "And then?"],
            **more,
        )
        return run, len(server.finished())


def names(run: TestRun) -> list[str | None]:
    return [None if found is None else found.name for found in run.categories]


def test_correctness_is_nought_or_one(tmp_path: Path) -> None:
    script = {
        "good answer": verdict(reason="It says so.", result="correct"),
        "bad answer": verdict(reason="No.", result="incorrect"),
    }
    run, asked = judged(tmp_path, "qa_correctness", script)
    assert (run.scores, names(run)) == ([1.0, 0.0], ["correct", "incorrect"])
    assert asked == 2
    assert run.test_cases[0].reason == "It says so."


def test_what_cannot_be_told_is_unscored(tmp_path: Path) -> None:
    script = {
        "good answer": verdict(reason="", result="correct"),
        "bad answer": verdict(reason="Nothing there.", result="cannot tell"),
    }
    run, _ = judged(tmp_path, "qa_correctness", script)
    assert (run.scores, names(run)) == ([1.0, None], ["correct", "invalid"])
    assert (run.average, run.unscored) == (1.0, 1)


def test_the_original_counts_what_is_invalid(tmp_path: Path) -> None:
    run, _ = judged(tmp_path, "qa_correctness", {"good answer": "1", "bad": "NA"}, "original")
    assert (run.scores, names(run)) == ([1.0, -1.0], ["correct", "invalid"])
    assert run.average == 0.0


def test_an_empty_reply_is_invalid_too(tmp_path: Path) -> None:
    run, _ = judged(tmp_path, "qa_correctness", {"good answer": "0", "bad": ""}, "original")
    assert (run.scores, names(run)) == ([0.0, -1.0], ["incorrect", "invalid"])


def prefers(text: str) -> Any:
    """Prefer a summary wherever it stands."""

    def said(messages: Any, body: Any) -> str:
        shown = messages[-1]["content"]
        first = shown.index("<<first ") < shown.index(text) < shown.index("<<second ")
        return verdict(reason="better", better="first" if first else "second")

    return said


@pytest.mark.parametrize(
    ("script", "scores", "categories"),
    [
        (prefers("answer\n"), [1.0, 1.0], ["candidate", "candidate"]),
        (prefers("the reference\n"), [0.0, 0.0], ["reference", "reference"]),
        (verdict(reason="", better="tie"), [0.5, 0.5], ["equal", "equal"]),
        (verdict(reason="", better="first"), [0.5, 0.5], ["equal", "equal"]),
    ],
)
@pytest.mark.slow
def test_summaries_are_compared_in_both_orders(
    tmp_path: Path, script: Any, scores: list[float], categories: list[str]
) -> None:
    run, asked = judged(tmp_path, "summary_quality", script)
    assert (run.scores, names(run)) == (scores, categories)
    assert asked == 4


def test_a_judge_that_says_nothing_readable_is_told_apart(tmp_path: Path) -> None:
    run, _ = judged(tmp_path, "summary_quality", "I like both.")
    assert (run.scores, names(run)) == ([None, None], ["invalid", "invalid"])
    assert "no readable verdict" in run.test_cases[0].reason


def test_the_original_asks_about_summaries_once(tmp_path: Path) -> None:
    run, asked = judged(
        tmp_path, "summary_quality", {"good answer": "tie.", "bad": "1 is better"}, "original"
    )
    assert (run.scores, names(run)) == ([0.5, -1.0], ["equal", "invalid"])
    assert asked == 2


def test_hallucination(tmp_path: Path) -> None:
    script = {
        "good answer": verdict(reason="", unsupported=[], result="supported"),
        "bad answer": verdict(reason="", unsupported=["bad"], result="hallucination"),
    }
    run, _ = judged(tmp_path, "hallucination", script)
    assert (run.scores, names(run)) == ([1.0, 0.0], ["no hallucination", "hallucination"])
    assert run.test_cases[1].detail["unsupported"] == ["bad"]


@pytest.mark.slow
def test_another_context_is_another_question(tmp_path: Path) -> None:
    script = {
        "It is blue": verdict(reason="", result="correct"),
        ".": verdict(reason="", result="incorrect"),
    }
    with FakeServer(script) as server:
        suite = TestSuite(
            "sky",
            "qa_correctness",
            input_text_list=["Which colour?"],
            judge=f"openai:judge@{server.url}",
            store=tmp_path / "store.db",
        )
        first = suite.run("a", candidate_output_list=["blue"], context_list=["It is blue."])
        second = suite.run("b", candidate_output_list=["blue"], context_list=["It is red."])
        third = suite.run("c", candidate_output_list=["blue"], context_list=["It is blue."])
        assert [run.scores for run in (first, second, third)] == [[1.0], [0.0], [1.0]]
        assert len(server.finished()) == 2, "what was asked before is not asked again"
    assert suite.test_run("b").contexts == [("It is red.",)]


def test_a_judge_must_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_JUDGE", raising=False)
    suite = TestSuite("q", "qa_correctness", input_text_list=["?"], store=tmp_path / "store.db")
    given: dict[str, Any] = {"candidate_output_list": ["a"], "context_list": ["c"]}
    with pytest.raises(MissingParameterError, match="PROCTOR_JUDGE"):
        suite.run("x", **given)
    with pytest.raises(UserValueError, match="whose model"):
        suite.run("x", judge="gpt-4", **given)
    with pytest.raises(MissingParameterError, match="needs context"):
        suite.run("x", judge="openai:m", candidate_output_list=["a"])
    with FakeServer(verdict(reason="", result="correct")) as server:
        monkeypatch.setenv("PROCTOR_JUDGE", f"openai:judge@{server.url}")
        assert suite.run("x", **given).scores == [1.0]
