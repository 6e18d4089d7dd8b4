"""A label or a note from a cell of a grid: the form, the way back, what is stored."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from page_text import without_files
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web.app import make_app

RUNS = "run=old&run=new"


@pytest.fixture
def place(tmp_path: Path, put_run: Any, examined: Any) -> str:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        for name, points in (("old", 0.0), ("new", 1.0)):
            put_run(store, name, [examined.plain(f"c{n}", name, points) for n in range(3)])
    return path


@pytest.fixture
def client(place: str) -> Any:
    with TestClient(make_app(place), base_url="http://127.0.0.1") as opened:
        yield opened


def fields(page: str) -> dict[str, str]:
    """Return the hidden fields of the form in a cell."""
    form = page[page.index('class="say-here"') :]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form)
    return {name: unescape(value) for name, value in found}


def test_every_cell_leads_to_its_form(client: TestClient) -> None:
    page = client.get(f"/grid?{RUNS}&q=c&text=differences")
    assert "say-here" not in without_files(page.text)
    entries = client.get(f"/grid.json?{RUNS}&q=c&text=differences").json()["cases"][1]["entries"]
    opened = client.get(entries[1]["say"]).text
    assert without_files(opened).count("say-here") == 1
    form = fields(opened)
    assert (form["case"], form["attempt"], form["on_case"]) == ("c1", "0", "1")
    assert form["back"] == f"/grid?{RUNS}&q=c&text=differences"
    assert 'formaction="/runs/new/label?criterion=fits"' in opened


def test_what_was_said_stands_in_the_cell_and_is_marked_as_seen(
    client: TestClient, place: str
) -> None:
    page = client.get(f"/grid?{RUNS}&say=new&case=c1").text
    sent = {**fields(page), "mark": "0", "note": "not at all", "author": "ada"}
    answer = client.post(
        "/runs/new/label?criterion=fits", data=sent, follow_redirects=False,
        headers={"Origin": "http://127.0.0.1"},
    )  # fmt: skip
    assert (answer.status_code, answer.headers["location"]) == (303, f"/grid?{RUNS}")
    with Store.open(place) as store:
        (label,) = store.labels.of_cases("new", ["c0", "c1"])["c1"]
    assert (label.points, label.note, label.author, label.seen) == (0.0, "not at all", "ada", True)
    case = client.get(f"/grid.json?{RUNS}").json()["cases"][1]
    assert [[one["note"] for one in entry["labels"]] for entry in case["entries"]] == [
        [], ["not at all"],
    ]  # fmt: skip
    assert "not at all" in client.get(f"/grid?{RUNS}").text


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/grids?x", ""])
def test_a_label_leads_back_to_a_grid_or_to_the_case(client: TestClient, back: str) -> None:
    page = client.get(f"/grid?{RUNS}&say=new&case=c1").text
    sent = {**fields(page), "mark": "1", "back": back, "criterion": "fits"}
    answer = client.post(
        "/runs/new/label", data=sent, follow_redirects=False,
        headers={"Origin": "http://127.0.0.1"},
    )  # fmt: skip
    assert answer.headers["location"].startswith("/runs/new/cases/c1?")


@pytest.mark.parametrize("cell", ["say=nobody&case=c1", "say=new&case=nothing", "say=&case="])
def test_a_cell_that_is_not_there_has_no_form(client: TestClient, cell: str) -> None:
    answer = client.get(f"/grid?{RUNS}&{cell}")
    assert answer.status_code == 200
    assert "say-here" not in without_files(answer.text)


def test_many_labels_of_a_cell_are_counted(client: TestClient, place: str) -> None:
    with Store.open(place) as store:
        for number in range(5):
            store.labels.add(
                Label(run_id="new", case_id="c2", index=0, criterion="fits", points=1.0,
                      note=f"note {number}", author=f"p{number}", created=1.0, seen=False)
            )  # fmt: skip
    page = client.get(f"/grid?{RUNS}").text
    assert "note 4" in page
    assert "note 1" not in page
    assert "+ 2</small>" in page
