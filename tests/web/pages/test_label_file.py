"""Files of labels on the label page: as the commands write and read them, with the same checks."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages.label import token_for
from proctor.web.pages.label_file import LARGEST_FILE

HEAD = "case,attempt,criterion,points,note,author\n"


@dataclass
class Desk:
    """A run of three cases behind a server."""

    client: TestClient
    path: str

    def send(self, name: str, content: str | bytes, **fields: str) -> Any:
        data = {"csrf": token_for("r"), "author": "ann", **fields}
        return self.client.post(
            "/runs/r/labels", data=data, files={"file": (name, content)}, follow_redirects=False
        )

    def labels(self) -> list[tuple[str, float | None, str, str]]:
        with Store.open(self.path) as store:
            return [(one.case_id, one.points, one.note, one.author)
                    for one in store.labels.of_run("r")]  # fmt: skip


@pytest.fixture
def desk(tmp_path: Path, put_run: Any, examined: Any) -> Iterator[Desk]:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        put_run(store, "r", [examined.plain(f"c{n}", f"say {n}", float(n % 2)) for n in range(3)])
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        yield Desk(client, path)


def test_what_is_sent_is_stored_once_and_read_back(desk: Desk) -> None:
    rows = HEAD + "c0,0,fits,1,well said,\nc1,,,wrong,'=1+1,bob\nc2,0,fits,,,\n"
    answer = desk.send("../../my labels.CSV", rows)
    assert answer.status_code == 303
    assert answer.headers["location"] == (
        "/runs/r/label?added=2&unchanged=0&empty=1&author=ann#files"
    )
    assert "Labels added: 2" in desk.client.get(answer.headers["location"]).text
    wanted = [("c0", 1.0, "well said", "ann"), ("c1", 0.0, "=1+1", "bob")]
    assert desk.labels() == wanted
    table = desk.client.get("/runs/r/labels.csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert table.headers["content-disposition"] == "attachment; filename*=UTF-8''r-labels.csv"
    assert [row["note"] for row in csv.DictReader(io.StringIO(table.text))] == [
        "well said", "'=1+1",
    ]  # fmt: skip
    lines = desk.client.get("/runs/r/labels.jsonl")
    assert [json.loads(line)["case"] for line in lines.text.splitlines()] == ["c0", "c1"]
    for name, content in (("again.csv", table.content), ("again.jsonl", lines.content)):
        assert "added=0&unchanged=2" in desk.send(name, content).headers["location"]
    assert desk.labels() == wanted


def test_cases_to_be_filled_in(desk: Desk) -> None:
    answer = desk.client.get("/runs/r/labels.csv?sample=2&criterion=fits")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["criterion"], row["points"]) for row in rows] == [("fits", "")] * 2
    filled = answer.text.replace("fits,,", "fits,right,")
    assert "added=2" in desk.send("todo.csv", filled).headers["location"]
    assert desk.client.get("/runs/r/labels.csv?sample=99999").status_code == 400
    assert desk.client.get("/runs/gone/labels.csv").status_code == 404


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("l.csv", HEAD + "c0,0,fits,1,,\nc9,0,fits,1,,\n", ["labels.csv:3", "no case &#39;c9&#39;"]),
        ("l.csv", HEAD + "c0,0,fits,7,,\nc1,5,fits,1,,\n", ["from 0 to 1", "no attempt", ":2", ":3"]),
        ("l.csv", HEAD + "c0,0,fist,1,,\n", ["did you mean", "labels.csv:2"]),
        ("l.csv", "id,points\nc0,1\n", ["a label has a &#39;case&#39;"]),
        ("l.jsonl", '{"case": "c0", "points": 1}\n{"case": \n', ["labels.jsonl:2"]),
        ("l.jsonl", "[1]\n", ["a row is an object"]),
        ("l.csv", HEAD + "<script>alert(1)</script>,0,fits,1,,\n", ["&lt;script&gt;alert(1)"]),
        ("l.csv", b"\xff\xfe\x00\x01\x80" * 50, ["labels.csv"]),
        ("l.csv", HEAD + '"c0' + "x" * 200_000, ["labels.csv"]),
        ("l.csv", b"", ["labels.csv"]),
        ("l.jsonl", "[" * 100_000, ["labels.jsonl"]),
        ("l.xlsx", b"PK\x03\x04", [".csv, .tsv, .jsonl"]),
        ("labels", HEAD, [".csv, .tsv, .jsonl"]),
    ],
)  # fmt: skip
def test_a_file_with_mistakes_is_refused_as_a_whole(
    desk: Desk, name: str, content: str | bytes, words: list[str]
) -> None:
    answer = desk.send(name, content)
    assert answer.status_code == 400
    for one in words:
        assert one in answer.text
    assert "<script>alert" not in answer.text
    assert "/tmp" not in answer.text
    assert desk.labels() == []


@pytest.mark.parametrize("token", ["", "0" * 64, "\ud7ff"])
def test_only_forms_of_the_page_are_taken(desk: Desk, token: str) -> None:
    answer = desk.send("l.csv", HEAD + "c0,0,fits,1,,\n", csrf=token)
    assert (answer.status_code, desk.labels()) == (403, [])


def test_another_site_cannot_send_a_file(desk: Desk) -> None:
    answer = desk.client.post(
        "/runs/r/labels",
        data={"csrf": token_for("r")},
        files={"file": ("l.csv", HEAD + "c0,0,fits,1,,\n")},
        headers={"origin": "http://evil.example"},
    )
    assert (answer.status_code, desk.labels()) == (403, [])


def test_what_is_too_large_or_no_form_is_refused(desk: Desk) -> None:
    assert desk.send("l.csv", HEAD + "x" * LARGEST_FILE).status_code == 413
    post = desk.client.post
    assert post("/runs/r/labels", content=iter([b"x"])).status_code == 413
    assert post("/runs/r/labels", data={"csrf": token_for("r")}).status_code == 400
    assert post("/runs/r/labels", data={"csrf": "x", "file": "text"}).status_code == 400
    two = [("file", ("a.csv", HEAD)), ("file", ("b.csv", HEAD))]
    assert post("/runs/r/labels", data={"csrf": token_for("r")}, files=two).status_code == 400
    broken = {"content-type": "multipart/form-data; boundary=x"}
    assert post("/runs/r/labels", content=b"--y\r\n", headers=broken).status_code == 400
    assert desk.labels() == []
