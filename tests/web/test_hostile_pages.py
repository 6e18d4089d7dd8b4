"""Forty hostile texts on every page that shows what strangers wrote: all of it stays text."""

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from page_text import without_files
from proctor.core.comparison import Comparison, Preference
from proctor.core.suite import Spec
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.share.document import ShareSettings, write_page

NUMBERS = range(40)
OWN_PICTURES = {"interval", "timeline", "delta", "chart", "trend", "spark", "scatter", "bars-of"}


class Outline(HTMLParser):
    """Note every element, attribute and text that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.text += data


@pytest.fixture(scope="module")
def client(
    tmp_path_factory: pytest.TempPathFactory,
    put_run: Any,
    put_calls: Any,
    examined: Any,
    hostile: list[str],
) -> Iterator[TestClient]:
    served = Spec(name="model", params={"model": "openai:m@http://127.0.0.1:9/v1"})
    place = tmp_path_factory.mktemp("hostile") / "proctor.db"
    with Store.open(str(place)) as store:
        for name, answers in (("evil", hostile), ("twin", hostile[::-1])):
            made = [examined.hostile(number, text) for number, text in enumerate(answers)]
            run = put_run(store, name, made, served if name == "evil" else None)
            for one, text in zip(made if name == "evil" else (), hostile, strict=False):
                put_calls(store, run, one.case, one.attempts[0], text[:2000])
        store.comparisons.put(
            (f"k{number}", "c", Comparison(
                case_id=f"case {number}", first="evil", second="twin", judge=text[:2000],
                asked="a", outcome=Preference.FIRST, reason=text[:2000], raw=(text[:2000],),
            ))
            for number, text in enumerate(hostile)
        )  # fmt: skip
    with TestClient(make_app(str(place)), base_url="http://127.0.0.1") as opened:
        yield opened


def pages(number: int) -> list[str]:
    case = f"case%20{number}"
    return [
        f"/runs/evil/cases/{case}",
        f"/runs/evil/cases/{case}?full=1&text=raw",
        f"/runs/evil/cases/{case}?text=rendered",
        f"/runs/evil/cases/{case}?step=1&full=1",
        f"/runs/evil/cases/{case}?steps=all",
        "/runs/evil?column=criterion:fits&sort=criterion:fits&column=answer",
        f"/runs/evil/label?case={case}",
        f"/compare?run=evil&run=twin&case={case}",
    ]


@pytest.mark.parametrize(("number", "step"), [(0, 2), (4, 2), (3, 3), (13, 2)])
def test_requests_and_replies_of_models_are_shown_as_text(
    client: TestClient, hostile: list[str], number: int, step: int
) -> None:
    # Attempts of odd numbers are those of agents, with a model call that a proxy saw.
    seen = check(client, f"/runs/evil/cases/case%20{number}?step={step}&text=raw")
    classes = [str(attributes.get("class")) for _, attributes in seen.elements]
    assert "drawer exchange" in classes
    assert ("within" in classes) == bool(number % 2)
    assert hostile[number] in seen.text


def check(client: TestClient, address: str) -> Outline:
    """Open a page, and see that nothing in it acts and nothing is hidden."""
    answer = client.get(address)
    assert answer.status_code == 200, address
    seen = Outline()
    seen.feed(without_files(answer.text))
    for tag, attributes in seen.elements:
        if tag == "img" and re.fullmatch(
            r"/runs/\w+/histogram\.svg(\?labels=no)?", str(attributes["src"])
        ):
            continue
        assert tag not in ("img", "iframe", "object", "embed", "base", "style", "script"), tag
        assert not [name for name in attributes if name.startswith("on")], attributes
        assert attributes.get("http-equiv") is None
        if tag == "svg":
            assert str(attributes["class"]).split()[0] in OWN_PICTURES
        for name in ("href", "src", "action", "formaction"):
            link = attributes.get(name) or "/"
            assert link.startswith(("/", "?", "#", "https://pictures.example/")), link
            assert not link.startswith("//"), link
    for hidden in "\x00\x07\x1b\x7f\u200b\u202e\u202c\u2028\u2066\u2069\ufeff":
        assert hidden not in answer.text
    assert "unsafe" not in answer.headers["content-security-policy"]
    return seen


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.sampled(3)
def test_what_strangers_wrote_stays_text(
    client: TestClient, hostile: list[str], number: int
) -> None:
    for address in pages(number):
        seen = check(client, address)
        whole = "full=1" in address
        if "rendered" in address:
            continue
        shown = hostile[number][: None if whole else 1000].split("\ud800")[0]
        if shown.isprintable():
            assert shown in seen.text


@pytest.mark.parametrize(
    "address",
    ["/compare?run=evil&run=twin&force=1", "/compare?run=evil&run=twin&force=1&kind=both_wrong&q=<b>",
     "/battles?run=evil&run=twin", "/runs/evil/label", "/runs/evil", "/runs/evil?column=tags&column=reference&size=500",
     "/grid?run=evil&run=twin", "/?q=alert", "/runs/evil?q=alert(1)"],
)  # fmt: skip
def test_lists_of_what_strangers_wrote(client: TestClient, address: str) -> None:
    check(client, address)


@pytest.mark.parametrize(
    ("number", "mark"), [(24, "U+202E"), (25, "U+0000"), (26, "U+D800"), (27, "U+200B")]
)
def test_hidden_characters_are_shown_as_marks(client: TestClient, number: int, mark: str) -> None:
    assert mark in check(client, f"/runs/evil/cases/case%20{number}").text


def test_a_very_long_text_is_cut_until_it_is_asked_for(client: TestClient) -> None:
    short, whole = (client.get(address).text for address in pages(29)[:2])
    assert len(whole) - len(short) > 700_000
    assert "full=1" in short


@pytest.mark.parametrize("number", [0, 25, 26, 29])
def test_twins_carry_the_same_text(client: TestClient, hostile: list[str], number: int) -> None:
    found = client.get(f"/runs/evil/cases/case%20{number}.json")
    assert found.headers["content-type"].startswith("application/json")
    expected = hostile[number].encode("utf-8", "backslashreplace").decode()
    assert found.json()["attempts"][0]["output"] == expected


@pytest.fixture(scope="module")
def named(
    tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any, hostile: list[str]
) -> Iterator[tuple[TestClient, str, Path]]:
    """Serve runs in which all that is a name is hostile: forty cases, one text in each."""
    place = tmp_path_factory.mktemp("names") / "proctor.db"
    # Ids and names are columns of the database; both kinds of it refuse what is no text at all.
    short = [text[:150].encode("utf-8", "replace").decode().replace("\0", "") for text in hostile]
    with Store.open(str(place)) as store:
        for at, (run_id, points) in enumerate((("one", 0.25), ("two", 0.75))):
            made = [_named(examined, number, text, points) for number, text in enumerate(short)]
            # All of these begin with a tag.
            other = short[3 + at]
            spec = Spec(name="model", params={"model": other, "name": other, other: [other]})
            run = put_run(store, run_id, made, spec, suite_name="".join(short[:4]))
            settings = {"judges": [{"model": other, "prompt": other}], other: other, "x": other}
            store.runs.save(replace(run, name=other, settings=settings, started=1.7e9 + at))
            key = run.suite_key
            store.labels.add_many(
                Label(run_id=run_id, case_id=one.case.id, index=0, criterion=one.case.criteria[0].id,
                      points=1.0, note=text, author=text, created=1.0, seen=False)
                for one, text in zip(made, short, strict=True)
            )  # fmt: skip
            found = {"value": 0.1, "interval": [0.05, 0.2], "n": 4}
            audit = {"judge": other, "cases": 4, "answers": 4, "flips": found,
                     "noise_variance": 0.01, "probes": {"length": found}, "notes": short[:3]}  # fmt: skip
            store.audits.save(run_id, other, 1.0, audit)
        store.comparisons.put(
            (f"k{number}", "c", Comparison(
                case_id=one.case.id, first="one", second="two", judge=short[3],
                asked="a", outcome=Preference.FIRST, reason=short[number], raw=(short[number],),
            ))
            for number, one in enumerate(made)
        )  # fmt: skip
    with TestClient(make_app(str(place)), base_url="http://127.0.0.1") as opened:
        yield opened, key, place


def _named(examined: Any, number: int, text: str, points: float) -> Any:
    name = f"{number} {text}"
    one = examined.plain(name, f"answer {text}", points, ask=f"question {text}")
    (scores,) = one.scores
    criteria = tuple(
        replace(one.case.criteria[0], id=part, metric=text) for part in (text, f"more {text}")
    )
    tags = {text: (text, "a"), "kind": (text,)}
    return replace(
        one,
        case=replace(one.case, criteria=criteria, tags=tags, cluster=text),
        scores=({criterion.id: scores["fits"] for criterion in criteria},),
    )


def links_of(page: str, part: str) -> list[str]:
    """Return the addresses on a page that have a part, without what follows the number sign."""
    seen = Outline()
    seen.feed(page)
    found = [str(attributes.get("href")) for tag, attributes in seen.elements if tag == "a"]
    return [link.partition("#")[0] for link in dict.fromkeys(found) if part in link]


def test_names_of_strangers_stay_text_on_all_pages(
    named: tuple[TestClient, str, Path], hostile: list[str]
) -> None:
    client, key, _ = named
    both = "run=one&run=two"
    addresses = [
        "/", "/?q=alert", "/?q=" + quote(hostile[0]), f"/suites/{key}", f"/suites/{key}/items",
        f"/suites/{key}?candidate=" + quote(hostile[3]), "/runs/one", "/runs/one/audit",
        "/runs/one?column=tags&column=reason&sort=reason&size=50", "/runs/one/label",
        "/runs/one?status=failed&q=" + quote(hostile[3][:20]),
        f"/compare?{both}", f"/compare?{both}&kind=different&q=alert", f"/grid?{both}",
        f"/grid?{both}&text=differences&q=alert", f"/battles?{both}",
    ]  # fmt: skip
    for address in addresses:
        seen = check(client, address)
        if "items" not in address and "q=" not in address:
            assert "onerror=alert(1)" in seen.text, address


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.sampled(4)
def test_a_case_with_hostile_names_is_found_by_its_links(
    named: tuple[TestClient, str, Path], hostile: list[str], number: int
) -> None:
    client, key, _ = named
    rows = client.get("/runs/one.json?size=500").json()["cases"]
    case_id = next(row["id"] for row in rows if row["id"].startswith(f"{number} "))
    asked = quote(case_id, errors="replace")
    pages = [
        f"/runs/one/case?id={asked}", f"/suites/{key}/history?case={asked}",
        f"/compare?run=one&run=two&case={asked}",
        f"/compare?run=one&run=two&case={asked}&answers=rendered",
        f"/grid?run=one&run=two&say=two&case={asked}", f"/runs/one/label?case={asked}",
    ]  # fmt: skip
    known = [page for page in pages if client.get(page).status_code == 200]
    assert len(known) >= 5 or not case_id.isascii() or "\\u" in case_id
    for page in known:
        check(client, page)
    for kind in ("json", "md", "txt"):
        answer = client.get(f"/runs/one/case.{kind}?id={asked}&part=answer&attempt=0")
        if answer.status_code != 200:
            continue
        # What a browser saves or shows of it is never a page.
        assert "html" not in answer.headers["content-type"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        disposition = answer.headers.get("content-disposition", "")
        assert not set(disposition) & set('<>"\r\n\\')


def test_downloaded_tables_hold_no_formulas(named: tuple[TestClient, str, Path]) -> None:
    client, _, place = named
    with Store.open(str(place)) as store:
        (first, *_) = store.labels.of_run("one")
        for text in ("=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"):
            store.labels.add(replace(first, id=None, note=text, author=text))
    for address in ("/runs/one/labels.csv", "/runs/one/labels.csv?sample=40"):
        answer = client.get(address)
        assert answer.headers["content-type"].startswith("text/csv")
        cells = [cell for row in csv.reader(StringIO(answer.text, newline="")) for cell in row]
        assert len(cells) > (7 if "sample" in address else 200)
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r"))]
        assert not [cell for cell in cells if cell.startswith("-") and not cell[1:2].isdigit()]
    text = client.get("/runs/one/labels.csv").text
    assert "'=HYPERLINK(1)" in text
    # A carriage return ends a row unless it is in quotes.
    assert '"\'\r=1"' in text


def test_names_of_strangers_stay_text_in_the_shared_file(
    named: tuple[TestClient, str, Path], tmp_path: Path
) -> None:
    with Store.open(str(named[2])) as store:
        out = tmp_path / "shared.html"
        with out.open("wb") as file:
            write_page(store, ["one", "two"], file, ShareSettings())
    page = out.read_text("utf-8")
    seen = Outline()
    seen.feed(page)
    kinds = [tag for tag, _ in seen.elements]
    assert set(kinds) <= {
        "html", "head", "meta", "title", "style", "script", "body", "header", "main", "h1",
        "noscript", "p", "div", "nav", "a", "span", "link",
    }  # fmt: skip
    blocks = [one for tag, one in seen.elements if tag == "script"]
    assert {one.get("type") for one in blocks} == {None, "module", "application/octet-stream"}
    # Everything of strangers is compressed and in letters that end no element.
    for text in re.findall(r'octet-stream" id="[\w-]+">(.*?)</script>', page, re.S):
        assert re.fullmatch(r"[A-Za-z0-9+/=\s]*", text)
