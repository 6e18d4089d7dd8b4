"""A run in progress: cases count once all their attempts are made and scored."""

from dataclasses import replace
from typing import Any

from starlette.testclient import TestClient

from page_text import own_elements
from proctor.core.run import RunStatus
from proctor.core.score import Score
from proctor.core.suite import Criterion, Spec
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
            shown = client.get("/runs/going/live", headers={"accept-language": "zh"}).text
            assert "fits 0/1：because" in shown
            assert 'href="/runs/going/cases/c1"' in shown
            case = client.get("/runs/going/cases/c0").text
            assert "fits</span>" in case
            # What needs the numbers of a run is not offered while there are none.
            assert "/label" not in case
            assert "failed+%3D%3D" not in case
            assert client.get("/runs/going/cases/c0.json").json()["value"] == 0.0
            assert client.get("/runs/going/case.md?id=c1").status_code == 200
            assert client.get("/runs/going/cases/c2").status_code == 404
            assert "remaining" in shown
            link(store, 3, 5)
            third = looked(client)
            assert (third["collected"], third["graded"], third["rate"]) == (5, 4, 0.75)
            assert looked(client)["rate"] == 0.75
            link(store, 2, 4)
            assert looked(client)["rate"] == 0.5
            store.runs.save(replace(store.runs.get("going"), status=RunStatus.INTERRUPTED))
            page = client.get("/runs/going").text
            assert "Start the same command again" in page
            # Whoever left the page open sees it go on when somebody starts it again.
            assert 'data-status="interrupted"' in page
            assert "live.js" in own_elements(page)
            # Nobody waits for it, so it has no time left.
            assert "remaining" not in page
            # What the script of an open page compares, to load the page again.
            assert 'data-status="interrupted"' in client.get("/runs/going/live").text
            store.runs.save(replace(store.runs.get("going"), status=RunStatus.COMPLETE))
            assert "data-live" not in client.get("/runs/going/live").text


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


def test_answers_that_wait_for_a_judge_are_shown_by_the_criteria_that_do_not(
    tmp_path: Any, put_run: Any, examined: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(live, "FRESH", 0.0)
    monkeypatch.setattr(live, "MOST_READ", 2)
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        names = Criterion(id="names", scorer=Spec(name="contains", params={"text": "x"}))
        cases = []
        for number in range(6):
            one = examined.plain(f"c{number}", f"say {number}", 1.0)
            case = replace(one.case, criteria=(*one.case.criteria, names))
            score = Score(points=float(number < 3), out_of=1.0)
            cases.append(replace(one, case=case, scores=({**one.scores[0], "names": score},)))
        run = put_run(store, "done", cases)
        store.runs.save(replace(run, id="going", name="going", status=RunStatus.RUNNING))
        for number in range(5):
            keys = {"names": f"done-{number}-0-names", "fits": f"not-yet-{number}"}
            store.attempts.link("going", [
                RunAttempt(position=number, index=0, attempt_key=f"done-{number}-0", score_keys=keys)
            ])  # fmt: skip
        with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
            counts = []
            for _ in range(4):
                looked = client.get("/runs/going/live.json").json()
                assert (looked["rate"], looked["graded"], looked["waiting"]) == (None, 0, True)
                counts += [(one["id"], one["cases"], one["rate"]) for one in looked["criteria"]]
            assert counts == [("names", 2, 1.0), ("names", 4, 0.75), *[("names", 5, 0.6)] * 2]
            low, high = looked["criteria"][0]["interval"]
            assert low < 0.6 < high
            page = client.get("/runs/going").text
            assert "Judges and programs score once all answers are in" in page
            assert "5 cases" in page
            shown = client.get("/runs/going/live", headers={"accept-language": "zh"}).text
            assert "5 题" in shown
            assert 'data-live="/runs/going/live"' in shown
            link(store, 0, 1, 2, 3, 4, 5)
            looked = client.get("/runs/going/live.json").json()
            assert (looked["waiting"], looked["criteria"]) == (False, [])


def test_the_first_look_at_a_young_run_has_its_speed() -> None:
    assert live._pace(live.LiveSums(), 1000.0, 30, age=60.0) == 30.0
    # Of an older one nobody knows when its attempts were stored.
    old = live.LiveSums()
    assert live._pace(old, 1000.0, 30, age=600.0) is None
    assert live._pace(old, 1010.0, 35, age=610.0) == 30.0
