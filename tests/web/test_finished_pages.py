"""Suites over time and by tag, runs that refuse comparison, three runs, search in texts, labels."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.core.attempt import Attempt
from proctor.core.run import Run, RunStatus
from proctor.core.score import Score
from proctor.core.suite import Spec
from proctor.store import runs as store_runs
from proctor.store import searching as store_searching
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web import searching as web_searching
from proctor.web.app import make_app
from proctor.web.store_pool import PageCache, stamp

NAMES = ("a", "b", "c")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any) -> str:
    """Give a store with three runs of a suite, two attempts a case, and one of another judge."""
    path = str(tmp_path_factory.mktemp("finished") / "p.db")
    with Store.open(path) as store:
        for number, name in enumerate(NAMES):
            cases = []
            for n in range(20):
                points = float(n % (number + 2) == 0)
                one = examined.plain(f"c{n:02}", f"{name} says {n} <b>words</b> 天气", points)
                case = replace(one.case, tags={"kind": ("even" if n % 2 == 0 else "odd",)})
                again = Attempt.of(case.id, f"{name} once more", index=1)
                scores = (one.scores[0], {"fits": Score(points=points, out_of=1.0)})
                cases.append(
                    replace(one, case=case, attempts=(one.attempts[0], again), scores=scores)
                )
            run = put_run(store, name, cases)
            store.runs.save(replace(run, started=1000.0 + number, finished=2000.0 + number))
        run = put_run(store, "judged", cases)
        store.runs.save(replace(run, signature="prompts:x", settings={"judges": [{"model": "m"}]}))
    return path


@pytest.fixture(scope="module")
def client(place: str) -> Iterator[TestClient]:
    with TestClient(make_app(place), base_url="http://127.0.0.1") as made:
        yield made


@pytest.mark.slow
def test_a_suite_over_time_and_by_tag(client: TestClient) -> None:
    key = client.get("/home.json").json()["suites"][0]["key"]
    found = client.get(f"/suites/{key}.json").json()
    assert [one["run"] for one in found["trend"]] == ["judged", *NAMES]
    assert [one["rate"] for one in found["trend"][1:]] == [0.5, 0.35, 0.25]
    assert all(one["interval"][0] < one["rate"] < one["interval"][1] for one in found["trend"])
    assert [run["id"] for run in found["columns"]] == ["c", "b", "a", "judged"]
    assert [cell["rate"] for cell in found["groups"]["kind"]["even"]] == [0.5, 0.4, 1.0, 0.5]
    text = client.get(f"/suites/{key}").text
    assert text.count("<circle") == 4
    assert re.search(r'href="/runs/b" aria-label="b · [^"]* · 35.0%', text)
    assert "kind" in re.findall(r'<th class="text">(\w+)</th>', text)


def test_runs_that_refuse_can_be_forced(client: TestClient) -> None:
    address = "/compare?run=a&run=judged&q=c0"
    answer = client.get(address)
    assert answer.status_code == 400
    assert "the judge differs" in answer.text
    assert 'href="/compare?run=a&amp;run=judged&amp;force=1&amp;q=c0"' in answer.text
    found = client.get(address.replace("/compare", "/compare.json"))
    assert (found.status_code, found.json()["error"]["status"]) == (400, 400)
    forced = client.get(found.json()["forced"])
    assert forced.status_code == 200
    assert "the judge differs" in forced.text
    assert 'name="force" value="1"' in forced.text


def test_three_runs_are_side_by_side(client: TestClient) -> None:
    address = "/compare.json?run=a&run=b&run=c&where=kind != 'both_right'"
    found = client.get(address).json()
    by_id = {row["id"]: row for row in found["listing"]["cases"]}
    assert by_id["c03"]["values"] == [0.0, 1.0, 0.0]
    assert by_id["c04"]["values"] == [1.0, 0.0, 1.0]
    kinds = [row["kind"] for row in found["listing"]["cases"]]
    changed = [kind in ("better", "worse") for kind in kinds]
    assert changed == sorted(changed, reverse=True)
    assert {pair["link"] for pair in found["pairs"]} == {
        "/compare?run=a&run=b&run=c",
        "/compare?run=a&run=c&run=b",
        "/compare?run=b&run=c&run=a",
    }
    assert client.get("/compare?run=a&run=b&run=c&run=judged&run=a").status_code == 400


def test_all_attempts_are_side_by_side(client: TestClient) -> None:
    found = client.get("/compare.json?run=a&run=b&run=c&case=c03").json()
    outputs = [[one["output"] for one in side["attempts"]] for side in found["sides"]]
    assert outputs == [[f"{name} says 3 <b>words</b> 天气", f"{name} once more"] for name in NAMES]
    text = client.get("/compare?run=a&run=b&run=c&case=c03").text
    assert "<del>a</del> says 3 &lt;b&gt;words&lt;/b&gt;" in text
    assert "<ins>c</ins> once more" in text
    assert "<b>words" not in text


@pytest.mark.parametrize(
    ("query", "count"),
    [("SAYS 7", 1), ("a says 1 <b>words", 1), ("b says", 0), ("天气", 20), ("once", 20), ('"', 0)],
)
def test_texts_are_searched(client: TestClient, query: str, count: int) -> None:
    for _ in range(2):
        found = client.get("/runs/a.json", params={"q": query}).json()
        assert len(found["cases"]) == count
        assert found["search"]["texts"]
    both = client.get("/compare.json", params={"run": ["a", "b"], "q": query}).json()
    assert len(both["listing"]["cases"]) == count + (20 if query == "b says" else 0)


def test_the_home_finds_cases_once_they_are_indexed(client: TestClient) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = client.get("/home.json?q=says 13").json()["cases"]
        if not found["waiting"]:
            break
        time.sleep(0.05)
    assert {(one["run"], one["id"]) for one in found["found"]} == {
        (name, "c13") for name in (*NAMES, "judged")
    }
    assert "/runs/a/cases/c13" in client.get("/?q=says 13").text
    assert client.get("/home.json?q=ab").json()["cases"] is None
    assert client.get("/home.json").json()["cases"] is None


def test_many_cases_are_searched_as_far_as_they_are_indexed(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_searching, "SMALL", 3)
    monkeypatch.setattr(web_searching, "SMALL", 3)
    with TestClient(make_app(place), base_url="http://127.0.0.1") as client:
        with Store.open(place) as store, store.database.write() as transaction:
            store_runs.forget_texts(transaction, "c")
        monkeypatch.setattr("proctor.web.indexing.Indexer.ask", lambda self, run_id: True)
        found = client.get("/runs/c.json?q=says").json()
        assert (found["search"]["why"], found["cases"]) == ("filling", [])
        assert "still being indexed" in client.get("/runs/c?q=says").text
        assert "正在建立索引" in client.get("/runs/c?q=says&lang=zh").text
        assert len(client.get("/runs/c.json?q=c0").json()["cases"]) == 10
        monkeypatch.setattr("proctor.web.indexing.Indexer.ask", lambda self, run_id: False)
        assert client.get("/runs/c.json?q=says").json()["search"]["why"] == "missing"
        assert "three characters" in client.get("/runs/c?q=天气&lang=en").text


def test_the_corrected_score_stands_beside_the_raw_one(client: TestClient, place: str) -> None:
    found = client.get("/runs/c/label.json").json()["agreement"]["score"]
    assert (found["raw"], found["value"], found["labelled"]) == (0.25, None, 0)
    with Store.open(place) as store:
        for n in range(10):
            store.labels.add(
                Label(run_id="c", case_id=f"c{n:02}", criterion="fits", points=float(n % 4 < 2))
            )
    found = client.get("/runs/c/label.json").json()["agreement"]["score"]
    assert found["raw"] == 0.25
    assert found["bias"] == pytest.approx(0.3 - 0.6)
    assert found["interval"][0] < found["value"] < found["interval"][1]
    assert 0.4 < found["value"] < 0.6
    text = client.get("/runs/c/label").text
    assert "Corrected score" in text
    assert "校正后得分" in client.get("/runs/c/label?lang=zh").text
    assert "the judge gave 30.0 points of 100 less than you" in text


def test_what_is_remembered_is_made_once_and_forgotten_when_a_run_changes() -> None:
    kept, made = PageCache(most=2), []
    for key in ("x", "x", "y", "x", "z", "y"):
        kept.of(key, lambda key=key: made.append(key))  # type: ignore[misc]
    assert made == ["x", "y", "z", "y"]
    with pytest.raises(KeyError):
        kept.of("bad", lambda: {}["none"])
    assert kept.of("bad", lambda: 3) == 3
    run = Run(id="r", name="r", suite="s", suite_key="k", candidate=Spec(name="x"))
    done = replace(run, status=RunStatus.COMPLETE, finished=1.0)
    assert stamp([replace(run, status=RunStatus.RUNNING)]) is None
    assert stamp([done]) == stamp([replace(done)])
    assert stamp([done]) != stamp([replace(done, finished=2.0)])


def test_readme_pictures_are_small() -> None:
    images = Path(__file__).resolve().parents[2] / "docs" / "images"
    for name in ("compare.png", "case.png"):
        assert 10_000 < (images / name).stat().st_size < 200_000
