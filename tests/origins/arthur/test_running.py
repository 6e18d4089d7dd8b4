"""Scoring outputs: options checked, what a scorer is shown, and nothing scored at all."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.core.suite import Case, Message
from proctor.origins.arthur.errors import InternalError, UserValueError
from proctor.origins.arthur.own_scorers import OwnScorer
from proctor.origins.arthur.running import ScoringRequest, _refuse_nothing, _row

CASE = Case(
    id="c",
    messages=(Message(role="user", content="q"),),
    criteria=(),
    references=("r", "s"),
    context=("of", "case"),
)


def request(**more: Any) -> ScoringRequest:
    return ScoringRequest(**{"name": "run", "metadata": {}, "save": False, "batch_size": 1, **more})


def test_the_candidate_is_called_as_the_metadata_say() -> None:
    assert request().candidate.params == {"name": "run"}
    named = request(metadata={"model_name": "m", "model_version": "1"}).candidate
    assert named.params == {"name": "m", "model_name": "m", "model_version": "1"}
    with pytest.raises(UserValueError, match="batch_size must be at least 1"):
        request(batch_size=0)


def test_a_scorer_is_shown_the_passages_of_the_attempt_before_those_of_the_case() -> None:
    row = _row(CASE, Attempt.of("c", "a"))
    assert (row.candidate, row.reference, row.input, row.context) == ("a", "r", "q", "of\n\ncase")
    noted = replace(Attempt.of("c", "a"), notes={"context": ["own"]})
    assert _row(CASE, noted).context == "own"
    bare = _row(replace(CASE, references=(), context=()), Attempt.of("c", "a"))
    assert (bare.reference, bare.context) == (None, None)


def test_a_scorer_that_scores_nothing_at_all_is_an_error() -> None:
    scorer = OwnScorer.of(lambda **_: 1.0)
    lost, good = Score.failed("broke"), Score(points=1.0, out_of=1.0)
    _refuse_nothing(scorer, [])
    _refuse_nothing(scorer, [lost, good])
    with pytest.raises(InternalError, match="no output could be scored: broke"):
        _refuse_nothing(scorer, [lost, lost])
