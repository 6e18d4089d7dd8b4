"""The marks of turns in JSON, and TaskWeaver's CSV, with the arithmetic of the original."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import unanswered
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.rounds import Round, scored_part
from proctor.core.run import CaseResult
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.origins.taskweaver.layout import rows_of, table, written
from proctor.registry import build
from proctor.reports.structured import case_object

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "taskweaver" / "replies.json"
THRESHOLDS = json.loads(GOLDEN.read_text(encoding="utf-8"))["threshold"]
POINTS = [(0, 1.0), (0, 1.0), (0, 1.0), (1, 2.0), (1, 0.5)]
HITS = [1.0, 1.0, 0.0, 0.0, 1.0]


def held(
    turns: int,
    *,
    failed: str = "",
    status: str = "answered",
    points: list[tuple[int | None, float]] | None = None,
    hits: list[float | None] | None = None,
    case_id: str = "case.yaml",
) -> CaseResult:
    """Return a case of which some turns were reached, judged as a run judges it."""
    criteria = tuple(
        Criterion(id=f"p{place}", scorer=Spec(name="contains", params={"texts": "x"}),
                  weight=weight, turn=turn)
        for place, (turn, weight) in enumerate(points or POINTS)
    )  # fmt: skip
    asked = Message(role="user", content="q1")
    case = Case(id=case_id, messages=(asked,), criteria=criteria)
    rounds, said = [], []
    for turn in range(turns):
        if turn:
            said.append(Message(role="user", content=f"q{turn + 1}"))
        broke = failed and turn == turns - 1
        made = Round.failed("q", failed) if broke else Round.of("q", "a")
        rounds.append(made.to_json())
        if not broke:
            said.append(Message(role="assistant", content="a"))
    notes = {"rounds": rounds} if rounds else {}
    attempt = Attempt(
        case_id=case_id, messages=tuple(said), status=AttemptStatus(status), notes=notes
    )
    scores = {}
    scorer = build("scorer", Spec(name="contains", params={"texts": "x"}))
    for criterion, hit in zip(criteria, hits or HITS, strict=True):
        part = scored_part(criterion, attempt)
        lost = unanswered(scorer, ScoreContext(case=case, attempt=part))
        judged = Score.failed("no verdict", out_of=1.0) if hit is None else None
        scores[criterion.id] = lost or judged or Score(points=hit, out_of=1.0)
    if status != "answered":
        scores = {}
    return case_result(fold_of(Suite(name="s", cases=())), case, [(attempt, scores)])


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_two_turns_as_in_the_original() -> None:
    columns, found = table(iter([held(2)]))
    assert written(columns, found) == (
        "case_file,round,score,normalized_score\n"
        "case.yaml,0,2,0.6666666666666666\n"
        "case.yaml,1,0.5,0.2\n"
    )


@pytest.mark.parametrize("row", THRESHOLDS, ids=[str(row["threshold"]) for row in THRESHOLDS])
def test_turns_that_were_not_reached_have_no_row(row: Any) -> None:
    found = rows_of(held(len(row["score_list"])))
    numbers = [[int(r["round"]), float(r["score"]), float(r["normalized_score"])] for r in found]
    assert numbers == row["score_list"]


UNUSUAL: list[tuple[CaseResult, list[tuple[str, str, str]]]] = [
    (held(2, failed="x"), [("0", "2", "0.6666666666666666"), ("1", "0", "0.0")]),
    (held(1, failed="x"), [("0", "0", "0.0")]),
    (held(0, status="unanswered"), [("0", "0", "0.0")]),
    (held(1, status="stopped"), []),
    (held(0, status="error"), []),
    (held(2, hits=[1.0, 1.0, 0.0, None, 1.0]), []),
    (held(1, hits=[1.0, None, 0.0, 1.0, 1.0]), []),
    (held(2, points=[(1, 1.0)], hits=[1.0]), [("1", "1", "1.0")]),
    (held(2, points=[(None, 1.0), (None, 2.0), (None, 0.5)], hits=[1.0, 0.0, 1.0]),
     [("", "1.5", "0.42857142857142855")]),
    (held(1, points=[(None, 1.0), (None, 1.0)], hits=[1.0, 1.0]), [("", "2", "1.0")]),
    (held(1, points=[(None, 1.0), (None, 1.0)], hits=[1.0, None]), []),
    (held(2, failed="x", points=[(None, 1.0)], hits=[1.0]), [("", "0", "0.0")]),
]  # fmt: skip


@pytest.mark.parametrize(("result", "wanted"), UNUSUAL)
def test_what_has_rows(result: CaseResult, wanted: list[tuple[str, str, str]]) -> None:
    found = [(r["round"], r["score"], r["normalized_score"]) for r in rows_of(result)]
    assert found == wanted


def test_the_newer_generation_has_no_rounds() -> None:
    result = held(1, points=[(None, 1.0)], hits=[1.0], case_id="001")
    columns, found = table(iter([result]))
    text = written(columns, found)
    assert text == "case_file,score,normalized_score\n001,1,1.0\n"
    assert rows(text)[0]["case_file"] == "001"


def test_turns_in_json() -> None:
    (attempt,) = case_object(held(1))["attempts"]
    assert attempt["turns"] == [
        {"turn": 1, "score": 2.0, "normalized": pytest.approx(2 / 3), "status": "scored"},
        {"turn": 2, "score": 0.0, "normalized": 0.0, "status": "not_reached"},
    ]
    (attempt,) = case_object(held(2, failed="x"))["attempts"]
    assert [turn["status"] for turn in attempt["turns"]] == ["scored", "agent_failure"]
    (attempt,) = case_object(held(2, hits=[None, 1.0, 0.0, 1.0, 1.0]))["attempts"]
    assert attempt["turns"][0] == {
        "turn": 1, "score": None, "normalized": None, "status": "unscored",
    }  # fmt: skip
    assert "turns" not in case_object(held(1, points=[(None, 1.0)], hits=[1.0]))["attempts"][0]
