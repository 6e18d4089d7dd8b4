"""Scorers that need no process: quick and sure to end, whatever a candidate writes."""

from functools import cache
from typing import Any

import pytest

from fuzzing import within
from level import LEVEL
from proctor import ScoreContext, Scorer, Spec
from proctor.contracts.scoring import run_scorer
from proctor.core.score import ScoreStatus
from proctor.registry import BUILT_IN, build, find

PARAMS: dict[str, dict[str, Any]] = {
    "blanks": {"template": "a[blank]b[blank][blank]", "targets": ["x", "y", "z"]},
    "contains": {"texts": ["ab", "x" * 20 + "b"], "ignore_case": True},
    "keywords": {"rules": ["ab", {"text": "a" * 19 + "b", "ignore_case": True}]},
    "json_equal": {"value": {"a": [1, {"b": "x"}]}},
    "json_schema": {"schema": {"type": "object", "required": ["a"]}},
    "language": {"language": "en"},
    "number": {"value": 1},
}
NOT_BY_TEXT = {
    "cost", "files_changed", "imported", "instructions", "latency", "noted", "retrieval",
    "skill_used", "tool_calls",
}  # fmt: skip
"""What looks at something else than answer and references, or at what a case must have besides."""
INSTANT = sorted(
    name
    for name in BUILT_IN["scorer"]
    if getattr(find("scorer", name), "instant", False) and name not in NOT_BY_TEXT
)
PATTERNS = {
    "digits": "9",
    "thousands": "1,234",
    "half thousands": ",234,",
    "exponents": "1e-",
    "decimals": "1.",
    "spaces": " ",
    "spaces between": "a" + " " * 99,
    "open brackets": "([{",
    "nested quotes": "«„",
    "closing marks": "ab.!",
    "marks": ".!",
    "loud": "!",
    "quotes": '"',
    "stars": "*",
    "letters": "a",
    "capitals": "A ",
    "lines": "a\n",
    "empty lines": "\n",
    "Chinese": "今",
    "mixed": "今a",
    "kana": "か",
    "emoji": "😀",
    "accents": "\u0301",
    "ligatures": "\ufdfa",
    "surrogates": "\ud800",
    "nul": "\0",
    "full stops": "。",
}


@cache
def hostile(length: int) -> dict[str, str]:
    texts = {name: (text * length)[:length] for name, text in PATTERNS.items()}
    half = length // 2
    return texts | {
        "nested brackets": "[" * half + "]" * half,
        "nested pairs": "«„" * (half // 2) + "x" + '"»' * (half // 2),
        "one word and marks": "ab" + ".!" * half,
        "many words": " ".join(map(str, range(length // 7))),
        "thousands without end": "1" + ",234" * (length // 4) + ",",
    }


def instant_scorers() -> list[Scorer]:
    return [build("scorer", Spec(name=name, params=PARAMS.get(name, {}))) for name in INSTANT]


def test_quick_scorers_are_known_to_be() -> None:
    wanted = {"blanks", "contains", "exact_match", "keywords", "number", "rouge", "token_f1"}
    assert wanted < set(INSTANT)
    assert all(scorer.is_instant for scorer in instant_scorers())


@pytest.mark.scaled
@pytest.mark.parametrize("scorer", instant_scorers(), ids=lambda scorer: type(scorer).__name__)
def test_whatever_is_written_is_scored_soon(scorer: Scorer) -> None:
    length = min(LEVEL.of(quick=1_000, ci=50_000, full=950_000), scorer.instant_length - 2_000)
    for name, text in hostile(length).items():
        for reference in ("a b", text[:1000]):
            if scorer.takes_long(text, (reference,)):
                continue
            ctx = ScoreContext.of(text, references=[reference])
            with within(30.0):
                score = run_scorer(scorer, ctx)
            assert score.status is ScoreStatus.SCORED or "no words" in score.reason, name


@pytest.mark.parametrize("scorer", instant_scorers(), ids=lambda scorer: type(scorer).__name__)
def test_longer_texts_go_where_scoring_can_be_killed(scorer: Scorer) -> None:
    too_long = "a" * (scorer.instant_length + 1)
    assert scorer.takes_long(too_long, ("a",))
    assert not scorer.takes_long("a", ("a",))


@pytest.mark.parametrize(
    ("output", "reference", "long"),
    [
        ("a " * 10_000, "a " * 10_000, False),
        ("a " * 11_000, "a " * 10_000, True),
        ("a\n" * 99, "a\n" * 99, False),
        ("a\n" * 101, "a\n" * 101, True),
        ("a " * 400_000, "a b", False),
    ],
)
def test_rouge_of_two_long_texts(output: str, reference: str, long: bool) -> None:
    assert build("scorer", Spec(name="rouge")).takes_long(output, (reference,)) is long
    own = build("scorer", Spec(name="rouge", params={"references": [reference]}))
    assert own.takes_long(output, ()) is long


def test_blanks_of_two_long_texts() -> None:
    params = {"template": "a" * 1000 + "[blank]", "targets": ["x"]}
    scorer = build("scorer", Spec(name="blanks", params=params))
    assert not scorer.takes_long("a" * 19_000, ())
    assert scorer.takes_long("a" * 20_000, ())
