"""A store filled for the tour: something for every page, and nothing made twice."""

from importlib.resources import files
from pathlib import Path

import pytest

from proctor.core.run import RunStatus
from proctor.engine.tour import fill
from proctor.engine.tour.fill import LATENCIES, LIVE, Tour, in_progress
from proctor.io.concurrency import run_sync
from proctor.store.store import Store
from waiting import until

FOLDER = Path(str(files("proctor.starter"))) / "tour"
QUICK = dict.fromkeys(LATENCIES, (0.0, 0.0))
RUNS = {
    *("tour-large-1", "tour-small-1", "tour-large-2", "tour-small-2", "tour-agent"),
    *(f"tour-{model}-{prompt}" for model in ("large", "small") for prompt in ("plain", "strict")),
}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("tour") / "p.db")
    with Store.open(path) as store:
        run_sync(Tour(store=store, folder=FOLDER, latencies=QUICK).fill())
    return path


def test_there_is_something_for_every_page(place: str) -> None:
    with Store.open(place) as store:
        assert {run.name for run in store.runs.newest()} == RUNS
        small = store.runs.get("tour-small-plain")
        ids = [small.id, store.runs.get("tour-large-plain").id]
        assert store.comparisons.count(ids)[0] == 48
        assert store.audits.of_run(small.id)
        assert {label.author for label in store.labels.of_run(small.id)} == {"ada", "ben"}
        pinned = store.baselines.get("help-desk")
        assert pinned is not None
        assert pinned.run_id == store.runs.get("tour-small-2").id
        totals = {name: store.summaries.get(store.runs.get(name).id)["totals"] for name in RUNS}  # type: ignore[index]
    assert totals["tour-small-plain"]["rate"] < totals["tour-small-2"]["rate"]
    assert totals["tour-large-plain"]["rate"] > totals["tour-small-plain"]["rate"]
    assert totals["tour-large-strict"]["errors"] == 3
    assert totals["tour-small-plain"]["cases_unscored"] == 1
    assert totals["tour-agent"]["unanswered"] == 1


def test_runs_of_earlier_weeks_are_dated_back(place: str) -> None:
    with Store.open(place) as store:
        started = [store.runs.get(name).started for name in ("tour-large-1", "tour-large-2")]
        now = store.runs.get("tour-large-plain").started
    days = [round((now - moment) / 86_400) for moment in started]
    assert days == [14, 7]


def test_a_second_tour_makes_nothing_again(place: str) -> None:
    lines: list[str] = []
    with Store.open(place) as store:
        before = {run.id for run in store.runs.newest()}
        run_sync(Tour(store=store, folder=FOLDER, notice=lines.append, latencies=QUICK).fill())
        assert {run.id for run in store.runs.newest()} == before
    assert lines
    assert all(line.endswith("is there already") for line in lines)


def test_a_run_is_in_progress_until_the_end(tmp_path: Path) -> None:
    path = str(tmp_path / "live.db")
    with in_progress(path, FOLDER), Store.open(path) as store:
        (run,) = until(lambda: store.runs.named(f"{LIVE}-1"))
        until(lambda: store.attempts.count(run.id))
        assert store.runs.get(run.id).status is RunStatus.RUNNING
    with Store.open(path) as store:
        assert store.runs.named(f"{LIVE}-1")[0].status is not RunStatus.RUNNING


def test_when_a_run_ends_the_next_one_begins_and_only_the_last_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fill, "LIVE_CASES", 2)
    path = str(tmp_path / "live.db")
    with in_progress(path, FOLDER, latency=(0.0, 0.0)), Store.open(path) as store:
        until(lambda: store.runs.names_like(LIVE) - {f"{LIVE}-1", f"{LIVE}-2"})
        assert not store.runs.named(f"{LIVE}-1")
