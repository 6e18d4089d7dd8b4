"""Case results with a bit of everything that a measure looks at."""

import random
from typing import Any

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.fold import parse_fold
from proctor.core.run import CaseResult
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run.aggregate import case_result

LEXICAL = Spec(name="text_metrics", params={"metrics": ["bleu"]})
RATED = Spec(name="rating_metric", params={"metric": "relevance"})
CRITERIA = (
    Criterion(id="a", scorer=Spec(name="contains")),
    Criterion(id="b", scorer=Spec(name="judged"), weight=0.7),
    Criterion(id="minus", scorer=Spec(name="contains"), weight=-0.3),
    Criterion(id="shown", scorer=LEXICAL, weight=0),
)
MEASURES: list[tuple[str, dict[str, Any]]] = [
    *[(name, {}) for name in (
        "accuracy", "agent_failure_rate", "agreement", "ask_rate", "clarified",
        "clear_direct_rate", "cov_rate", "healthbench", "hit_rate", "kept_asking", "pass@1",
        "pass_rate", "reasons", "score", "truncation_rate", "unq_events", "unq_rate",
        "unreadable", "vague_ask_rate",
    )],
    *[(name, {"compat": "original"}) for name in (
        "accuracy", "ask_rate", "clear_direct_rate", "healthbench", "pass@1", "score",
        "unq_rate", "vague_ask_rate",
    )],
    ("accuracy", {"over": "attempts"}),
    ("accuracy", {"over": "rounds"}),
    ("accuracy", {"over": "rounds", "compat": "original"}),
    ("agreement", {"criterion": "b", "level": "interval"}),
    ("mean_points", {"criterion": "b"}),
    ("mean_points", {"criterion": "shown"}),
    ("named_metric", {"metric": "bleu1"}),
    ("named_metric", {"metric": "bleu2", "by": "lang", "unanswered": None}),
    ("pass@k", {"k": 2}),
    ("pass^k", {"k": 2}),
    ("pass_rate", {"threshold": 0.3}),
    ("retrieval", {}),
    ("retrieval", {"name": "ndcg", "k": 2}),
]  # fmt: skip
"""Every measure, with its origins' variants and with parameters that change what is summed."""


def random_results(count: int, seed: int = 0) -> list[CaseResult]:
    """Make so many results: the same ones for the same seed.

    The first has one attempt, no answer and no cluster: all else is in later ones alone.
    """
    draw, how = random.Random(seed), parse_fold("avg")
    return [_result(draw, how, place) for place in range(count)]


def _result(draw: random.Random, how: Any, place: int) -> CaseResult:
    case = Case(
        id=f"c{place}",
        messages=(Message(role="user", content="?"),),
        criteria=CRITERIA if draw.random() < 0.9 else CRITERIA[:3],
        weight=draw.choice([1.0, 1.0, 0.3]),
        full_score=draw.choice([1.0, 1.0, 5.0]),
        cluster=draw.choice(["", "", "", "q\ud800", f"p{draw.randrange(20)}"]) if place else "",
        tags={"category": (draw.choice("xyz"),), "lang": tuple(draw.sample("uvw", 2))},
        hidden={"relevant": ["a", "b"]},
    )
    if not place:
        return case_result(how, case, [(Attempt.of(case.id, None), {})])
    attempts = [_attempt(draw, case, index) for index in range(draw.choice([1, 1, 2, 3]))]
    return case_result(how, case, attempts)


def _attempt(draw: random.Random, case: Case, index: int) -> tuple[Attempt, dict[str, Score]]:
    status = draw.choice(
        [*[AttemptStatus.ANSWERED] * 6, AttemptStatus.UNANSWERED, AttemptStatus.STOPPED,
         AttemptStatus.ERROR]
    )  # fmt: skip
    attempt = Attempt(
        case_id=case.id,
        index=index,
        status=status,
        messages=(Message(role="assistant", content="x"),),
        notes=_notes(draw),
        meta={"retrieved": list("xaybz")[(len(case.id) + index + int(case.id[1:])) % 5 :]},
    )
    answered = status is AttemptStatus.ANSWERED
    return attempt, {c.id: _score(draw, c) for c in case.criteria} if answered else {}


def _notes(draw: random.Random) -> dict[str, Any]:
    if draw.random() < 0.1:
        return {}
    return {
        "asked": draw.random() < 0.5,
        "final": draw.random() < 0.8,
        "resolved": draw.choice([True, False, None]),
        "correct": draw.random() < 0.6,
        "redundant": draw.choice([0, 0, 1, 3]),
        "skipped": draw.random() < 0.1,
        "vague": draw.choice([True, False, None]),
        "reason": draw.choice(["", "Done", "JudgeJSONParseFailed", "FailedToAnswerOnLastTurn"]),
        "truncated": draw.random() < 0.2,
        "rounds": [{"state": draw.choice(["finished", "failed"])}],
    }


def _score(draw: random.Random, criterion: Criterion) -> Score:
    if draw.random() < 0.1:
        return Score.failed("broke", out_of=1.0)
    share = draw.choice([0.0, *[1.0] * 5, draw.random()])
    if criterion.weight < 0:
        share = draw.choice([0.0, 0.0, 0.0, 0.0, share])
    panel = [{"points": float(draw.random() < 0.7)} for _ in range(draw.choice([2, 3, 4]))]
    details: dict[str, dict[str, Any]] = {
        "b": {"panel": panel, "valid": draw.random() < 0.9},
        "shown": {"metrics": {"bleu1": draw.random(), "bleu2": draw.random()}},
    }
    out_of = None if criterion.id == "shown" else draw.choice([1.0, 1.0, 3.0])
    points = share * (out_of or 1.0)
    return Score(points=points, out_of=out_of, detail=details.get(criterion.id))
