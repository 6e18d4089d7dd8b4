"""Runs of everything for the tests of parts, and all that can be read of them."""

from dataclasses import replace

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.fingerprint import answer_key, case_key, suite_key
from proctor.core.fold import parse_fold
from proctor.core.run import Run
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.store.rows import LinkedCase, ResultRow, RunAttempt, SortKeys
from proctor.store.store import Store

AWKWARD = "a\x00b\ud800c\x10d"
SIZE = 23


def case_at(place: int) -> Case:
    return Case(
        id=AWKWARD if place == 11 else f"c{place}",
        messages=(Message(role="user", content=f"{place}?" + " " * (place * 3 % 7)),),
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
    first = replace(
        Attempt.of(case_id, f"answer {place}" + "!" * (place * 5 % 8 if place > 9 else 0)),
        seconds=None if place % 7 == 3 else place * 3 % 10 / 4,
        usage={"candidate": {"prompt_tokens": place * 7 % 12, "cost": place % 5 / 100}}
        if place % 7 != 4
        else {},
    )
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
        sort_keys=sort_keys_at(place),
    )


def sort_keys_at(place: int) -> SortKeys:
    """Return what the engine writes for a case to sort it by."""
    from proctor.engine.run.aggregate import case_result, sort_keys

    keys = sort_keys(case_result(parse_fold("mean"), case_at(place), attempts_at(place)))
    return keys._replace(reason=None) if place >= 7 and place % 6 != 5 else keys


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


def everything(store: Store, run: Run) -> dict[str, object]:
    """Return all that readers of a run give, without keys of scores."""
    some = [0, 3, 5, 11, 22, 99]
    ids = ["c0", "c7", AWKWARD, "none"]
    results, points, attempts = store.results, store.criterion_points, store.attempts
    return {
        "cases": [without_keys(one) for one in attempts.iter_cases(run.id)],
        "after": [without_keys(one) for one in attempts.iter_cases(run.id, after=8)],
        "keys": [[one.attempt_key for one in keys] for keys in attempts.iter_keys(run.id)],
        "scored": [[set(one.score_keys) for one in keys] for keys in attempts.iter_keys(run.id)],
        "case": [without_keys(attempts.case(run.id, name)) for name in ids[:3]],
        "cases_at": [without_keys(one) for one in attempts.cases_at(run.id, [7, 2, 99, 11])],
        "attempts": attempts.count(run.id),
        "seconds": attempts.seconds_at(run.id, [0, 3, 4, 5, 8, 11, 99]),
        "scores": store.scores.count(run.id),
        "rows": list(results.iter_rows(run.id)),
        "some rows": list(results.iter_rows(run.id, after=3, limit=4)),
        "tagged": list(results.iter_rows(run.id, tag=("third", "b"))),
        "tagged after": list(results.iter_rows(run.id, tag=("odd", "1"), after=4, limit=3)),
        "untagged": list(results.iter_rows(run.id, tag=("odd", "7"))),
        "count": results.count(run.id),
        "tags": results.tags_of(run.id, ids),
        "values": results.values_of(run.id, [*ids, "c5"]),
        "last": results.last_position(run.id),
        "ids": results.ids_at(run.id, some),
        "clusters": results.clusters_of(run.id, some),
        "clusters among": results.clusters_among(run.id, ids),
        "neighbours": [results.neighbours(run.id, place) for place in (0, 11, 12, 22)],
        "suite": store.suites.get(run.suite_key),
        "suite cases": list(store.suites.iter_cases(run.suite_key)),
        "suite page": list(store.suites.iter_cases(run.suite_key, after=3, limit=5)),
        "case keys": store.suites.case_keys(run.suite_key, ids),
        "places": points.places(run.id, ids),
        "sample": points.sample_places(run.id, 5),
        "points": sorted(points.of_places(run.id, "k", some)),
        "panels": sorted(points.panels(run.id, 100)),
        "divided": sorted(points.divided(run.id)),
    }


def without_keys(linked: LinkedCase) -> LinkedCase:
    return linked._replace(keys=())
