"""Forty hostile texts on every page that shows what strangers wrote: all of it stays text."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import proctor.web
from proctor.core.comparison import Comparison, Preference
from proctor.core.suite import Spec
from proctor.store.store import Store
from proctor.web.app import make_app

NUMBERS = range(40)
STATIC = Path(proctor.web.__file__).parent / "static"
OWN_SCRIPTS = {f"/static/{script.name}" for script in STATIC.glob("*.js")}
OWN_PICTURES = {"interval", "timeline", "delta", "chart", "trend", "spark"}


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
    seen.feed(answer.text)
    for tag, attributes in seen.elements:
        if tag == "img" and str(attributes["src"]).endswith("/histogram.svg"):
            continue
        assert tag not in ("img", "iframe", "object", "embed", "base", "style"), tag
        assert not [name for name in attributes if name.startswith("on")], attributes
        assert attributes.get("http-equiv") is None
        if tag == "svg":
            assert str(attributes["class"]).split()[0] in OWN_PICTURES
        if tag == "script":
            assert attributes["src"] in OWN_SCRIPTS
        for name in ("href", "src", "action", "formaction"):
            link = attributes.get(name) or "/"
            assert link.startswith(("/", "?", "#", "https://pictures.example/")), link
            assert not link.startswith("//"), link
    for hidden in "\x00\x07\x1b\x7f\u200b\u202e\u202c\u2028\u2066\u2069\ufeff":
        assert hidden not in answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]
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
