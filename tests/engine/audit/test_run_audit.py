"""An audit of judges with known faults, asked over real HTTP."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.audit import JudgeAudit
from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.engine.audit.run_audit import Audit, AuditSettings
from proctor.engine.run.settings import CallSettings, JudgeSettings
from proctor.errors import MissingResource, UsageError
from proctor.io.concurrency import run_sync
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.testing import FakeServer

NAME = "ruler-5"
RATING = Spec(name="rating", params={"question": "How good?"})


class FaultyJudge:
    """Rules by the truth in the answer, with faults of known size."""

    def __init__(self, **faults: float) -> None:
        self.faults = faults
        self.random = random.Random(3)

    def __call__(self, messages: list[Any], body: Any) -> str:
        text = "\n".join(str(message["content"]) for message in messages)
        if "score_1" in text:
            return self._prefer(text)
        good = "good" in text
        chance = 0.7 if good else 0.3
        if "nothing needs to be added" in text:
            chance += self.faults.get("length", 0.0)
        if "## Answer" in text:
            chance += self.faults.get("format", 0.0)
        if "leading professors" in text:
            chance += self.faults.get("authority", 0.0)
        if f"written by {NAME}" in text:
            chance += self.faults.get("name", 0.0)
        # What the judge thinks of an answer is fixed; chance turns some rulings around.
        fixed = random.Random(re.sub(r"\W", "", _key(text))).random()
        ruled = fixed < chance
        if self.random.random() < self.faults.get("flips", 0.0):
            ruled = not ruled
        if '"rating"' in text:
            return json.dumps({"reason": "so", "rating": 4 if ruled else 2})
        return json.dumps({"reason": "so", "result": "yes" if ruled else "no"})

    def _prefer(self, text: str) -> str:
        first = self.random.random() < 0.5 + self.faults.get("position", 0.0)
        return json.dumps(
            {"reason": "so", "score_1": 8 if first else 4, "score_2": 4 if first else 8}
        )


def _key(text: str) -> str:
    found = re.search(r"answer \d+ to \d+", text)
    return found[0] if found else text


def audited(
    store: Store, run: Run, server: FakeServer, **settings: Any
) -> tuple[Audit, JudgeAudit]:
    panel = JudgeSettings(judges=(ModelChoice(spec=f"openai:{NAME}@{server.url}/v1"),))
    audit = Audit(store, run, panel, AuditSettings(**settings))
    return audit, run_sync(audit.carry_out())


def outputs(place: int, index: int) -> str:
    word = "good" if place % 2 else "poor"
    return f"answer {index} to {place} is {word}. It says so. It means it."


def test_a_judge_without_faults_is_found_without(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    run = put_scored(store, "one", [[1.0]] * 12, outputs=outputs)
    with FakeServer(FaultyJudge()) as server:
        audit, found = audited(store, run, server, sample=3)
        assert audit.plan().calls == len(server.calls) == 3 * (2 + 6)
        audited(store, run, server, sample=3)
        assert len(server.calls) == 24  # nothing is asked twice
    assert (found.cases, found.answers, found.repeats) == (3, 3, 2)
    assert found.flips is not None
    assert found.flips.value == 0
    assert found.flips.interval is not None
    assert found.flips.interval[1] > 0.1
    assert found.noise_variance == 0
    assert found.noise_interval is not None
    assert found.noise_interval[1] > 0.3
    assert found.noise_by_metric is not None
    assert found.noise_by_metric["judged"].interval == found.noise_interval
    for name in ("length", "format", "authority", "self"):
        assert found.probes[name].value == 0
        assert found.probes[name].interval is not None
    assert "position" not in found.probes
    assert "neither a second attempt" in found.notes[0]
    stored = JudgeAudit.of(store.audits.of_run("one")[0])
    assert replace(stored, created=0.0) == replace(found, created=0.0)


def test_the_cases_of_a_cluster_are_one_draw(store: Store, put_scored: Callable[..., Run]) -> None:
    found = []
    for clusters in (lambda _: "", lambda place: f"passage {place // 8}"):
        suite = f"quiz {len(found)}"
        run = put_scored(
            store, suite, [[1.0, 0.0]] * 24, outputs=outputs, clusters=clusters, suite=suite
        )
        with FakeServer(FaultyJudge(length=0.3)) as server:
            found.append(audited(store, run, server, sample=24)[1])
    alone, clustered = found
    for name in ("length", "position"):
        assert clustered.probes[name].n == alone.probes[name].n == 24
        narrow, wide = (one.probes[name].interval for one in found)
        assert narrow is not None
        assert wide is not None
        assert wide[1] - wide[0] > 1.3 * (narrow[1] - narrow[0])
    for one in found:
        assert one.flips is not None
        assert one.noise_interval is not None
    assert clustered.flips.interval[1] > alone.flips.interval[1] + 0.1
    assert clustered.noise_interval[1] > alone.noise_interval[1] + 0.05


def test_a_criterion_that_no_score_is_of_is_refused(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    run = put_scored(store, "one", [[1.0]] * 4, outputs=outputs)
    with (
        FakeServer(FaultyJudge()) as server,
        pytest.raises(UsageError, match=r"no score of the criterion 'fist' .* in the 3 cases"),
    ):
        audited(store, run, server, sample=3, criterion="fist")
    assert not server.calls
    assert not store.audits.of_run("one")


@pytest.mark.slow("full")
@pytest.mark.parametrize(
    "faults",
    [
        {"flips": 0.1, "length": 0.08, "position": 0.05, "name": 0.06},
        {"flips": 0.1, "format": 0.04, "authority": 0.12, "position": -0.08},
    ],
)
def test_each_fault_is_found_with_an_interval_that_covers_it(
    store: Store, put_scored: Callable[..., Run], faults: dict[str, float]
) -> None:
    run = put_scored(store, "one", [[1.0, 1.0]] * 700, outputs=outputs)
    with FakeServer(FaultyJudge(**faults), keep=False) as server:
        _, found = audited(store, run, server, sample=700)
    # Chance turns 10 % around, so that other faults show with 1 - 2 · 10 % of their size.
    for name in ("length", "self", "position", "format", "authority"):
        size = faults.get("name" if name == "self" else name, 0.0)
        size *= 1.0 if name == "position" else 0.8
        interval = found.probes[name].interval
        assert interval is not None
        assert interval[0] <= size <= interval[1], name
        assert interval[1] - interval[0] < 0.12
        if abs(size) > 0.09:
            assert interval[0] > 0, name
    assert found.flip_chance is not None
    assert found.flip_chance.interval is not None
    assert found.flip_chance.interval[0] <= 0.1 <= found.flip_chance.interval[1]
    assert found.flip_chance.interval[0] > 0.05
    assert found.flips is not None
    assert found.flips.value == pytest.approx(0.18, abs=0.03)
    assert found.noise_variance == pytest.approx(0.09, abs=0.02)
    floor = found.noise_floor(700)
    assert floor is not None
    assert floor.value == pytest.approx(1.96 * (2 * 0.09 / 700) ** 0.5, rel=0.2)


@pytest.mark.slow
def test_a_judge_that_is_moved_much_needs_few_cases(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    run = put_scored(store, "one", [[1.0, 0.0]] * 30, outputs=outputs)
    faults = {"length": 0.7, "name": 0.7, "position": 0.5}
    with FakeServer(FaultyJudge(**faults)) as server:
        _, found = audited(
            store, run, server, sample=24, repeats=1,
            probes=("length", "self", "position", "format"),
        )  # fmt: skip
    for name in ("length", "self", "position"):
        interval = found.probes[name].interval
        assert interval is not None
        assert interval[0] > 0, name
    assert set(found.probes) == {"length", "format", "other", "self", "position"}


def test_ratings_and_a_second_run_and_labels(store: Store, put_scored: Callable[..., Run]) -> None:
    rated = {"scorer": RATING, "out_of": None}
    run = put_scored(store, "one", [[4.0]] * 4, outputs=outputs, **rated)
    put_scored(store, "two", [[4.0]] * 4, outputs=lambda place, _: f"other words {place}", **rated)
    for place in range(4):
        store.labels.add(
            Label(run_id="one", case_id=f"c{place}", criterion="fits", points=float(3 + place % 2))
        )
    with FakeServer(FaultyJudge()) as server:
        _, found = audited(store, run, server, probes=("format", "position"))
    assert found.flips is not None
    assert found.flip_chance is None
    assert found.probes["position"].n == 4
    assert found.labels["fits"]["n"] == 4
    assert found.labels["fits"]["confusion"] == [[4.0, 3.0, 2], [4.0, 4.0, 2]]
    assert found.labels["fits"]["corrected"]["scale"] == (1.0, 5.0)


def test_the_stored_ruling_counts_where_the_same_judge_gave_it(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    run = put_scored(store, "one", [[0.0], [0.0]], outputs=lambda *_: "answer 0 to 7 is good")
    with FakeServer(lambda *_: json.dumps({"reason": "", "result": "yes"})) as server:
        spec = f"openai:{NAME}@{server.url}/v1"
        asked = replace(run, settings={"judges": [{"model": spec}]})
        _, found = audited(store, asked, server, sample=2, probes=("format",))
        _, other = audited(store, run, server, sample=2, probes=("format",))
    assert found.flips is not None
    assert found.flips.value == pytest.approx(2 / 3)
    assert found.flipped == pytest.approx({"c0": 2 / 3, "c1": 2 / 3})
    assert other.flips is not None
    assert other.flips.value == 0


def test_what_cannot_be_audited(
    store: Store, put_scored: Callable[..., Run], tmp_path: Path
) -> None:
    run = put_scored(store, "one", [[1.0]], scorer=Spec(name="matches"))
    panel = JudgeSettings(judges=(ModelChoice(spec="openai:x@http://127.0.0.1:9/v1"),))
    with pytest.raises(MissingResource, match="needs a judge"):
        Audit(store, run, JudgeSettings())
    with pytest.raises(UsageError, match="no score of the run"):
        run_sync(Audit(store, run, panel).carry_out())
    with pytest.raises(UsageError, match="no probe 'colour'"):
        AuditSettings(probes=("colour",))


def test_money_ends_it_and_the_rest_is_asked_later(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    run = put_scored(store, "one", [[1.0]] * 6, outputs=outputs)
    with FakeServer(FaultyJudge()) as server:
        spec = f"openai:{NAME}@{server.url}/v1"
        panel = JudgeSettings(judges=(ModelChoice(spec=spec),))
        prices = {NAME: (1000.0, 1000.0)}
        calls = CallSettings(max_cost=2.0, prices=prices, concurrency=1)
        audit = Audit(store, run, panel, AuditSettings(probes=("format",)), calls)
        run_sync(audit.carry_out())
        assert audit.stopped
        before = len(server.calls)
        assert 0 < before < 18
        again = Audit(store, run, panel, AuditSettings(probes=("format",)))
        found = run_sync(again.carry_out())
        assert not again.stopped
        assert len(server.calls) == 18
    assert found.unread == 0
