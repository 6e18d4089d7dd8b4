"""The endpoints of Arthur Bench: its fields, order and pages, and what is said when it is wrong."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from origins.arthur.mood_scorer import Mood
from proctor.bench import TestRun, TestSuite
from proctor.engine.transfer.export_import import read_archive
from proctor.origins.arthur.ids import id_uuid
from proctor.store.store import Store
from proctor.web.app import make_app

ROOT = "/api/v3/bench/test_suites"
NOBODY = "00000000-0000-0000-0000-000000000000"
OLD_SUITE, OLD_RUN = "0a6bc2c8-1b3b-4b47-9f0c-2a2f6e0f3a11", "5a3fd1d1-55b5-4a3e-8a3c-1e1f7a1b9c22"


class Made:
    """A store with suites of several kinds."""

    def __init__(self, folder: Path) -> None:
        self.place = str(folder / "store.db")
        texts = {"input_text_list": ["a?", "b?", "c?"], "store": self.place}
        self.match = TestSuite(
            "match", "exact_match", "about", reference_output_list=["A", "B", "C"], **texts
        )
        outputs = {"best": ["A", "B", "C"], "worst": ["x", "y", None], "middle": ["x", "B", "C"]}
        self.runs: dict[str, TestRun] = {
            name: self.match.run(
                name, candidate_output_list=given, model_version="7", prompt_template="p"
            )
            for name, given in outputs.items()
        }
        self.ease = TestSuite("ease", "readability", **texts)
        self.easy = self.ease.run(
            "easy", candidate_output_list=["Go on.", "Incomprehensibility.", "No"]
        )
        self.never = TestSuite(
            "never", "word_count_match", reference_output_list=["1", "2", "3"], **texts
        )
        self.mood = TestSuite("mood", Mood(), **texts)
        self.moody = self.mood.run("moody", candidate_output_list=["sad", "glad", "sad"])
        self._kept(folder / "bench_runs")

    def _kept(self, root: Path) -> None:
        folder = root / "kept"
        (folder / "r").mkdir(parents=True)
        case = {"id": OLD_RUN, "input": "q", "reference_output": "a"}
        suite = {
            "id": OLD_SUITE,
            "name": "kept",
            "scoring_method": "exact_match",
            "test_cases": [case],
        }
        (folder / "suite.json").write_text(json.dumps(suite))
        output = {"id": OLD_RUN, "output": "b", "score": -1.0,
                  "score_result": {"score": -1.0, "category": {"name": "invalid"}}}  # fmt: skip
        run = {"id": OLD_RUN.upper(), "name": "r", "test_cases": [output]}
        (folder / "r" / "run.json").write_text(json.dumps(run))
        with Store.open(self.place) as store:
            read_archive(store, root)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("api"))


@pytest.fixture(scope="module")
def client(made: Made) -> Iterator[TestClient]:
    with TestClient(make_app(made.place), base_url="http://127.0.0.1") as opened:
        yield opened


def asked(client: TestClient, path: str = "", **query: Any) -> Any:
    answer = client.get(ROOT + path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(found: dict[str, Any], key: str) -> list[str]:
    return [one["name"] for one in found[key]]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"sort": "name"}, ["ease", "kept", "match", "mood", "never"]),
        ({"sort": "-name", "page_size": 2}, ["never", "mood"]),
        ({"sort": "name", "page_size": 2, "page": 3}, ["never"]),
        ({"sort": "name", "page_size": 2, "page": 4}, []),
        ({"sort": "created_at", "page_size": 1}, ["match"]),
        ({"name": "match"}, ["match"]),
        ({"name": "Match"}, []),
        ({"scoring_method": ["readability", "mood"], "sort": "name"}, ["ease", "mood"]),
        ({"scoring_method": "Readability"}, []),
    ],
)
def test_suites(client: TestClient, query: dict[str, Any], wanted: list[str]) -> None:
    assert names(asked(client, **query), "test_suites") == wanted


def test_suites_are_in_the_order_of_their_last_run(client: TestClient, made: Made) -> None:
    found = asked(client, page_size=100)
    times = [one["last_run_time"] or one["created_at"] for one in found["test_suites"]]
    assert times == sorted(times)
    paging = {key: found[key] for key in ("page", "page_size", "total_pages", "total_count")}
    assert paging == {"page": 1, "page_size": 100, "total_pages": 1, "total_count": 5}
    never = next(one for one in found["test_suites"] if one["name"] == "never")
    assert never["last_run_time"] is None


def test_a_suite_with_a_page_of_its_cases(client: TestClient, made: Made) -> None:
    found = asked(client, f"/{made.match.id}", page=2, page_size=2)
    (case,) = found.pop("test_cases")
    assert (case["input"], case["reference_output"]) == ("c?", "C")
    assert UUID(case["id"])
    method = found["scoring_method"]
    assert (method["name"], method["type"], method["output_type"], method["config"]) == (
        "exact_match", "built_in", "categorical", {"case_sensitive": True},
    )  # fmt: skip
    assert [one["name"] for one in method["categories"]] == ["non match", "match"]
    assert (found["id"], found["description"], found["num_runs"]) == (
        str(made.match.id),
        "about",
        3,
    )
    assert (found["page"], found["total_pages"], found["total_count"]) == (2, 2, 3)


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        (None, ["best", "worst", "middle"]),
        ("-created_at", ["middle", "worst", "best"]),
        ("name", ["best", "middle", "worst"]),
        ("avg_score", ["worst", "middle", "best"]),
        ("-avg_score", ["best", "middle", "worst"]),
    ],
)
def test_runs(client: TestClient, made: Made, sort: str | None, wanted: list[str]) -> None:
    query = {} if sort is None else {"sort": sort}
    path = f"/{made.match.id}/runs"
    whole = asked(client, path, **query)
    assert names(whole, "test_runs") == wanted
    assert names(asked(client, path, page=2, page_size=2, **query), "test_runs") == wanted[2:]
    best = next(one for one in whole["test_runs"] if one["name"] == "best")
    assert (best["id"], best["avg_score"]) == (str(made.runs["best"].id), 1.0)
    assert (best["model_version"], best["prompt_template"]) == ("7", "p"), "what was told is kept"


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [(None, ["x", "B", "C"]), ("score", ["x", "B", "C"]), ("-score", ["B", "C", "x"])],
)
def test_outputs_of_a_run(
    client: TestClient, made: Made, sort: str | None, wanted: list[str]
) -> None:
    path = f"/{made.match.id}/runs/{made.runs['middle'].id}"
    query = {} if sort is None else {"sort": sort}
    found = asked(client, path, **query)
    rows = found["test_case_runs"]
    assert [row["output"] for row in rows] == wanted
    assert found["test_suite_id"] == str(made.match.id)
    row = next(row for row in rows if row["output"] == "x")
    assert (row["input"], row["reference_output"], row["score"]) == ("a?", "A", 0.0)
    assert row["score_result"]["category"]["name"] == "non match"
    (second,) = asked(client, path, page=2, page_size=1, **query)["test_case_runs"]
    assert second == rows[1]


def test_what_has_no_output_says_so(client: TestClient, made: Made) -> None:
    found = asked(client, f"/{made.match.id}/runs/{made.runs['worst'].id}")
    last = found["test_case_runs"][2]
    assert (last["output"], last["score"], last["score_result"]["category"]) == (None, 0.0, None)


def test_categories_are_counted(client: TestClient, made: Made) -> None:
    found = asked(client, f"/{made.match.id}/runs/summary")
    assert (found["categorical"], found["num_test_cases"], found["total_count"]) == (True, 3, 3)
    counted = {
        one["name"]: {part["category"]["name"]: part["count"] for part in one["histogram"]}
        for one in found["summary"]
    }
    assert counted == {
        "best": {"non match": 0, "match": 3},
        "worst": {"non match": 2, "match": 0},
        "middle": {"non match": 1, "match": 2},
    }
    mood = asked(client, f"/{made.mood.id}/runs/summary")["summary"][0]["histogram"]
    assert [(one["category"]["name"], one["count"]) for one in mood] == [("glad", 1), ("sad", 2)]


def test_numbers_are_counted_in_twenty_parts(client: TestClient, made: Made) -> None:
    (found,) = asked(client, f"/{made.ease.id}/runs/summary")["summary"]
    top = max(score for score in made.easy.scores if score is not None)
    parts = found["histogram"]
    assert (len(parts), parts[0]["low"], parts[-1]["high"]) == (20, 0.0, top)
    assert parts[-1]["count"] == sum((score or 0) >= parts[-1]["low"] for score in made.easy.scores)
    assert sum(part["count"] for part in parts) == sum(
        score >= 0 for score in made.easy.scores if score is not None
    )
    assert all(one["high"] == two["low"] for one, two in pairwise(parts))


def test_only_the_runs_named_are_summed_up(client: TestClient, made: Made) -> None:
    ids = [str(made.runs[name].id) for name in ("worst", "best")]
    path = f"/{made.match.id}/runs/summary"
    assert names(asked(client, path, run_ids=ids), "summary") == ["worst", "best"]
    assert names(asked(client, path, page_size=2, page=2), "summary") == ["middle"]


def test_what_was_imported_keeps_its_ids(client: TestClient) -> None:
    suite = asked(client, f"/{OLD_SUITE}")
    assert (suite["name"], suite["test_cases"][0]["id"]) == ("kept", OLD_RUN)
    found = asked(client, f"/{suite['id']}/runs/{OLD_RUN}")
    (row,) = found["test_case_runs"]
    assert (found["id"], row["id"]) == (OLD_RUN, OLD_RUN)
    assert (row["score"], row["score_result"]["category"]["name"]) == (-1.0, "invalid")
    (counted,) = asked(client, f"/{OLD_SUITE}/runs/summary")["summary"]
    parts = {one["category"]["name"]: one["count"] for one in counted["histogram"]}
    assert parts == {"non match": 0, "match": 0, "invalid": 1}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/{NOBODY}", 404),
        (f"/{NOBODY}/runs", 404),
        (f"/{NOBODY}/runs/summary", 404),
        (f"/{{suite}}/runs/{NOBODY}", 404),
        (f"/{{suite}}/runs/summary?run_ids={NOBODY}", 404),
        ("/{other}/runs/{run}", 404),
        ("/{suite}/nothing", 404),
        ("/%00", 422),
        ("/{suite}/runs/x", 422),
        ("/{suite}/runs/summary?run_ids=x", 422),
        ("/{suite}/runs?sort=size", 422),
        ("/{suite}/runs/{run}?sort=name", 422),
        ("/{suite}?page=0", 422),
        ("/{suite}?page=-1", 422),
        ("/{suite}?page=%D9%A1", 422),
        ("/{suite}?page_size=0", 422),
        ("/{suite}?page_size=10001", 422),
        ("/{suite}?page=99999999999999999999999", 422),
        ("/{suite}/runs/summary?page_size=201", 422),
        ("?sort=last_run", 422),
    ],
)
def test_what_is_wrong(client: TestClient, made: Made, path: str, status: int) -> None:
    known = {"suite": made.match.id, "other": made.ease.id, "run": made.runs["best"].id}
    answer = client.get(ROOT + path.format(**known))
    assert answer.status_code == status
    assert answer.json()["status_code"] == status
    assert answer.json()["detail"]


def test_nothing_can_be_written(client: TestClient, made: Made) -> None:
    for path in ("", f"/{made.match.id}", f"/{made.match.id}/runs"):
        for method in ("POST", "PUT", "DELETE"):
            assert client.request(method, ROOT + path).status_code == 405


def test_the_guard_holds_here_too(made: Made) -> None:
    with TestClient(make_app(made.place, token="x" * 20), base_url="http://127.0.0.1") as guarded:
        assert guarded.get(ROOT).status_code == 401
        assert guarded.get(ROOT, headers={"Authorization": "Bearer " + "x" * 20}).status_code == 200
        assert guarded.get(ROOT, headers={"Host": "evil.example"}).status_code == 421


def test_ids_that_are_no_numbers_have_uuids_too() -> None:
    assert id_uuid("4eb9f62db12d") == UUID("00000000-0000-0000-0000-4eb9f62db12d")
    odd = {id_uuid(name) for name in ("one", "x" * 99, "ABCDEF", "\ud800", "a_b")}
    assert len(odd) == 5
    assert id_uuid("one") == id_uuid("one")
