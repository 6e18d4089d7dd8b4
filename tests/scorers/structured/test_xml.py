"""Answers in XML: parts of them, equality, and what is refused."""

from typing import Any

import pytest

from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.core.score import ScoreStatus
from proctor.core.suite import Spec
from proctor.testing import try_scorer

ORDER = '<order id="3"><item><name>Tea</name></item><item><name>Milk</name></item></order>'
BOMB = '<!DOCTYPE b [<!ENTITY a "ha"><!ENTITY c "&a;&a;&a;&a;&a;&a;">]><b>&c;</b>'
ROWS: list[tuple[str, dict[str, Any], float]] = [
    (ORDER, {}, 1),
    (f'<?xml version="1.0" encoding="latin-1"?>\n{ORDER}', {}, 1),
    ("<a>", {}, 0),
    ("<a></b>", {}, 0),
    ("text", {}, 0),
    ("", {}, 0),
    (f"```xml\n{ORDER}\n```", {}, 1),
    (f"```xml\n{ORDER}\n```", {"whole": True}, 0),
    (f"Here: {ORDER} Done.", {}, 1),
    (f"Here: {ORDER} Done.", {"whole": True}, 0),
    (ORDER, {"whole": True}, 1),
    (ORDER, {"root": "order"}, 1),
    (ORDER, {"root": "invoice"}, 0),
    (ORDER, {"has": ["item/name"]}, 1),
    (ORDER, {"has": ["item/price"]}, 0),
    (ORDER, {"has": [".//name"]}, 1),
    (ORDER, {"values": {"item/name": "Milk"}}, 1),
    (ORDER, {"values": {"item/name": "Rum"}}, 0),
    (ORDER, {"values": {"price": "3"}}, 0),
    (ORDER, {"root": "order", "values": {"item/name": "Rum"}, "partial": True}, 0.5),
    (ORDER, {"root": "order", "values": {"item/name": "Rum"}, "partial": False}, 0),
    (ORDER, {"has": ["a", "b", "item"], "partial": True}, 1 / 3),
    ("no", {"has": ["a"], "partial": True}, 0),
    (BOMB, {}, 0),
    ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>', {}, 0),
    ("<x>&other;</x>", {}, 0),
    ("<a>" * 500 + "</a>" * 500, {}, 0),
]


def scorer(**params: Any) -> Any:
    return registry.build("scorer", Spec(name="xml", params=params))


@pytest.mark.parametrize(("text", "how", "points"), ROWS)
def test_points(text: str, how: dict[str, Any], points: float) -> None:
    assert list(scorer(**how).problems()) == []
    score = try_scorer(scorer(**how), ScoreContext.of(text))
    assert score.points == pytest.approx(points)
    assert score.reason


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("<a x='1' y='2'><b>t</b></a>", 1),
        ('<a y="2" x="1">\n  <b>t</b>\n</a>', 1),
        ("<a x='1' y='2'><b>u</b></a>", 0),
        ("<a x='1'><b>t</b></a>", 0),
    ],
)
def test_equality_with_a_reference(text: str, points: float) -> None:
    ctx = ScoreContext.of(text, references=["<z/>", '<a x="1" y="2"><b>t</b></a>'])
    assert try_scorer(scorer(equal=True), ctx).points == points


@pytest.mark.parametrize("references", [[], ["<broken"]])
def test_without_a_reference_equality_is_unscored(references: list[str]) -> None:
    ctx = ScoreContext.of("<a/>", references=references)
    assert try_scorer(scorer(equal=True), ctx).status is ScoreStatus.FAILED
    assert try_scorer(scorer(equal=False), ctx).points == 1


def test_a_path_that_cannot_be_followed_is_a_problem() -> None:
    (problem,) = scorer(has=["a[", "b"]).problems()
    assert "'a['" in problem
