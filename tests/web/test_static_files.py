"""Style sheets and scripts are parts of pages, allowed by their hashes; the icon is kept by browsers."""

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import proctor.web
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.static_files import FOR_EVER, asset, script, style_sheet

STATIC = Path(proctor.web.__file__).parent / "static"
SCRIPTS = sorted(path.name for path in STATIC.iterdir() if path.suffix == ".js")
SHEETS = sorted(path.name for path in STATIC.iterdir() if path.suffix == ".css")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    place = str(tmp_path / "p.db")
    Store.open(place).close()
    with TestClient(make_app(place), base_url="http://127.0.0.1") as opened:
        yield opened


def source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def allowed(client: TestClient, directive: str) -> list[str]:
    policy = client.get("/").headers["content-security-policy"]
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    return parts[directive].split()


def test_a_page_asks_for_nothing_but_its_icon(client: TestClient) -> None:
    page = client.get("/").text
    asked = re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="([^"]*)"', page)
    assert asked == [asset("icon.svg")]


def test_the_policy_allows_our_own_styles_and_scripts_and_no_others(client: TestClient) -> None:
    page = client.get("/").text
    for element, directive, known in (
        ("style", "style-src", [style_sheet(name) for name in SHEETS]),
        ("script", "script-src", [script(name) for name in SCRIPTS]),
    ):
        texts = re.findall(rf"<{element}[^>]*>(.*?)</{element}>", "".join(known), re.S)
        assert len(texts) == len(known)
        assert sorted(allowed(client, directive)) == sorted(map(source, texts))
        within = re.findall(rf"<{element}[^>]*>(.*?)</{element}>", page, re.S)
        assert within
        assert set(within) <= set(texts)


@pytest.mark.parametrize("name", SHEETS)
def test_a_style_sheet_loses_its_comments_alone(name: str) -> None:
    text = (STATIC / name).read_text(encoding="utf-8")
    shown = style_sheet(name).removeprefix("<style>").removesuffix("</style>")
    assert "/*" in text
    assert "/*" not in shown
    assert "<" not in shown

    def rules(sheet: str) -> list[str]:
        return re.sub(r"/\*.*?\*/", "", sheet, flags=re.S).split()

    assert rules(shown) == rules(text)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_sent_as_it_is(name: str) -> None:
    text = (STATIC / name).read_text(encoding="utf-8").strip()
    assert script(name) == f'<script type="module">{text}</script>'
    assert "</" not in text
    assert "<!--" not in text


def test_a_browser_keeps_the_icon_under_the_address_of_its_content(client: TestClient) -> None:
    address = asset("icon.svg")
    answer = client.get(address)
    assert answer.headers["cache-control"] == FOR_EVER
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.content == (STATIC / "icon.svg").read_bytes()
    # Under another address the file may be another one by the next request.
    for other in ("/static/icon.svg", "/static/icon.svg?v=another"):
        answer = client.get(other)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
        known = {"if-none-match": answer.headers["etag"]}
        again = client.get(other, headers=known)
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/static/", "/static/style.css", "/static/x/icon.svg"])
def test_what_is_no_file_is_not_found(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
    assert client.get(path).headers["cache-control"] == "no-cache"


def test_files_are_only_read(client: TestClient) -> None:
    assert client.post("/static/icon.svg").status_code == 405
    assert client.head(asset("icon.svg")).status_code == 200
