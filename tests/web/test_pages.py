"""The pages of the home, suites and runs, by HTTP over a real store."""

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from page_text import without_files
from proctor.core.run import RunStatus
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.wording import LANGUAGES, words

WEB = Path(__file__).resolve().parents[2] / "src" / "proctor" / "web"
CASES = 120


@pytest.fixture(scope="module")
def place(
    tmp_path_factory: pytest.TempPathFactory, put_run: Callable[..., Any], examined: Any
) -> Iterator[str]:
    """Give a store with two finished runs and one that is under way."""
    path = str(tmp_path_factory.mktemp("web") / "p.db")
    odd = ["a/b?c#d", "x.json", "<i>&", "中文 \u202e題", ".."]
    with Store.open(path) as store:
        for name, every in (("first", 2), ("second", 3)):
            cases = [
                examined.plain(odd[n] if n < len(odd) else f"c{n:03}", "so", float(n % every == 0))
                for n in range(CASES)
            ]
            run = put_run(store, name, cases)
        going = replace(run, id="going", name="going", status=RunStatus.RUNNING)
        # It gives signs of life until the tests are over.
        store.liveness.await_work(going, lambda: None)
        store.liveness.begin("going")
        yield path


@pytest.fixture(scope="module")
def client(place: str) -> Iterator[TestClient]:
    with TestClient(make_app(place), base_url="http://127.0.0.1:7461") as made:
        yield made


@pytest.fixture(scope="module")
def suite_key(client: TestClient) -> str:
    return str(client.get("/home.json").json()["suites"][0]["key"])


def test_home(client: TestClient, suite_key: str) -> None:
    text = client.get("/").text
    assert all(f'href="/runs/{name}"' in text for name in ("first", "second", "going"))
    assert f'href="/suites/{suite_key}"' in text
    assert 'data-progress="/runs/going/progress.json"' in text
    found = client.get("/runs/going/progress.json").json()
    assert found == {"id": "going", "status": "running", "done": 0, "total": CASES}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("q=FIR", ["first"]),
        ("status=running", ["going"]),
        ("candidate=first", ["first"]),
        ("dialect=native", ["first", "going", "second"]),
        ("dialect=bench", []),
        ("scorer=nobody", []),
    ],
)
def test_home_is_filtered(client: TestClient, query: str, names: list[str]) -> None:
    found = client.get(f"/home.json?{query}").json()
    assert sorted(run["name"] for run in found["runs"]) == names
    text = client.get(f"/?{query}").text
    assert sorted(re.findall(r'<a href="/runs/(\w+)"', text)) == names


def test_a_suite(client: TestClient, suite_key: str) -> None:
    found = client.get(f"/suites/{suite_key}.json").json()
    assert found["suite"]["cases"] == CASES
    assert {run["name"] for run in found["runs"]} == {"first", "second", "going"}
    assert client.get(f"/suites/{suite_key[:12]}.json").json() == found
    text = client.get(f"/suites/{suite_key}").text
    assert "&lt;i&gt;&amp;" in text
    assert "<i>" not in text
    after = re.search(r'rel="next" href="([^"#]+)', text)
    assert after
    assert "c099" in client.get(after[1]).text
    picture = client.get("/runs/first/histogram.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.text.count("<rect") == 2


def test_a_run(client: TestClient) -> None:
    found = client.get("/runs/first.json").json()
    assert found["totals"]["rate"] == 0.5
    assert found["totals"]["cases"] == CASES
    assert found["groups"]["kind"]["odd"]["cases"] == CASES
    text = client.get("/runs/first").text
    assert "50.0%" in text
    assert "kind+%3D%3D+%27odd%27" in text


def test_a_run_that_has_no_numbers_yet_has_a_page(client: TestClient) -> None:
    text = client.get("/runs/going").text
    assert words("en")["no_numbers"] in text
    assert client.get("/runs/going.json").json()["progress"]["total"] == CASES


@pytest.mark.parametrize("sort", ["position", "value", "id"])
@pytest.mark.parametrize("order", ["up", "down"])
def test_all_pages_together_hold_every_case_once(client: TestClient, sort: str, order: str) -> None:
    address: str | None = f"/runs/second?sort={sort}&order={order}&size=50"
    seen = []
    while address is not None:
        found = client.get(address.replace("/second", "/second.json").partition("#")[0]).json()
        seen += [case["id"] for case in found["cases"]]
        address = found["next"]
    assert len(seen) == CASES
    assert len(set(seen)) == CASES


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"where": "value == 1"}, 60),
        ({"where": "kind == 'odd' and rate < 1"}, 60),
        ({"q": "C00"}, 5),
        ({"q": "c00", "where": "value == 1"}, 2),
        ({"status": "error"}, 0),
    ],
)
def test_cases_are_filtered(client: TestClient, query: dict[str, str], count: int) -> None:
    found = client.get("/runs/first.json", params={**query, "size": "500"}).json()
    assert len(found["cases"]) == count
    assert client.get("/runs/first", params=query).status_code == 200


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/runs/nope", 404, "no run"),
        ("/runs/..%2Fx", 404, ""),
        ("/suites/ffffffffffff", 404, "no suite"),
        ("/suites/_%25", 404, "no suite"),
        ("/nothing", 404, "Not Found"),
        ("/runs/first?where=vaule<1", 400, "did you mean"),
        ("/runs/first?sort=colour", 400, "sort must be one of"),
        ("/runs/first?size=9999", 400, "size must be"),
        ("/runs/first?after=x", 400, "after must be"),
        ("/runs/first?after=[1,true]", 400, "after must be"),
        ("/suites/ffffffffffff?after=1e9", 400, "whole number"),
    ],
)
def test_wrong_addresses_say_what_is_wrong(
    client: TestClient, path: str, status: int, said: str
) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert said in answer.text.replace("&#39;", "'")
    assert answer.text.startswith("<!doctype html>")
    where, _, query = path.partition("?")
    twin = client.get(f"{where}.json?{query}")
    assert twin.status_code == status
    assert said in json.dumps(twin.json())
    # Where the store lies is nobody's business.
    assert ".db" not in answer.text + twin.text


@pytest.mark.slow
def test_every_link_of_a_page_leads_somewhere(client: TestClient, suite_key: str) -> None:
    from html import unescape

    for start in ("/", f"/suites/{suite_key}", "/runs/first", "/runs/first?sort=value&order=down"):
        links = {
            unescape(link).partition("#")[0]
            for link in re.findall(r'(?:href|src)="([^"]+)"', client.get(start).text)
        }
        for link in sorted(links):
            address = link if link.startswith("/") else start.partition("?")[0] + link
            # A browser resolves a path of two dots, and so does the client: no case is there.
            if link and not address.endswith("/.."):
                assert client.get(address).status_code == 200, (start, link)


def test_no_page_has_a_script_or_a_style_of_its_own(client: TestClient, suite_key: str) -> None:
    for path in ("/", f"/suites/{suite_key}", "/runs/first", "/runs/going", "/nothing"):
        text = without_files(client.get(path).text)
        assert not re.search(r"<script|<style|\sstyle=|\son\w+=|javascript:", text)


def test_what_turns_the_reading_is_a_mark(client: TestClient) -> None:
    text = client.get("/runs/first").text
    assert "\u202e" not in text
    assert "⟦U+202E⟧" in text
    assert "\u202e" in client.get("/runs/first.json").text


@pytest.mark.parametrize(
    ("headers", "query", "language"),
    [
        ({}, "", "en"),
        ({"accept-language": "zh-CN,zh;q=0.9,en;q=0.8"}, "", "zh"),
        ({"accept-language": "fr,de"}, "", "en"),
        ({"accept-language": "zh"}, "?lang=en", "en"),
        ({"cookie": "proctor_lang=zh"}, "", "zh"),
        ({}, "?lang=xx", "en"),
    ],
)
def test_language(place: str, headers: dict[str, str], query: str, language: str) -> None:
    with TestClient(make_app(place), base_url="http://localhost") as fresh:
        answer = fresh.get(f"/{query}", headers=headers)
    assert f'<html lang="{language}"' in answer.text
    assert words(language)["latest_runs"] in answer.text


def test_theme_is_kept_by_the_browser_and_not_by_the_address(place: str) -> None:
    with TestClient(make_app(place), base_url="http://localhost") as fresh:
        assert 'data-theme="system"' in fresh.get("/runs/first").text
        for name in ("dark", "light", "system"):
            page = fresh.get("/runs/first?status=failed&lang=zh")
            link = re.search(rf'href="([^"]*)" data-theme-choice="{name}"', page.text)
            assert link is not None
            answer = fresh.get(f"/runs/first{html.unescape(link[1])}")
            # What the page shows stays in its address, and the choice leaves it.
            assert answer.url.params["status"] == "failed"
            assert "theme" not in answer.url.params
            assert f'data-theme="{name}"' in answer.text
            assert f'data-theme="{name}"' in fresh.get("/nothing").text
        assert 'data-theme="system"' in fresh.get("/?theme=pink").text
        outside = fresh.get("//evil.example/?theme=dark", follow_redirects=False)
        assert not outside.headers.get("location", "").startswith("//")


def test_no_word_is_missing_in_any_language() -> None:
    keys = {code: set(words(code)) for code in LANGUAGES}
    used = set()
    for path in (WEB / "templates").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        used |= set(re.findall(r"""\bt\(\s*["']([\w.]+)["']\s*[,)]""", text))
    assert used
    for code, known in keys.items():
        assert known == keys["en"], code
        assert used <= known, code
    for key, text in words("en").items():
        holes = [sorted(re.findall(r"\{\w*\}", words(code)[key])) for code in LANGUAGES]
        assert holes == [holes[0]] * len(holes), key
        assert text, key
