"""A store that an earlier version wrote shows the same numbers, and nothing is paid for twice."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import FakeServer

HERE = Path(__file__).resolve().parent
COMPARED = ("rate", "score", "full", "cases", "attempts", "unanswered", "unscored", "errors")


def same_numbers(report: Any, written: Any) -> None:
    for name in COMPARED:
        assert report["totals"][name] == pytest.approx(written["totals"][name]), name
    for name, measure in written["measures"].items():
        assert report["measures"][name]["value"] == pytest.approx(measure["value"]), name
    values = [(case["id"], case["value"]) for case in report["cases"]]
    assert values == [(case["id"], case["value"]) for case in written["cases"]]


def reports_of(version: str) -> dict[str, Any]:
    text = (HERE / version / "reports.json").read_text(encoding="utf-8")
    reports: dict[str, Any] = json.loads(text)
    return reports


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest) -> str:
    address: str = request.getfixturevalue(f"{request.param}_store")
    return address


@pytest.mark.sampled(2)
def test_it_shows_the_same_numbers(version: str, store: str, command: Any) -> None:
    for name, old in reports_of(version).items():
        done = command("report", name, "--format", "json", "--cases", store=store)
        assert done.returncode == 0, done.stderr
        same_numbers(json.loads(done.stdout), old)
    runs = json.loads(command("list", "runs", "--json", store=store).stdout)
    assert {run["name"] for run in runs["runs"]} == {*reports_of(version), "bench_run"}


# What reads its verdicts in vain is asked for them again.
WITHOUT_VERDICTS = {"unreadable"}


@pytest.mark.sampled(4)
def test_no_call_is_to_be_bought_again(
    version: str, store: str, command: Any, written: Any
) -> None:
    for name, options in written.RUNS.items():
        if name in WITHOUT_VERDICTS:
            continue
        done = command("plan", *options, "--json", store=store)
        assert done.returncode == 0, (name, done.stderr)
        plan = json.loads(done.stdout)
        assert plan["usage"]["calls"] == 0, name
        assert plan["attempts_stored"] == plan["attempts"] - plan["unanswered"], name


@pytest.mark.slow
def test_its_runs_end_again_without_any_server(
    version: str, sqlite_store: str, command: Any, written: Any
) -> None:
    for name, options in written.RUNS.items():
        if name in WITHOUT_VERDICTS:
            continue
        done = command(
            "run", *options, "--name", name, "--json", "--cases", "--offline", store=sqlite_store
        )
        assert done.returncode == 0, (name, done.stderr)
        same_numbers(json.loads(done.stdout), reports_of(version)[name])


@pytest.mark.slow
def test_verdicts_that_nobody_could_read_are_asked_for_and_nothing_else(
    version: str, sqlite_store: str, command: Any, written: Any
) -> None:
    options = (*written.RUNS["unreadable"], "--name", "unreadable", "--json")
    with serving(written.PORT, {"mumbler": written.judge, "beta": "Nobody asks me."}) as server:
        for _ in range(2):
            done = command("run", *options, store=sqlite_store)
            totals = json.loads(done.stdout)["totals"]
            assert (totals["unscored"], totals["errors"]) == (0, 0), done.stderr
            assert {call.role for call in server.calls} == {"mumbler"}
            asked = reports_of(version)["unreadable"]["usage"]["roles"]["judge"]["calls"] // 3
            assert len(server.calls) == asked, "one call a verdict, and none twice"


@contextmanager
def serving(port: int, roles: Any) -> Iterator[FakeServer]:
    """Serve at the address that is part of a store's keys; somebody else's test may be there."""
    server = FakeServer(roles=roles, port=port)
    deadline = time.monotonic() + 300
    while True:
        try:
            server.start()
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
    try:
        yield server
    finally:
        server.close()


def test_its_battle_is_told_again_without_any_server(
    sqlite_store: str, command: Any, written: Any
) -> None:
    done = command(*written.BATTLE, "--json", store=sqlite_store)
    assert done.returncode == 0, done.stderr
    battle = json.loads(done.stdout)
    assert battle["battle"]["status"] == "complete"
    assert [(pair["tie"], pair["missing"]) for pair in battle["pairs"]] == [(3, 0)]


def test_labels_are_still_there(sqlite_store: str) -> None:
    from proctor.store.store import Store

    with Store.open(sqlite_store) as store:
        labels = store.labels.of_run(store.runs.get("alpha").id)
    assert [(label.case_id, label.points, label.note) for label in labels] == [
        ("greeting", 0.0, "too short")
    ]


@pytest.mark.slow
def test_its_pages_show_the_same_numbers(version: str, sqlite_store: str, command: Any) -> None:
    from starlette.testclient import TestClient

    from proctor.web.app import make_app

    runs = json.loads(command("list", "runs", "--json", store=sqlite_store).stdout)["runs"]
    ids = {run["name"]: run["id"] for run in runs}
    with TestClient(make_app(sqlite_store), base_url="http://127.0.0.1") as client:
        listed = client.get("/").text
        for name, old in reports_of(version).items():
            assert name in listed
            page = client.get(f"/runs/{ids[name]}")
            rate = old["totals"]["rate"]
            assert page.status_code == 200, name
            assert rate is None or f"{100 * rate:.1f}%" in page.text, name
            twin = client.get(f"/runs/{ids[name]}.json").json()
            assert twin["totals"]["rate"] == pytest.approx(old["totals"]["rate"]), name
            for case in old["cases"]:
                shown = client.get(f"/runs/{ids[name]}/case", params={"id": case["id"]})
                assert shown.status_code == 200, (name, case["id"])


@pytest.mark.slow
def test_its_runs_are_compared_exported_and_imported(
    version: str, sqlite_store: str, command: Any, tmp_path: Path
) -> None:
    done = command("compare", "alpha", "beta", "--force", "--json", store=sqlite_store)
    assert done.returncode == 0, done.stderr
    old = reports_of(version)
    rates = {run["name"]: run["rate"] for run in json.loads(done.stdout)["runs"]}
    assert rates == {name: pytest.approx(old[name]["totals"]["rate"]) for name in ("alpha", "beta")}
    for name in old:
        file = tmp_path / f"{name}.jsonl"
        assert command("export", name, "--out", str(file), store=sqlite_store).returncode == 0
        other = str(tmp_path / "other.db")
        done = command("import", str(file), store=other)
        assert done.returncode == 0, (name, done.stderr)
        done = command("report", name, "--format", "json", "--cases", store=other)
        same_numbers(json.loads(done.stdout), old[name])


@pytest.mark.slow
def test_it_can_be_measured_pruned_and_copied(version: str, store: str, command: Any) -> None:
    """What goes is what no run refers to; the numbers, and what was paid for, stay."""
    measured = json.loads(command("store", "size", "--json", store=store).stdout)
    assert {run["name"] for run in measured["runs"]} == {*reports_of(version), "bench_run"}
    calls = [kind["rows"] for kind in measured["kinds"] if "calls" in kind["kind"]]
    done = command("store", "prune", "--yes", "--json", store=store)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"] == []
    after = json.loads(command("store", "size", "--json", store=store).stdout)
    assert [kind["rows"] for kind in after["kinds"] if "calls" in kind["kind"]] == calls
    places = [store]
    copied = command("store", "backup", "--out", "copy.db", store=store)
    if store.startswith("postgresql"):
        assert "pg_dump" in copied.stderr
    else:
        assert copied.returncode == 0, copied.stderr
        places.append("copy.db")
    for place in places:
        for name, old in reports_of(version).items():
            shown = command("report", name, "--format", "json", "--cases", store=place)
            same_numbers(json.loads(shown.stdout), old)
