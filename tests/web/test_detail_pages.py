"""Case, compare, battle and label pages over a real store, and their JSON twins."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient

from page_text import without_files
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.comparison import Comparison, Preference
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Message
from proctor.engine.compare.results import KINDS
from proctor.store.store import Store
from proctor.web.addresses import case_link
from proctor.web.app import make_app
from proctor.web.wording import LANGUAGES, words

ODD_IDS = ["a/b", "..", ".", "x.json", "?q=1#f", "100%", "空 格", "../up", "a//b", "tab\there"]


@pytest.fixture
def place(tmp_path: Path, put_run: Any, examined: Any) -> str:
    """Store two runs of twelve easy cases and some with odd ids, and what a judge preferred."""
    address = str(tmp_path / "proctor.db")

    def cases(right: set[int], words: str) -> list[Any]:
        plain = [
            examined.plain(f"c{n}", f"the {words} answer {n}", float(n in right)) for n in range(12)
        ]
        return [*plain, *(examined.plain(name, words, 1.0) for name in ODD_IDS)]

    with Store.open(address) as store:
        put_run(store, "old", cases({0, 1, 2}, "first"))
        put_run(store, "new", cases({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "second"))
        store.comparisons.put(
            (f"{n}-{first}", "c", Comparison(
                case_id=f"c{n}", first=first, second=second, judge="strict", asked="a",
                outcome=outcome, scores=(9.0, 4.0), reason="clearer",
            ))
            for n in range(6)
            for first, second, outcome in (
                ("old", "new", Preference.SECOND), ("new", "old", Preference.FIRST)
            )
        )  # fmt: skip
    return address


@pytest.fixture
def client(place: str) -> Iterator[TestClient]:
    with TestClient(make_app(place), base_url="http://127.0.0.1") as opened:
        yield opened


def links(page: str) -> dict[str, str]:
    """Return the links with a rel or a key by that name."""
    found = re.findall(r'<a href="([^"]*)" rel="(\w+)"', page)
    return {name: unescape(link) for link, name in found}


@pytest.mark.parametrize("name", ["c3", *ODD_IDS])
@pytest.mark.sampled(11)
def test_every_id_has_a_page_and_a_twin(client: TestClient, name: str) -> None:
    link = case_link("old", name)
    answer = client.get(link)
    assert answer.status_code == 200
    assert f"<h1>{name}</h1>" in unescape(answer.text).replace("⟦U+0009⟧", "\t")
    path, _, query = link.partition("?")
    twin = client.get(f"{path}.json" + (f"?{query}" if query else ""))
    assert twin.json()["id"] == name


def test_a_case_explains_its_mark(client: TestClient) -> None:
    page = client.get("/runs/old/cases/c3").text
    for part in ("the first answer 3", "because", "a raw reply", "0 / 1 * 1 = 0", "kind: odd"):
        assert part in page
    assert links(page) == {"prev": "/runs/old/cases/c2", "next": "/runs/old/cases/c4"}


def test_spans_tests_blanks_and_the_ledger_are_shown(
    tmp_path: Path, put_run: Any, examined: Any
) -> None:
    detail = {
        "rules": [{"keyword": "b<c", "status": "match", "points": 1, "spans": [[2, 5]]}],
        "tests": [{"passed": False, "result": "assert 1 == 2", "line": 2, "seconds": 0.1,
                   "stderr": "AssertionError", "stdout": "", "program": "x = 1\nassert x == 2"}],
        "blanks": [{"text": "put", "target": "get", "points": 0, "line": "unmatched", "span": [0, 1]}],
    }  # fmt: skip
    notes = {
        "reason": "max turns",
        "ledger": {"points": ["size", "colour"], "covered": [[True, False], [True, True]],
                   "asked": [[False, True], None], "first": [1, 2]},
    }  # fmt: skip
    one = examined.plain("one", "a b<c d", 0.5, detail=detail)
    talk = (
        Message(role="assistant", content="which colour?", thinking="hm"),
        Message(role="user", content="red"),
        Message(role="assistant", content="a b<c d"),
    )
    held = replace(one, attempts=(replace(one.attempts[0], messages=talk, notes=notes),))
    odd = Score(points=1.0, out_of=1.0, detail={"rules": ["?"], "spans": 3, "tests": {"a": 1}})
    strange = replace(examined.plain("two", "out", 1.0), scores=({"fits": odd},))
    failed = Attempt(case_id="three", status=AttemptStatus.ERROR, error="no route to host")
    absent = replace(examined.plain("three", "", 0.0), attempts=(failed,), scores=({},))
    with Store.open(str(tmp_path / "p.db")) as store:
        put_run(store, "run", [held, strange, absent])
    with TestClient(make_app(str(tmp_path / "p.db")), base_url="http://localhost") as client:
        page = client.get("/runs/run/cases/one").text
        for part in (
            "a <mark>b&lt;c</mark> d", "<code>b&lt;c</code>", "assert 1 == 2", "AssertionError",
            "<mark>   2 assert x == 2</mark>", "<code>put</code>", "<code>get</code>", "max turns",
            '<td dir="auto">colour</td><td>· ?</td><td>✓</td>', "which colour?",
        ):  # fmt: skip
            assert part in page, part
        assert client.get("/runs/run/cases/two").status_code == 200
        assert "no route to host" in client.get("/runs/run/cases/three").text


def test_the_comparison_says_who_is_better_and_lists_what_changed(client: TestClient) -> None:
    address = "/compare?run=old&run=new"
    page = client.get(address).text
    assert "new is better than old" in page
    assert client.get(address + "&lang=zh").text.count("new 优于 old") == 1
    found = client.get("/compare.json?run=old&run=new").json()
    assert found["pairs"][0]["counts"]["better"] == 8
    assert [row["id"] for row in found["pairs"][0]["flips"]["worse"]] == ["c0"]
    listed = client.get("/compare.json?run=old&run=new&kind=better&q=C1").json()["listing"]
    assert [row["id"] for row in listed["cases"]] == ["c10"]
    assert listed["next"] is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("where=first > second", ["c0"]),
        ("where=difference == 1 and id in ('c3', 'c9', 'c1')", ["c3", "c9"]),
        ("where=kind == 'odd' and difference < 0", []),
        ("kind=both_wrong", ["c11"]),
        ("kind=worse&q=c5", []),
        ("q=空", ["空 格"]),
    ],
)
def test_filters_of_the_comparison(client: TestClient, query: str, expected: list[str]) -> None:
    found = client.get(f"/compare.json?run=old&run=new&{query}").json()["listing"]
    assert [row["id"] for row in found["cases"]] == expected


@pytest.mark.slow
def test_a_long_list_goes_on(tmp_path: Path, put_run: Any, examined: Any) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        for name, points in (("a", 0.0), ("b", 1.0)):
            put_run(store, name, [examined.plain(f"c{n}", "x", points) for n in range(120)])
    listed: list[str] = []
    with TestClient(make_app(str(tmp_path / "p.db")), base_url="http://localhost") as client:
        link = "/compare?run=a&run=b&kind=better"
        while link:
            found = client.get(link.replace("/compare?", "/compare.json?")).json()
            listed += [row["id"] for row in found["listing"]["cases"]]
            link = found["next"]
    assert listed == [f"c{n}" for n in range(120)]


def test_a_case_side_by_side_shows_what_differs(client: TestClient) -> None:
    page = client.get("/compare?run=old&run=new&kind=better&case=c4").text
    assert "the <del>first</del> answer 4" in page
    assert "the <ins>second</ins> answer 4" in page
    near = {name: parse_qs(urlsplit(link).query)["case"] for name, link in links(page).items()}
    assert near == {"prev": ["c3"], "next": ["c5"]}


def test_battles_are_counted(client: TestClient) -> None:
    page = without_files(client.get("/battles?run=old&run=new").text)
    assert "strict" in page
    assert "clearer" in page
    found = client.get("/battles.json?run=old&run=new").json()["battles"][0]
    assert (found["pairs"][0]["win"], found["pairs"][0]["loss"]) == (0, 6)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/runs/old/cases/none", 404),
        ("/runs/none/cases/c1", 404),
        ("/runs/none/label", 404),
        ("/runs/old/label?case=none", 404),
        ("/runs/old/label?attempt=7", 404),
        ("/compare", 400),
        ("/compare?run=old&run=none", 404),
        ("/compare?run=old&run=old", 400),
        ("/compare?run=old&run=new&kind=odd", 400),
        ("/compare?run=old&run=new&kind=worse&after=x", 400),
        ("/compare?run=old&run=new&where=first ><", 400),
        ("/compare?run=old&run=new&where=nothing == 1", 400),
        ("/compare?run=old&run=new&case=none", 404),
        ("/battles?run=old", 400),
        ("/battles?run=old&run=none", 404),
    ],
)
@pytest.mark.sampled(2)
def test_what_is_not_there_is_said(client: TestClient, address: str, status: int) -> None:
    path, _, query = address.partition("?")
    assert client.get(address).status_code == status
    if "/cases/" not in address:
        assert client.get(f"{path}.json?{query}").json()["error"]["status"] == status


def give(client: TestClient, case: str, mark: str, /, **more: Any) -> Any:
    page = client.get(f"/runs/new/label?case={case}").text
    token = re.search(r'name="csrf" value="(\w+)"', page)
    assert token is not None
    form = {"csrf": token[1], "case": case, "criterion": "fits", "attempt": "0", "mark": mark}
    headers = {"origin": "http://127.0.0.1", **more.pop("headers", {})}
    return client.post(
        "/runs/new/label", data={**form, **more}, headers=headers, follow_redirects=False
    )


def test_labels_are_kept_and_compared_with_the_judge(client: TestClient, place: str) -> None:
    for number in range(12):
        answer = give(client, f"c{number}", "1" if number in (1, 2, 3, 4, 5, 6, 7, 8, 9) else "0")
        assert answer.status_code == 303
    asked = parse_qs(urlsplit(answer.headers["location"]).query)
    assert asked["case"][0] not in {f"c{number}" for number in range(12)}
    found = client.get("/runs/new/label.json").json()
    assert "csrf" not in found
    assert (found["agreement"]["agreed"], found["agreement"]["n"]) == (11, 12)
    assert found["agreement"]["kappa"] == pytest.approx((11 / 12 - 96 / 144) / (1 - 96 / 144))
    give(client, "c10", "1", note="on second thoughts")
    assert client.get("/runs/new/label.json").json()["agreement"]["kappa"] == 1
    with Store.open(place) as store:
        assert [label.note for label in store.labels.of_run("new")][-1] == "on second thoughts"


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"csrf": "0" * 64}, 403),
        ({"csrf": ""}, 403),
        ({"mark": "7"}, 400),
        ({"case": "none"}, 404),
        ({"headers": {"origin": "http://evil.example"}}, 403),
        ({"headers": {"sec-fetch-site": "cross-site"}}, 403),
        ({"headers": {"host": "evil.example"}}, 421),
        ({"note": "x" * 100_000}, 413),
    ],
)
def test_what_is_not_a_form_of_ours_is_refused(
    client: TestClient, place: str, more: dict[str, Any], status: int
) -> None:
    assert give(client, "c1", "1", **more).status_code == status
    with Store.open(place) as store:
        assert store.labels.of_run("new") == []


def test_every_status_has_its_words() -> None:
    keys = [f"case.status.{status.value}" for status in (*ValueStatus, *ScoreStatus)]
    keys += [f"battle.outcome.{outcome.value}" for outcome in Preference]
    keys += [f"compare.{kind}" for kind in KINDS]
    for language in LANGUAGES:
        assert [key for key in keys if key not in words(language)] == []


def test_several_runs_have_a_leaderboard(tmp_path: Path, put_run: Any, examined: Any) -> None:
    names = ("strong", "middle", "weak")
    with Store.open(str(tmp_path / "p.db")) as store:
        for name in names:
            put_run(store, name, [examined.plain(f"c{n}", name, 1.0) for n in range(9)])
        store.comparisons.put(
            (f"{n}{first}{second}", "c", Comparison(
                case_id=f"c{n}", first=first, second=second, judge="strict", asked="a",
                outcome=Preference.FIRST if n % 4 else Preference.SECOND,
            ))
            for n in range(9)
            for first, second in combinations(names, 2)
        )  # fmt: skip
    query = "&".join(f"run={name}" for name in names)
    with TestClient(make_app(str(tmp_path / "p.db")), base_url="http://localhost") as client:
        found = client.get(f"/battles.json?{query}").json()["battles"][0]
        assert [row["run"] for row in found["leaderboard"]] == list(names)
        assert "排行榜" in client.get(f"/battles?{query}&lang=zh").text
        assert client.get("/battles?run=strong&run=weak").status_code == 200


def test_the_places_around_a_case(place: str) -> None:
    with Store.open(place) as store:
        old, new = store.runs.get("old"), store.runs.get("new")
        assert store.results.neighbours("old", 0) == (None, "c1")
        assert store.results.neighbours("old", 5) == ("c4", "c6")
        assert store.results.neighbours("old", 11 + len(ODD_IDS)) == (ODD_IDS[-2], None)
        assert store.pairs.neighbours(old, new, 3, "better") == (None, "c4")
        assert store.pairs.neighbours(old, new, 3) == ("c2", "c4")
        assert store.pairs.neighbours(old, new, 0, "worse") == (None, None)
