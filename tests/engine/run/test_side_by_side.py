"""Several candidates at once: lanes, one budget, shared calls, and what one's failure does."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Sampling
from proctor.engine.run.evaluate import Outcome, RunProgress
from proctor.engine.run.settings import CallSettings, JudgeSettings, RunSettings, SuiteSettings
from proctor.engine.run.side_by_side import evaluate_side_by_side, lanes_of
from proctor.errors import ProctorError
from proctor.store.store import Store
from proctor.testing import FakeServer

SUITE = """\
name: s
prompts: {plain: "{{question}}", kind: "Please: {{question}}"}
cases:
  - {id: a, vars: {question: one}, reference: one}
  - {id: b, vars: {question: two}, reference: two}
"""


def settings(folder: Path, model: str, **changes: Any) -> RunSettings:
    path = folder / "s.yaml"
    path.write_text(changes.pop("text", SUITE))
    choice = ModelChoice(spec=model, sampling=changes.pop("sampling", Sampling()))
    return RunSettings(suite=SuiteSettings(path=path), model=choice, **changes)


def evaluated(several: list[RunSettings], store: Store, **more: Any) -> list[Outcome]:
    return asyncio.run(evaluate_side_by_side(several, store, **more))


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(str(tmp_path / "proctor.db")) as opened:
        yield opened


def test_candidates_of_one_model_share_its_lane(tmp_path: Path) -> None:
    one, two = settings(tmp_path, "openai:a"), settings(tmp_path, "openai:b")
    warm = settings(tmp_path, "openai:a", sampling=Sampling(temperature=1.0))
    assert [[place for place, _ in lane] for lane in lanes_of([one, two, warm])] == [[0, 2], [1]]
    recorded = [
        settings(tmp_path, name, calls=CallSettings(record=tmp_path / "r"))
        for name in ("openai:a", "openai:b")
    ]
    assert len(lanes_of(recorded)) == 1


def test_candidates_of_one_name_get_names_of_their_own(tmp_path: Path, store: Store) -> None:
    with FakeServer(roles={"a": "one", "b": "two"}) as server:
        urls = [server.url_of(name) for name in ("a", "b")]
        several = [settings(tmp_path, f"openai:m@{url}", prompts=("plain",)) for url in urls]
        several.append(
            settings(
                tmp_path,
                f"openai:m@{urls[0]}",
                prompts=("plain",),
                sampling=Sampling(temperature=0.5),
            )
        )
        made = evaluated(several, store)
        again = evaluated(several, store)
    names = [outcome.view.run.name for outcome in made]
    ends = [url.removeprefix("http://") for url in urls]
    assert names == [
        f"s-openai:m+plain@{ends[0]}",
        f"s-openai:m+plain@{ends[1]}",
        f"s-openai:m+plain@{ends[0]},temperature=0.5",
    ]
    assert [outcome.view.run.id for outcome in again] == [outcome.view.run.id for outcome in made]
    assert [outcome.view.summary.totals.score for outcome in made] == [1.0, 1.0, 1.0]


def test_models_are_asked_at_the_same_time(tmp_path: Path, store: Store) -> None:
    told: list[RunProgress] = []
    with FakeServer(roles={"a": "one", "b": "two"}, latency=0.4) as server:
        several = [
            settings(tmp_path, f"openai:m{name}@{server.url_of(name)}", prompts=("kind", "plain"))
            for name in ("a", "b")
        ]
        outcomes = evaluated(several, store, progress=told.append)
    names = [outcome.view.candidate for outcome in outcomes]
    assert names == ["openai:ma+kind", "openai:ma+plain", "openai:mb+kind", "openai:mb+plain"]
    assert [outcome.view.summary.totals.rate for outcome in outcomes] == [0.5] * 4
    assert {one.phase.split()[0] for one in told} == {"openai:ma", "openai:mb"}
    first = {role: min(c.began for c in server.calls if c.role == role) for role in "ab"}
    last = {role: max(c.ended or 0 for c in server.calls if c.role == role) for role in "ab"}
    assert first["a"] < last["b"]
    assert first["b"] < last["a"]


def test_one_that_cannot_be_reached_does_not_stop_the_others(tmp_path: Path, store: Store) -> None:
    refused: list[tuple[str, ProctorError]] = []
    with FakeServer("one", key="k") as locked, FakeServer("one") as server:
        several = [
            settings(tmp_path, f"openai:locked@{locked.url}"),
            settings(tmp_path, f"openai:open@{server.url}"),
        ]
        outcomes = evaluated(
            several, store, refused=lambda name, error: refused.append((name, error))
        )
        assert [outcome.view.candidate for outcome in outcomes] == [
            "openai:open+plain",
            "openai:open+kind",
        ]
        assert [name for name, _ in refused] == ["openai:locked"]
        with pytest.raises(ProctorError):
            evaluated(several[:1], store, refused=lambda *_: None)


def test_a_verdict_that_two_candidates_need_is_bought_once(tmp_path: Path, store: Store) -> None:
    text = "name: s\ncases:\n  - {id: a, ask: one, criteria: {judged: Right}}\n"
    verdict = '{"reason": "as asked", "result": "yes"}'
    with FakeServer("same", roles={"judge": verdict}, latency=0.05) as server:
        judge = ModelChoice(spec=f"openai:j@{server.url_of('judge')}")
        several = [
            settings(
                tmp_path, f"openai:{name}@{server.url}", text=text,
                panel=JudgeSettings(judges=(judge,)),
            )
            for name in ("a", "b")
        ]  # fmt: skip
        evaluated(several, store)
        judged = [call for call in server.calls if call.role == "judge"]
    assert len(judged) == 1


def test_one_budget_for_all(tmp_path: Path, store: Store) -> None:
    calls = CallSettings(max_cost=0.0001, prices={"a": (1.0, 10.0), "b": (1.0, 10.0)})
    with FakeServer("word " * 40) as server:
        several = [settings(tmp_path, f"openai:{n}@{server.url}", calls=calls) for n in ("a", "b")]
        outcomes = evaluated(several, store)
        assert 0 < len(server.calls) < 8
    stopped = [outcome for outcome in outcomes if outcome.stopped]
    assert stopped
    for outcome in outcomes:
        assert (outcome.view.run.status.value == "incomplete") == bool(outcome.stopped)
