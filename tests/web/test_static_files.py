"""Style sheets and scripts: compressed once, kept by browsers, other addresses once they change."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import proctor.web
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.static_files import FOR_EVER, asset, static_files

STATIC = Path(proctor.web.__file__).parent / "static"
NAMES = sorted(path.name for path in STATIC.iterdir() if path.suffix in (".css", ".js", ".svg"))


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    place = str(tmp_path / "p.db")
    Store.open(place).close()
    with TestClient(make_app(place), base_url="http://127.0.0.1") as opened:
        yield opened


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_sent_as_it_is_and_compressed(client: TestClient, name: str) -> None:
    content = (STATIC / name).read_bytes()
    plain = client.get(asset(name), headers={"accept-encoding": "identity"})
    assert (plain.status_code, plain.content) == (200, content)
    assert "content-encoding" not in plain.headers
    smaller = client.get(asset(name), headers={"accept-encoding": "gzip"})
    assert (smaller.content, smaller.headers["content-encoding"]) == (content, "gzip")
    assert smaller.headers["vary"] == "Accept-Encoding"
    assert gzip.decompress(static_files()[name].compressed) == content


def test_a_browser_keeps_a_file_under_the_address_of_its_content(client: TestClient) -> None:
    address = asset("style.css")
    assert client.get(address).headers["cache-control"] == FOR_EVER
    # Under another address the file may be another one by the next request.
    for other in ("/static/style.css", "/static/style.css?v=another"):
        found = client.get(other)
        assert (found.status_code, found.headers["cache-control"]) == (200, "no-cache")
        known = {"if-none-match": found.headers["etag"]}
        again = client.get(other, headers=known)
        assert (again.status_code, again.content) == (304, b"")


def test_a_page_names_what_its_files_hold(client: TestClient) -> None:
    page = client.get("/").text
    named = re.findall(r'(?:href|src)="(/static/[^"]*)"', page)
    assert len(named) > 4
    for address in named:
        assert client.get(address).headers["cache-control"] == FOR_EVER, address


@pytest.mark.parametrize("path", ["/static/", "/static/none.css", "/static/x/style.css"])
def test_what_is_no_file_is_not_found(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
    assert client.get(path).headers["cache-control"] == "no-cache"


def test_files_are_only_read(client: TestClient) -> None:
    assert client.post("/static/style.css").status_code == 405
    assert client.head(asset("style.css")).status_code == 200
