"""Labels from the page of a case: kept, told apart from those given blindly, and back to the list."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.engine.labels.agreement import corrected_scores, latest
from proctor.engine.labels.label_files import export_labels, import_labels
from proctor.engine.labels.queues import by_author
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages.label import token_for
from proctor.web.pages.seen_labels import current


@dataclass
class Desk:
    """A run of six cases behind a server."""

    client: TestClient
    path: str

    def say(self, mark: str, case: str = "c1", query: str = "", **more: str) -> Any:
        form = {"csrf": token_for("run"), "case": case, "criterion": "fits", "attempt": "0"}
        form |= {"mark": mark, "author": "Ann Ö", "on_case": "1", **more}
        return self.client.post(f"/runs/run/label{query}", data=form, follow_redirects=False)

    def labels(self) -> list[Label]:
        with Store.open(self.path) as store:
            return store.labels.of_run("run")


@pytest.fixture
def desk(tmp_path: Path, put_run: Any, examined: Any) -> Iterator[Desk]:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        put_run(store, "run", [examined.plain(f"c{n}", "so", float(n % 2)) for n in range(6)])
    with TestClient(make_app(path), base_url="http://localhost") as client:
        yield Desk(client, path)


def test_a_label_beside_the_verdict_is_marked_and_counts_nothing(desk: Desk) -> None:
    answer = desk.say("0", query="?status=failed&q=c", note=" no ")
    assert answer.status_code == 303
    address = answer.headers["location"]
    assert address == "/runs/run/cases/c1?status=failed&q=c&attempt=0#verdict-0-0"
    (label,) = desk.labels()
    assert (label.points, label.note, label.author, label.seen) == (0.0, "no", "Ann Ö", True)
    page = desk.client.get(address).text
    assert "given after the verdict" in page
    assert 'value="Ann Ö"' in page
    assert 'id="verdict-0-0"' in page
    twin = desk.client.get("/runs/run/cases/c1.json").json()
    assert [(one["points"], one["seen"]) for one in twin["labels"]] == [(0.0, True)]
    with Store.open(desk.path) as store:
        assert corrected_scores(store, "run") == {}
        assert store.labels.criteria("run") == {}
    for query, labelled, left_out in (("", 0, 1), ("seen=1", 1, 0)):
        told = desk.client.get(f"/runs/run/label.json?author=Ann+Ö&case=c1&{query}").json()
        assert (told["labelled"], told["left_out"]) == (labelled, left_out)
        assert told["agreement"]["n"] == labelled
        assert told["own"]["seen"]
    assert "are left out" in desk.client.get("/runs/run/label").text


def test_a_blind_label_stays_in_force_beside_a_later_one(desk: Desk) -> None:
    desk.say("1", on_case="")
    desk.say("0")
    labels = desk.labels()
    assert [(one.points, one.seen) for one in labels] == [(1.0, False), (0.0, True)]
    assert [one.points for one in latest(labels, "fits").values()] == [1.0]
    assert [one.points for one in latest(labels, "fits", seen=True).values()] == [0.0]
    assert by_author(labels, "fits")["Ann Ö"]["c1", 0].points == 1.0
    assert len(current(labels)) == 2


def test_who_has_seen_the_verdict_is_blind_no_more(desk: Desk) -> None:
    desk.say("0")
    desk.say("1", on_case="")
    desk.say("1", case="c2", on_case="")
    desk.say("1", on_case="", author="Ben")
    assert [(one.case_id, one.author, one.seen) for one in desk.labels()] == [
        ("c1", "Ann Ö", True),
        ("c1", "Ann Ö", True),
        ("c2", "Ann Ö", False),
        ("c1", "Ben", False),
    ]


def test_a_note_needs_no_mark_and_is_no_label(desk: Desk) -> None:
    assert desk.say("note").status_code == 303
    assert desk.labels() == []
    desk.say("note", note="look again")
    desk.say("note", note="and again")
    assert [(one.points, one.note) for one in current(desk.labels())] == [
        (None, "look again"),
        (None, "and again"),
    ]
    assert "look again" in desk.client.get("/runs/run/cases/c1").text
    assert desk.client.get("/runs/run/label.json").json()["labelled"] == 0
    # The label page has no such mark.
    assert desk.say("note", note="x", on_case="").status_code == 400
    assert desk.say("7").status_code == 400
    assert desk.say("1", csrf="old").status_code == 403


def test_a_contradiction_is_one_whoever_saw_what(desk: Desk) -> None:
    desk.say("0")
    told = desk.client.get("/runs/run/label.json?queue=disagreement").json()
    assert (told["waiting"], told["case"]["id"]) == (1, "c1")


def test_files_say_what_was_seen(desk: Desk, tmp_path: Path) -> None:
    desk.say("0")
    desk.say("1", case="c2", on_case="")
    for ending in ("csv", "jsonl"):
        file = tmp_path / f"labels.{ending}"
        with Store.open(desk.path) as store:
            run = store.runs.get("run")
            assert export_labels(store, run, file) == 2
            assert import_labels(store, run, file).unchanged == 2
            for label in store.labels.of_run("run"):
                store.labels.remove(label.id or 0)
            assert import_labels(store, run, file).added == 2
        assert [one.seen for one in desk.labels()] == [True, False]
    file = tmp_path / "wrong.csv"
    file.write_text("case,points,seen\nc1,1,perhaps\n")
    with Store.open(desk.path) as store, pytest.raises(Exception, match="'seen' is 1 or 0"):
        import_labels(store, store.runs.get("run"), file)
