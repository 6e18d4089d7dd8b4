"""Every route with odd paths, parameters and forms: an answer, never a broken page."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.routing import Route
from starlette.testclient import TestClient

from fuzzing import within
from level import LEVEL
from proctor.bench import TestSuite
from proctor.core.comparison import Comparison, Preference
from proctor.store.store import Store
from proctor.web.app import make_app, routes

pytestmark = pytest.mark.scaled
TRIES = LEVEL.of(quick=20, ci=150, full=500)

NAMES = [
    "q", "lang", "author", "case", "attempt", "run", "token", "sort", "id", "full", "after", "before", "scorer", "name",
    "dialect", "scoring_method", "run_ids", "where", "criterion", "mark", "note", "csrf", "kind", "force", "status",
    "page", "page_size", "tag", "by", "suite", "candidate", "judge", "path", "limit",
]  # fmt: skip
VALUES = [
    "", "0", "1", "-1", "2", "1e309", "nan", "9" * 400, "9223372036854775808", "-9223372036854775809", "one", "two",
    "case 0", "case 1", "fits", "quiz", "zh", "en", "xx", "../x", "..%2f", "/etc/passwd", "%00", "\x00", "\x1b", "\u202e",
    "\ud800", "'", '"', "' OR 1=1 --", "\\", "%", "_", "*", "(", "[", "a AND", "NEAR(", "\"", "x" * 5000, "rate > 0.5",
    "id == 'case 0'", "lambda", "(" * 300, "<script>", "{{ 7*7 }}", "@last", "@last~1", "@last~999999999999999999999",
    "@last~", "value", "-value", "id", "position", "eyJhIjoxfQ==", "0:0", "1,2,3", "null", "[]", "{}", "true", "correct",
]  # fmt: skip
TEXTS = st.one_of(st.sampled_from(VALUES), st.text(max_size=30))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, store_pages: Any) -> Iterator[TestClient]:
    place = str(tmp_path_factory.mktemp("store") / "store.db")
    store_pages(place)
    with TestClient(make_app(place), base_url="http://127.0.0.1", follow_redirects=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def store_pages() -> Callable[[str], None]:
    """Give what makes a store with runs of both kinds, and a battle."""

    def make(place: str) -> None:
        for name, answers in (("one", ["A", "b"]), ("two", ["a", None])):
            suite = TestSuite(
                "quiz",
                "exact_match",
                store=place,
                input_text_list=["a", "b"],
                reference_output_list=["A", "B"],
            )
            suite.run(name, candidate_output_list=answers, model_version="1")
        with Store.open(place) as store:
            compared = Comparison(
                case_id="0", first="one", second="two", outcome=Preference.FIRST, judge="local:x"
            )
            store.comparisons.put([("key", "content", compared)])

    return make


def path_of(route: Any, parts: list[str]) -> str:
    assert isinstance(route, Route)
    left = iter(parts * 4)
    pieces = route.path.split("/")
    return "/".join(
        quote(next(left), safe="", errors="replace") if piece.startswith("{") else piece
        for piece in pieces
    )


@settings(
    max_examples=TRIES, deadline=None, database=None, derandomize=True,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(
    st.sampled_from(routes),
    st.lists(st.one_of(st.sampled_from(["one", "two", "quiz", "0"]), TEXTS), min_size=1, max_size=3),
    st.lists(st.tuples(st.sampled_from(NAMES), TEXTS), max_size=5),
    st.sampled_from(["", ".json", ".svg", "/", "%00"]),
    st.sampled_from(["GET", "GET", "GET", "HEAD", "POST", "DELETE"]),
)  # fmt: skip
@pytest.mark.slow
def test_every_route_answers(
    client: TestClient,
    route: Any,
    parts: list[str],
    asked: list[tuple[str, str]],
    ending: str,
    method: str,
) -> None:
    given = urlencode(asked, errors="replace")
    form = "&".join(given.split("&")[:3]).encode() if method == "POST" else None
    kind = {"content-type": "application/x-www-form-urlencoded"} if form is not None else {}
    with within():
        answer = client.request(
            method, f"{path_of(route, parts)}{ending}?{given}", content=form, headers=kind
        )
    assert answer.status_code < 500, answer.text[:500]


@settings(
    max_examples=TRIES, deadline=None, database=None, derandomize=True,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(st.dictionaries(
    st.sampled_from(["host", "origin", "cookie", "authorization", "accept-language", "accept", "range",
                     "if-none-match", "if-modified-since", "content-type", "content-length", "sec-fetch-site",
                     "accept-encoding", "referer"]),
    st.one_of(st.sampled_from([*VALUES, "bytes=0-", "bytes=9-1,0-0", "zh;q=nan,en;q=1e999", "proctor_token=x;;=",
                               "multipart/form-data; boundary=", "127.0.0.1:99999999"]),
              st.text(max_size=30)).map(lambda text: text.encode("latin-1", "ignore").translate(None, b"\r\n\0")),
    max_size=4,
), st.sampled_from(["/", "/home.json", "/runs/one/label", "/static/icon.svg", "/api/v3/bench/test_suites"]),
   st.sampled_from(["GET", "POST"]))  # fmt: skip
@pytest.mark.slow
def test_odd_headers_are_answered(
    client: TestClient, headers: dict[str, bytes], path: str, method: str
) -> None:
    with within():
        answer = client.request(method, path, headers=headers)
    assert answer.status_code < 500, answer.text[:500]
