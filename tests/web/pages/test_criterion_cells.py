"""What a criterion gave a case, as a cell: shares over attempts, ratings, penalties, failures."""

from dataclasses import replace
from pathlib import Path

import pytest

from proctor.core.attempt import Attempt
from proctor.core.run import Run
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.store.store import Store
from proctor.web.pages.criterion_cells import (
    MOST,
    CriterionCell,
    cells_of,
    criteria_of,
    criterion_of,
    failing,
    penalties_in,
)


def cell(*scores: Score | None, weight: float = 1.0) -> CriterionCell:
    criterion = Criterion(id="k", weight=weight, scorer=Spec(name="judged"))
    case = Case(id="c", messages=(Message(role="user", content="?"),), criteria=(criterion,))
    pairs = [
        (replace(Attempt.of("c", "x"), index=n), {} if score is None else {"k": score})
        for n, score in enumerate(scores)
    ]
    return cells_of(case_result(fold_of(Suite(name="s", cases=())), case, pairs))["k"]


def scored(points: float, out_of: float | None = 1.0) -> Score:
    return Score(points=points, out_of=out_of, reason="so")


@pytest.mark.parametrize(
    ("scores", "weight", "wanted"),
    [
        ([scored(1)], 1.0, (1.0, "good", False, False)),
        ([scored(1, 2), scored(2, 2)], 1.0, (0.75, "warn", False, False)),
        ([scored(0), scored(0)], 1.0, (0.0, "bad", False, False)),
        ([scored(0)], -1.0, (0.0, "good", False, True)),
        ([scored(0), scored(1)], -1.0, (0.5, "bad", False, True)),
        ([scored(4, None), scored(3, None)], 0.0, (3.5, "plain", True, False)),
        ([Score.failed("no", out_of=1.0)], 1.0, (None, "none", False, False)),
        ([Score.failed("no", out_of=1.0), scored(1)], 1.0, (1.0, "good", False, False)),
        ([None], 1.0, (None, "plain", False, False)),
    ],
)
def test_cells(
    scores: list[Score | None], weight: float, wanted: tuple[float | None, str, bool, bool]
) -> None:
    made = cell(*scores, weight=weight)
    assert (made.value, made.kind, made.rating, made.penalty) == wanted


def test_names_of_columns_and_expressions() -> None:
    assert criterion_of("criterion:a:b") == "a:b"
    assert criterion_of("question") == ""
    assert failing("it's") == 'failed == "it\'s"'
    shown = [{"a": cell(scored(1)), "b": cell(scored(1))}]
    assert criteria_of(shown, ["b", "c"]) == ["b", "c", "a"]
    assert len(criteria_of(shown, [str(n) for n in range(99)])) == MOST


def test_penalties_are_looked_for_where_an_expression_asks(tmp_path: Path) -> None:
    spec = Spec(name="judged")
    criteria = (Criterion(id="ok", scorer=spec), Criterion(id="rude", scorer=spec, weight=-1.0))
    case = Case(id="c", messages=(Message(role="user", content="?"),), criteria=criteria)
    run = Run(id="r", name="r", suite="s", suite_key="k", candidate=spec)
    with Store.open(str(tmp_path / "p.db")) as store:
        store.suites.put(Suite(name="s", cases=(case,)), "k", [("c1", case)])
        assert penalties_in(store, run, "failed == 'rude'") == {"rude"}
        assert penalties_in(store, run, "id == 'failed'") == frozenset()
