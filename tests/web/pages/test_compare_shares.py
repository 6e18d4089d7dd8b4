"""Every case of two runs in one picture, and each of its parts as a filter."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from page_text import without_files
from proctor.engine.compare.comparing import sides_of
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages.compare_shares import compared_shares

GRADED = {
    "one": [0.0, 0.0, 0.3, 0.30000000000000004, 0.25, 1.0, 0.55, 0.1],
    "two": [1.0, 1.0, 0.3, 0.1, 0.25, 0.999, 0.9, 0.0],
}


@pytest.fixture
def client(tmp_path: Path, put_run: Any, examined: Any) -> Iterator[TestClient]:
    place = str(tmp_path / "p.db")
    with Store.open(place) as store:
        for name, values in GRADED.items():
            made = [examined.plain(f"c{n}", "x", value) for n, value in enumerate(values)]
            # What counts is the share of the full score, whatever that is.
            heavy = [
                replace(one, case=replace(one.case, weight=3.0)) if n % 2 else one
                for n, one in enumerate(made)
            ]
            put_run(store, name, heavy)
    with TestClient(make_app(place), base_url="http://127.0.0.1") as opened:
        yield opened


def test_every_point_leads_to_its_cases(client: TestClient) -> None:
    shares = client.get("/compare.json?run=one&run=two").json()["shares"]
    assert not shares["all_or_nothing"]
    cells = shares["cells"]
    assert sum(cell["cases"] for cell in cells) == 8
    for cell in cells:
        path, _, query = cell["link"].partition("?")
        listed = client.get(f"{path}.json?{query}").json()["listing"]["cases"]
        assert len(listed) == cell["cases"], cell["where"]
        for case in listed:
            assert case["first"] / case["full"] == pytest.approx(cell["first"], abs=0.1)
    verdicts = {(cell["first"], cell["second"]): cell["verdict"] for cell in cells}
    assert (verdicts[0.0, 1.0], verdicts[0.25, 0.25], verdicts[1.0, 0.999]) == (
        "better", "same", "worse",
    )  # fmt: skip


def test_graded_values_are_a_scatter(client: TestClient) -> None:
    page = client.get("/compare?run=one&run=two").text
    assert 'class="scatter"' in page
    assert "outcomes" not in without_files(page)
    links = [unescape(one) for one in re.findall(r'<a href="([^"]+)#changes" tabindex="-1">', page)]
    assert len(links) == page.count("<circle") >= 6
    assert all(client.get(link).status_code == 200 for link in links)


def test_right_and_wrong_are_a_table(asked: Any, page_pool: Any) -> None:
    with page_pool.lend() as store:
        sides = sides_of(store, ["old", "new"])
        shares = compared_shares(asked("/compare"), store, sides, str)
    assert shares is not None
    assert shares.all_or_nothing
    with TestClient(make_app(page_pool.place), base_url="http://127.0.0.1") as client:
        page = client.get("/compare?run=old&run=new").text
        assert "scatter" not in without_files(page)
        counts = re.findall(
            r'<a href="([^"]+)#changes">(\d+)</a> <span class="faint">([^<]+)', page
        )
        assert [(count, words) for _, count, words in counts] == [
            ("1", "both right"), ("0", "only A"), ("2", "only B"), ("1", "neither"),
        ]  # fmt: skip
        for link, count, _ in counts:
            listed = client.get(unescape(link).replace("/compare?", "/compare.json?")).json()
            assert len(listed["listing"]["cases"]) == int(count)
