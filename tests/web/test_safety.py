"""Who is let in: hosts, origins, tokens; and what every answer forbids."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from proctor.store.store import Store
from proctor.web.app import make_app

TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("safe") / "p.db")
    Store.open(path).close()
    return path


@pytest.fixture
def client(place: str) -> Iterator[TestClient]:
    with TestClient(make_app(place), base_url="http://127.0.0.1:7461") as made:
        yield made


@pytest.fixture
def shut(place: str) -> Iterator[TestClient]:
    """Give a client of a server that asks for a token."""
    app = make_app(place, token=TOKEN, hosts=("lab.example",))
    with TestClient(app, base_url="http://lab.example", follow_redirects=False) as made:
        yield made


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:7461", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("[::1]:7461", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost@evil.example", 421),
        ("evil.example:127.0.0.1", 421),
        ("[::1", 421),
        ("", 421),
    ],
)
def test_only_names_of_this_machine_are_answered(
    client: TestClient, host: str, status: int
) -> None:
    assert client.get("/", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"origin": "http://127.0.0.1:7461"}, 200),
        ("GET", {"origin": "http://evil.example"}, 403),
        ("GET", {"origin": "null"}, 403),
        ("GET", {"origin": "http://127.0.0.1:9999"}, 403),
        ("GET", {"sec-fetch-site": "cross-site"}, 200),
        ("POST", {"sec-fetch-site": "cross-site"}, 403),
        ("POST", {"origin": "http://evil.example"}, 403),
        ("POST", {"origin": "http://127.0.0.1:7461"}, 405),
        ("DELETE", {}, 405),
    ],
)
def test_other_sites_may_not_ask(
    client: TestClient, method: str, headers: dict[str, str], status: int
) -> None:
    assert client.request(method, "/", headers=headers).status_code == status


@pytest.mark.parametrize("path", ["/", "/home.json", "/nothing", "/static/icon.svg", "/runs/x"])
@pytest.mark.parametrize("host", ["localhost", "evil.example"])
def test_every_answer_forbids_what_is_not_needed(client: TestClient, path: str, host: str) -> None:
    headers = client.get(path, headers={"host": host}).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_nothing_is_shown_without_the_token(shut: TestClient) -> None:
    for path in ("/", "/home.json", "/static/icon.svg", "/?token=wrong", "/?token="):
        assert shut.get(path).status_code == 401, path
    assert shut.get("/", headers={"cookie": f"proctor_token={TOKEN}"}).status_code == 401
    assert shut.post(f"/?token={TOKEN}").status_code == 401


def test_the_token_is_asked_for_once(shut: TestClient) -> None:
    answer = shut.get(f"/?token={TOKEN}&lang=zh")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?lang=zh")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert shut.get("/").status_code == 200


def test_a_program_may_bring_the_token_in_a_header(shut: TestClient) -> None:
    given = {"authorization": f"Bearer {TOKEN}"}
    assert shut.get("/home.json", headers=given).status_code == 200
    assert shut.get("/home.json", headers={"authorization": "Bearer x"}).status_code == 401


def test_the_redirect_stays_here(shut: TestClient) -> None:
    answer = shut.get(f"http://lab.example//evil.example/?token={TOKEN}")
    assert answer.headers["location"] == "/evil.example/"


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"]
)
def test_only_static_files_are_static(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    from proctor.errors import StoreError

    with pytest.raises(StoreError, match="no store"):
        make_app(str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()
