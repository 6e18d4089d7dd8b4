"""The JSON report: the keys that stay, and no number that is not one."""

import io
import json
from dataclasses import replace
from typing import Any

import pytest

from proctor.core.run import Summary
from proctor.core.score import Score
from proctor.core.suite import Spec
from proctor.errors import UsageError
from proctor.registry import build
from proctor.reports.structured import JsonReport, to_object, without_texts


def test_head_is_the_object_of_the_design(make_view: Any) -> None:
    view = make_view()
    made = json.loads(build("report", Spec(name="json")).render(view))
    assert list(made) == ["run", "totals", "measures", "groups", "usage", "corrected",
                          "noise_floor", "noise_floor_interval", "variance", "references", "failures", "shortfall"]  # fmt: skip
    assert made["run"] == {
        "id": "r" * 32,
        "name": "first",
        "suite": "suite_x",
        "candidate": "gpt-4_0.2",
        "status": "incomplete",
        "signature": "keywords:1|n:3",
        "imported": False,
        "regraded": None,
        "stopped_early": None,
    }
    assert made["totals"] == {
        "score": 1.25,
        "full": 3.0,
        "rate": 1.25 / 3,
        "spread": 0.0625,
        "score_spread": 0.1875,
        "interval": [-0.125, 0.95],
        "bounds": [0.3125, 0.5625],
        "cases": 3,
        "clusters": None,
        "cases_unscored": 1,
        "attempts": 10,
        "unanswered": 2,
        "unscored": 2,
        "errors": 2,
    }
    assert made["measures"] == {"accuracy": {"value": 0.0, "interval": [0.0, 0.5615], "n": 3}}
    assert made["groups"]["lang"]["python"] == {
        "score": 0.75,
        "full": 2.0,
        "rate": 0.375,
        "spread": 0.125,
        "score_spread": 0.25,
        "interval": [0.25, 0.5],
        "cases": 2,
        "clusters": None,
    }
    assert made["groups"]["lang"]["sql"]["interval"] is None
    assert made["usage"] == {
        "calls": 4,
        "prompt_tokens": 900,
        "completion_tokens": 100,
        "cost": 0.5,
    }


def test_cases(make_view: Any) -> None:
    cases = {case["id"]: case for case in to_object(make_view(), cases=True)["cases"]}
    assert list(cases) == ["0-0-2", "0-0-10", "0-0-3", "0-0-4", "0-0-5"]
    first = cases["0-0-2"]
    assert (first["value"], first["full"], first["status"]) == (0.75, 1.0, "scored")
    assert first["tags"] == {"lang": "python", "type": "qa"}
    assert cases["0-0-10"]["tags"]["lang"] == ["sql", "web"]
    assert [attempt["value"] for attempt in first["attempts"]] == [0.5, 1.0]
    assert first["attempts"][0]["index"] == 0
    score = dict(first["attempts"][0]["scores"][0])
    assert [rule["status"] for rule in score.pop("detail")["rules"]] == ["match", "unmatch"]
    assert score == {
        "criterion": "keywords",
        "points": 1.0,
        "out_of": 2.0,
        "status": "scored",
        "reason": "1 of 2 keywords",
    }


@pytest.mark.parametrize(
    ("case_id", "expected"),
    [
        ("0-0-3", ("unanswered", 0.0, 0.0, 0.0, [])),
        ("0-0-4", ("unscored", None, 0.0, 1.0, ["unit_test: no sandbox"])),
        ("0-0-5", ("error", None, 0.0, 1.0, ["connection refused"])),
    ],
)
def test_cases_without_a_score(make_view: Any, case_id: str, expected: tuple[Any, ...]) -> None:
    cases = {case["id"]: case for case in to_object(make_view(), cases=True)["cases"]}
    case = cases[case_id]
    found = (case["status"], case["value"], case["low"], case["high"], case["unscored_reasons"])
    assert found == expected
    errors = {attempt.get("error") for attempt in case["attempts"]}
    assert errors == ({"connection refused"} if case_id == "0-0-5" else {None})


@pytest.mark.parametrize("cases", [True, False])
def test_written_and_rendered_and_made_are_the_same(make_view: Any, cases: bool) -> None:
    view, file = make_view(), io.StringIO()
    JsonReport().write(view, file, by=["type"], cases=cases)
    expected = json.dumps(to_object(view, ["type"], cases), indent=2, ensure_ascii=False)
    assert file.getvalue() == JsonReport().render(view, by=["type"], cases=cases)
    assert file.getvalue() == expected + "\n"


def test_a_run_without_cases_is_still_json(make_view: Any) -> None:
    assert json.loads(JsonReport().render(make_view(results=()), cases=True))["cases"] == []


def test_numbers_that_are_none_and_texts_that_are_half(make_view: Any, make_case: Any) -> None:
    odd = Score(
        points=1.0, out_of=1.0, reason="half \ud800 中\u2028", detail={"x": [float("nan")], "y": 1}
    )
    view = make_view(results=[make_case("odd", ["contains"], [{"contains": odd}])])
    totals = replace(view.summary.totals, rate=float("inf"), interval=None)
    text = JsonReport().render(replace(view, summary=Summary(totals=totals)), cases=True)
    text.encode()
    made = json.loads(text, parse_constant=pytest.fail)
    assert made["totals"]["rate"] is None
    score = made["cases"][0]["attempts"][0]["scores"][0]
    assert score["detail"] == {"x": [None], "y": 1}
    assert score["reason"] == "half \ud800 中\u2028"


def test_breakdowns_can_be_chosen(make_view: Any) -> None:
    assert list(to_object(make_view(), ["type", "lang"])["groups"]) == ["type", "lang"]
    with pytest.raises(UsageError, match=r"no breakdown by 'land' \(there are: lang, type, metric"):
        to_object(make_view(), ["land"])


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("recorded", {"path": "a/b/gpt-4.jsonl"}, "gpt-4.jsonl"),
        ("recorded", {"path": "a/gpt-4/"}, "gpt-4"),
        ("openai", {"model": "gpt-4o", "path": "x"}, "openai:gpt-4o"),
        ("function", {"name": "mine"}, "mine"),
        ("echo", {}, "echo"),
    ],
)
def test_candidate(make_view: Any, name: str, params: dict[str, str], expected: str) -> None:
    view = make_view()
    run = replace(view.run, candidate=Spec(name=name, params=params))
    assert to_object(replace(view, run=run))["run"]["candidate"] == expected


def test_texts_of_strangers_are_left_out_with_their_keys_in_place(make_view: Any) -> None:
    view = make_view()
    whole = json.loads(JsonReport().render(view, cases=True))
    silent = json.loads(JsonReport(texts=False).render(view, cases=True))
    assert silent["cases"][0]["attempts"][0]["scores"][0]["reason"] is None
    assert silent == to_object(view, cases=True, texts=False)

    def keys(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: keys(inner) for key, inner in value.items()}
        return [keys(one) for one in value] if isinstance(value, list) and value else None

    assert keys(silent["cases"][0]) == keys(whole["cases"][0])
    names = ("id", "status", "value", "full", "tags")
    for case, other in zip(silent["cases"], whole["cases"], strict=True):
        assert [case[name] for name in names] == [other[name] for name in names]
    text = json.dumps(silent["cases"])
    for words in ("connection refused", "no sandbox", "1 of 2 keywords", "match rate too low"):
        assert words in json.dumps(whole["cases"])
        assert words not in text
    assert silent["totals"] == whole["totals"]


@pytest.mark.parametrize(
    ("whole", "left"),
    [
        ({"id": "a", "output": "x", "value": 1.0}, {"id": "a", "output": None, "value": 1.0}),
        ({"tags": {"t": "x"}, "why": ["x", "y"]}, {"tags": {"t": "x"}, "why": []}),
        (
            {"messages": [{"role": "user", "content": "x"}], "spans": [[1, 2]]},
            {"messages": [{"role": "user", "content": None}], "spans": [[1, 2]]},
        ),
    ],
)
def test_what_is_left_without_texts(whole: dict[str, Any], left: dict[str, Any]) -> None:
    assert without_texts(whole) == left
