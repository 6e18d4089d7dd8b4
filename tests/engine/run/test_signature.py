"""The signature of a run: what may move its numbers is in it, and what may not is not."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.core.run import Run, Signature, Summary, Totals
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.signature import MOST_SHOWN, signature
from proctor.version import __version__

EXACT = Criterion(id="e", scorer=Spec(name="exact_match"))
JUDGED = Criterion(id="j", scorer=Spec(name="judged", params={"question": "Good?"}))
TOTALS = Totals(
    score=1.0,
    full=2.0,
    rate=0.5,
    spread=0.0,
    interval=None,
    cases=2,
    attempts=3,
    unanswered=0,
    unscored=0,
    errors=0,
    cases_unscored=0,
    bounds=None,
)
RUN = Run(id="i", name="n", suite="s", suite_key="abcdefghij", candidate=Spec(name="model"))


def suite(*criteria: Criterion, **more: Any) -> Suite:
    message = Message(role="user", content="?")
    case = Case(id="c", messages=(message,), criteria=criteria or (EXACT,))
    return Suite(name="s", cases=(case,), **more)


def signed(of: Suite | None = None, *, run: Run = RUN, totals: Totals = TOTALS) -> Signature:
    return signature(run, of or suite(), Summary(totals=totals), Scorers())


def test_the_line_has_what_a_plain_run_needs() -> None:
    version = Scorers().version(EXACT.scorer)
    assert signed() == (
        f"suite:s@abcdefgh|dialect:native|scorers:exact_match-{version}"
        f"|reduce:avg|attempts:3|n:2|ci:bounded95|version:{__version__}"
    )


@pytest.mark.parametrize(
    ("settings", "part", "text"),
    [
        ({"interval": "bootstrap"}, "ci", "bootstrap95"),
        ({"judges": [{"model": "openai:j@http://h/v1"}]}, "judge", "openai:j"),
        ({"judges": [{"model": "a"}, {"model": "b"}], "repeats": 3}, "judge", "a,b,x3"),
        ({"combine": "median", "tie": "half"}, "panel", "median,tie=half"),
        ({"tie": "half"}, "panel", "tie=half"),
        ({"simulator": {"model": "openai:u@http://h"}}, "simulator", "openai:u"),
        ({"refused": {"m": {"seed": ""}}}, "refused", "m seed"),
    ],
)
def test_every_setting_that_may_move_the_number_is_a_part(
    settings: dict[str, Any], part: str, text: str
) -> None:
    plain, other = signed().parts, signed(run=replace(RUN, settings=settings)).parts
    assert other[part] == text
    assert {name for name in other if other.get(name) != plain.get(name)} == {part}


def test_sampling_is_in_the_order_of_its_names() -> None:
    candidate = Spec(name="model", params={"sampling": {"top_p": 0.5, "temperature": 1.0}})
    parts = signed(run=replace(RUN, candidate=candidate)).parts
    assert parts["sampling"] == "temperature=1.0,top_p=0.5"


def test_what_is_missing_is_counted_only_where_something_is() -> None:
    parts = signed(totals=replace(TOTALS, unanswered=1, unscored=2)).parts
    assert (parts["unanswered"], parts["unscored"]) == ("1", "2")
    assert not {"unanswered", "unscored"} & signed().parts.keys()


def test_prompts_count_where_a_judge_was_asked() -> None:
    asked = replace(RUN, settings={"judges": [{"model": "j"}]})
    assert "prompts" not in signed(suite(JUDGED)).parts
    english = signed(suite(JUDGED), run=asked).parts["prompts"]
    chinese = signed(suite(JUDGED, language="zh"), run=asked).parts["prompts"]
    assert len(english) == len(chinese) == 8
    assert english != chinese
    assert "prompts" not in signed(suite(EXACT), run=asked).parts


def test_a_scorer_that_is_not_here_has_no_version() -> None:
    gone = Criterion(id="g", scorer=Spec(name="gone"))
    assert signed(suite(EXACT, gone)).scorers["gone"] == "?"


@pytest.mark.parametrize(
    ("tools", "shown"),
    [("gcc|13,x", "+gcc/13;x"), ("x" * MOST_SHOWN, "+" + "x" * MOST_SHOWN), ("x" * 61, "+8")],
)
def test_a_toolchain_cannot_break_the_line(
    monkeypatch: pytest.MonkeyPatch, tools: str, shown: str
) -> None:
    scorers = Scorers()
    scorer = type(scorers.built(EXACT.scorer))
    monkeypatch.setattr(scorer, "toolchain", lambda _: tools)
    version = signature(RUN, suite(), Summary(totals=TOTALS), scorers).scorers["exact_match"]
    after = version.partition("+")[2]
    assert f"+{len(after) if len(tools) > MOST_SHOWN else after}" == shown
