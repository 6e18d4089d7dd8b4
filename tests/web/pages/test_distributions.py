"""How many cases reached which share: one scale for several runs, and every bar a filter."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages.case_view import BINS
from proctor.web.pages.distributions import HEIGHT, Distribution, distribution_of, drawn_beside


def counted(**bins: int) -> Distribution:
    """Return a distribution with some counts, by the number of the bin after `b`."""
    counts = [0] * BINS
    for name, count in bins.items():
        if name != "below":
            counts[int(name[1:])] = count
    return Distribution(below=bins.get("below", 0), bins=counts)


def test_all_or_nothing_needs_no_picture() -> None:
    assert drawn_beside(["a", "b"], [counted(b0=3, b19=4), counted(b19=1)]) is None
    assert drawn_beside(["a"], [counted()]) is None


def test_runs_of_any_size_share_a_scale() -> None:
    drawn = drawn_beside(["small", "large"], [counted(b0=2, b9=2), counted(b9=100, b19=300)])
    assert drawn is not None
    small, large = drawn
    # A half of few is as high as a half of many would be; three quarters are the highest.
    assert [bar["height"] for bar in small["bars"]] == [26.7, 26.7]
    assert [bar["height"] for bar in large["bars"]] == [13.3, HEIGHT]
    assert small["bars"][1]["x"] == large["bars"][0]["x"]
    assert small["bars"][1]["link"].startswith("/runs/small?where=rate+%3E%3D+0.45")
    assert small["zero"] == 0


def test_what_is_below_nothing_has_a_bar_of_its_own() -> None:
    drawn = drawn_beside(["a", "b"], [counted(below=1, b0=1), counted(b0=1, b1=1)])
    assert drawn is not None
    assert [bar["label"] for bar in drawn[0]["bars"]] == ["< 0%", "0–5%"]
    # The second run has none, and its bars stand under the same shares.
    assert drawn[1]["bars"][0]["x"] == drawn[0]["bars"][1]["x"]
    assert drawn[1]["zero"] == drawn[0]["zero"] > 0


@pytest.fixture
def penalties(tmp_path: Path, put_run: Any, examined: Any) -> str:
    """Store two runs, one with cases below nothing, and give the place."""
    place = str(tmp_path / "p.db")
    with Store.open(place) as store:
        for name, values in (("one", [-0.5, 0.0, 0.3, 1.0]), ("two", [0.0, -1.0, 0.3, 0.6])):
            put_run(store, name, [examined.plain(f"c{n}", "x", v) for n, v in enumerate(values)])
    return place


def test_cases_below_nothing_are_listed_by_their_bar_and_their_point(penalties: str) -> None:
    with TestClient(make_app(penalties), base_url="http://127.0.0.1") as client:
        grid = client.get("/grid.json?run=one&run=two").json()
        spread = {one["name"]: one["distribution"] for one in grid["runs"]}
        assert spread["one"]["below"] == spread["two"]["below"] == 1
        assert sum(spread["one"]["bins"]) == 3
        shares = client.get("/compare.json?run=one&run=two").json()["shares"]
        assert shares["below"]
        for cell in shares["cells"]:
            path, _, query = cell["link"].partition("?")
            listed = client.get(f"{path}.json?{query}").json()["listing"]["cases"]
            assert len(listed) == cell["cases"] == 1
            assert listed[0]["first"] == pytest.approx(cell["first"])
        for page in ("/compare", "/grid"):
            text = client.get(f"{page}?run=one&run=two").text
            assert text.count('class="bars-of"') >= 2
            assert "where=rate+%3C+0#cases" in text
        listed = client.get("/runs/one.json?where=rate<0").json()["cases"]
        assert [one["id"] for one in listed] == ["c0"]
        assert "&lt; 0%: 1" in client.get("/runs/one/histogram.svg").text
        assert 'alt="&lt; 0%"' in client.get("/runs/one").text


def test_a_run_is_counted_once(asked: Any, page_pool: Any) -> None:
    request = asked("/compare")
    with page_pool.lend() as store:
        run = store.runs.get("old")
        found = distribution_of(request, store, run)
        assert found is distribution_of(request, store, run)
        assert found.counts == store.listing.histogram(run.id, BINS)
