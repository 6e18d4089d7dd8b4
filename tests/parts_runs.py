"""Runs of everything for the tests of parts, in rows."""

from dataclasses import replace

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.fingerprint import answer_key, case_key, suite_key
from proctor.core.run import Run
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.store.rows import ResultRow, RunAttempt
from proctor.store.store import Store

AWKWARD = "a\x00b\ud800c\x10d"
SIZE = 23


def case_at(place: int) -> Case:
    return Case(
        id=AWKWARD if place == 11 else f"c{place}",
        messages=(Message(role="user", content=f"{place}?"),),
        criteria=(
            Criterion(id="k", scorer=Spec(name="contains", params={"text": "x"})),
            Criterion(id="j", scorer=Spec(name="judged"), weight=0.5),
        ),
        tags={"odd": (str(place % 2),), **({"third": ("a", "b")} if place % 3 == 0 else {})},
        source=f"quiz.yaml:{place}",
        cluster=f"g{place // 4}" if place % 5 else "",
    )


def attempts_at(place: int) -> list[tuple[Attempt, dict[str, Score]]]:
    case_id = case_at(place).id
    scored = {"k": Score(points=place / 7, out_of=1.0, reason="why", detail={"n": place})}
    votes = [{"points": 1.0}, {"points": float(place % 2)}]
    judged = {**scored, "j": Score(points=0.5, out_of=2.0, detail={"panel": votes})}
    if place % 6 == 5:
        return [(Attempt(case_id=case_id, status=AttemptStatus.ERROR, error="gone"), {})]
    first = Attempt.of(case_id, f"answer {place}")
    failed = {"k": Score.failed("no", out_of=1.0), "j": Score(status=ScoreStatus.NOT_APPLICABLE)}
    more = [(replace(first, index=1, meta={"seed": place}), failed)] if place % 4 == 0 else []
    return [(first, judged), *more, (Attempt.of(case_id, None, index=2), {})]


def result_at(place: int) -> ResultRow:
    return ResultRow(
        position=place,
        case_id=case_at(place).id,
        status=ValueStatus.SCORED if place % 6 != 5 else ValueStatus.ERROR,
        value=None if place % 6 == 5 else place / 7,
        full=1.0,
        weight=2.0,
        low=0.0,
        high=1.0,
        spread=0.125 * place,
        tags=case_at(place).tags,
        cluster=case_at(place).cluster,
    )


def put_run(store: Store, name: str = "r1", size: int = SIZE) -> Run:
    """Store a run of everything in rows."""
    cases = [case_at(place) for place in range(size)]
    keys = [case_key(case) for case in cases]
    suite = Suite(name="quiz", cases=tuple(cases))
    key = suite_key(suite, keys)
    store.suites.put(suite, key, list(zip(keys, cases, strict=True)))
    run = Run(
        id=name, name=name, suite="quiz", suite_key=key, candidate=Spec(name="answers"), started=1.0
    )
    store.runs.save(run)
    for place, case in enumerate(cases):
        for attempt, scores in attempts_at(place):
            link = {
                criterion: f"{name}-{place}-{attempt.index}-{criterion}" for criterion in scores
            }
            store.attempts.put([(answer_key(case, attempt), attempt)])
            store.scores.put((link[one], one, score) for one, score in scores.items())
            row = RunAttempt(
                position=place,
                index=attempt.index,
                attempt_key=answer_key(case, attempt),
                score_keys=link,
            )
            store.attempts.link(name, [row])
    store.results.put(name, [result_at(place) for place in range(size)])
    store.summaries.save(name, {"totals": {}})
    return run
