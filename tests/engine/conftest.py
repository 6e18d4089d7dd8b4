"""What the tests of the engine share: a store of their own, no keys, a server that keeps headers."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.exchange import Request, Sampling
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.run import Run
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.evaluate import finish
from proctor.store.rows import RunAttempt
from proctor.store.store import Store
from proctor.testing import FakeServer


@dataclass
class Listener(FakeServer):
    """Be a fake server that also keeps the headers of what is posted."""

    headers: list[dict[str, str]] = field(default_factory=list)

    def serve(self, incoming: Any, connection: Any) -> None:
        if incoming.method == "POST":
            self.headers.append(dict(incoming.headers))
        super().serve(incoming, connection)


@pytest.fixture
def listener() -> Callable[..., Listener]:
    return Listener


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "proctor.db")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_", "PROCTOR_")) or "proxy" in name.lower():
            monkeypatch.delenv(name)


@pytest.fixture
def ask() -> Callable[..., Request]:
    def make(text: str = "What?", *, salt: str = "", **sampling: Any) -> Request:
        message = Message(role="user", content=text)
        return Request(messages=(message,), sampling=Sampling(**sampling), salt=salt)

    return make


def put_scored_run(
    store: Store,
    name: str,
    points: Sequence[Sequence[float | None]],
    *,
    outputs: Callable[[int, int], str] = lambda place, index: f"answer {index} to {place}",
    **more: Any,
) -> Run:
    """Store a finished run: of each case the points of its attempts, none for unscored.

    ``more`` may have ``scorer``, ``out_of``, ``asks`` (place to question), ``detail`` (place, index
    to a score's detail), ``suite``, ``reduce``, ``weights``, ``clusters`` (place to name) and
    ``references``.
    """
    scorer = more.get("scorer", Spec(name="judged", params={"question": "Is it right?"}))
    asks = more.get("asks", lambda place: f"question {place}?")
    cases = tuple(
        Case(
            id=f"c{place}",
            messages=(Message(role="user", content=asks(place)),),
            criteria=(Criterion(id="fits", scorer=scorer),),
            references=more.get("references", lambda _: ())(place),
            weight=more["weights"][place] if "weights" in more else 1.0,
            cluster=more.get("clusters", lambda _: "")(place),
        )
        for place in range(len(points))
    )
    suite = Suite(name=more.get("suite", "quiz"), cases=cases, reduce=more.get("reduce", "avg"))
    keyed = [(case_key(case), case) for case in cases]
    key = suite_key(suite, [one for one, _ in keyed])
    store.suites.put(suite, key, keyed)
    candidate = Spec(name="recorded", params={"name": name})
    run = Run(id=name, name=name, suite=suite.name, suite_key=key, candidate=candidate)
    store.runs.save(run)
    out_of = more.get("out_of", 1.0)
    detail = more.get("detail", lambda place, index: {"raw": ["a reply"]})
    rows: list[RunAttempt] = []
    attempts, scores = [], []
    for place, given in enumerate(points):
        for index, value in enumerate(given):
            attempt = Attempt.of(f"c{place}", outputs(place, index), index=index)
            score = Score.failed("no verdict", out_of=out_of)
            if value is not None:
                score = Score(points=value, out_of=out_of, detail=detail(place, index))
            keys = (f"{name} {place} {index}", f"{name} {place} {index} score")
            attempts.append((keys[0], attempt))
            scores.append((keys[1], scorer.name, score))
            rows.append(
                RunAttempt(
                    position=place, index=index, attempt_key=keys[0], score_keys={"fits": keys[1]}
                )
            )
    store.attempts.put(attempts)
    store.scores.put(scores)
    store.attempts.link(run.id, rows)
    finish(store, run, suite, None)
    return store.runs.get(run.id)


@pytest.fixture
def put_scored() -> Callable[..., Run]:
    return put_scored_run
