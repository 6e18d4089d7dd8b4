"""A run in progress: cases count once all their attempts are made and scored."""

from dataclasses import replace
from typing import Any

from starlette.testclient import TestClient

from proctor.core.run import RunStatus
from proctor.store.rows import RunAttempt
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages import live


def link(store: Store, *places: int, scored: bool = True) -> None:
    store.attempts.link(
        "going",
        [
            RunAttempt(
                position=place,
                index=0,
                attempt_key=f"done-{place}-0",
                score_keys={"fits": f"done-{place}-0-fits"} if scored else {},
            )
            for place in places
        ],
    )


def test_numbers_grow_with_the_run(
    tmp_path: Any, put_run: Any, examined: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(live, "FRESH", 0.0)
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        cases = [examined.plain(f"c{n}", f"say {n}", float(n % 2)) for n in range(6)]
        run = put_run(store, "done", cases)
        store.runs.save(replace(run, id="going", name="going", status=RunStatus.RUNNING))

        def looked(client: TestClient) -> dict[str, Any]:
            found: dict[str, Any] = client.get("/runs/going/live.json").json()
            return found

        with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
            first = looked(client)
            assert (first["collected"], first["total"], first["graded"]) == (0, 6, 0)
            assert (first["rate"], first["interval"], first["latest"]) == (None, None, [])
            link(store, 0, 1)
            link(store, 4, scored=False)
            second = looked(client)
            assert (second["collected"], second["graded"], second["rate"]) == (3, 2, 0.5)
            low, high = second["interval"]
            assert 0 <= low < 0.5 < high <= 1
            assert [case["id"] for case in second["latest"]] == ["c1", "c0"]
            assert second["latest"][1]["reason"] == "fits 0 of 1: because"
            link(store, 3, 5)
            third = looked(client)
            assert (third["collected"], third["graded"], third["rate"]) == (5, 4, 0.75)
            assert looked(client)["rate"] == 0.75
            link(store, 2, 4)
            assert looked(client)["rate"] == 0.5
            store.runs.save(replace(store.runs.get("going"), status=RunStatus.INTERRUPTED))
            page = client.get("/runs/going").text
            assert "Start the same command again" in page
            assert "data-live" not in page


def test_readers_at_the_same_time_share_one_look(
    tmp_path: Any, put_run: Any, examined: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(live, "FRESH", 3600.0)
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        run = put_run(store, "done", [examined.plain("c0", "x", 1.0)])
        store.runs.save(replace(run, id="going", name="going", status=RunStatus.RUNNING))
        with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
            assert client.get("/runs/going/live.json").json()["graded"] == 0
            link(store, 0)
            assert client.get("/runs/going/live.json").json()["graded"] == 0
