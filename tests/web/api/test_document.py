"""The OpenAPI document: every route is in it, and what the server answers is what it describes."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from starlette.datastructures import QueryParams
from starlette.routing import Route
from starlette.testclient import TestClient

from proctor.bench import TestSuite
from proctor.core.comparison import Comparison, Preference
from proctor.store.store import Store
from proctor.web import app as web
from proctor.web.api.document import described, document, wrong_models
from proctor.web.api.endpoint import Operation, response_models
from proctor.web.api.response import Error, HtmlPage, Page, ResponseModel

ROOT = "/api/v3/bench/test_suites"
ENDPOINTS = {(one.method, one.documented_path): one for one in described(web.routes)}


def operation(method: str, path: str) -> Operation:
    found = ENDPOINTS[method, path].operation
    assert found is not None
    return found


@pytest.fixture(scope="module")
def client(
    tmp_path_factory: pytest.TempPathFactory, examined: Any, put_run: Callable[..., Any]
) -> Iterator[TestClient]:
    place = str(tmp_path_factory.mktemp("store") / "store.db")
    with Store.open(place) as store:
        for name in ("one", "two"):
            put_run(
                store, name, [examined.plain(f"case {n}", name, float(n % 2)) for n in range(4)]
            )
        compared = Comparison(
            case_id="case 0", first="one", second="two", outcome=Preference.FIRST, judge="local:x"
        )
        store.comparisons.put([("key", "content", compared)])
    for method in ("exact_match", "readability"):
        suite = TestSuite(
            method,
            method,
            store=place,
            input_text_list=["a", "b"],
            reference_output_list=["A", "B"],
        )
        suite.run("first", candidate_output_list=["A", None], model_version="1")
    with TestClient(web.make_app(place), base_url="http://127.0.0.1") as opened:
        yield opened


def test_every_route_is_described_and_every_page_has_its_twin() -> None:
    """A page's route serves its twin too, unless the twin has a route of its own."""
    wanted = set()
    for route in web.routes:
        assert isinstance(route, Route)
        path = route.path.replace(":path}", "}")
        if path.endswith(
            (".json", ".jsonl", ".csv", ".svg", ".txt", ".md", ".html")
        ) or path.startswith("/api/"):
            wanted.add(("get", path))
        elif route.methods is not None and "POST" in route.methods:
            wanted.add(("post", path))
        else:
            wanted.add(("get", "/home.json" if path == "/" else f"{path}.json"))
    assert wanted == set(ENDPOINTS)
    assert len(described(web.routes)) == len(ENDPOINTS), "each is described once"


def test_the_document_is_served(client: TestClient) -> None:
    made = client.get("/openapi.json").json()
    assert made == json.loads(json.dumps(document(web.routes).to_json()))
    assert made["openapi"] == "3.1.0"
    assert {(method, path) for path, found in made["paths"].items() for method in found} == set(
        ENDPOINTS
    )
    refs = set(_refs(made))
    assert refs <= {f"#/components/schemas/{name}" for name in made["components"]["schemas"]}
    assert len(refs) > 30


ADDRESSES: list[tuple[str, str]] = [
    ("/home.json", "/home.json"),
    ("/home.json", "/home.json?q=case&status=complete"),
    ("/suites/{suite}.json", "/suites/{quiz}.json"),
    ("/suites/{suite}.json", "/suites/{words}.json?after=0"),
    ("/runs/{run}.json", "/runs/one.json?where=rate<0.5&size=1&sort=value&order=down"),
    ("/runs/{run}.json", "/runs/one.json?q=case"),
    ("/runs/{run}/progress.json", "/runs/one/progress.json"),
    ("/runs/{run}/live.json", "/runs/one/live.json"),
    ("/runs/{run}/cases/{case}.json", "/runs/one/cases/case 1.json"),
    ("/runs/{run}/case.json", "/runs/one/case.json?id=case 1"),
    ("/runs/{run}/label.json", "/runs/one/label.json?case=case 1"),
    ("/compare.json", "/compare.json?run=one&run=two&kind=better&q=case"),
    ("/compare.json", "/compare.json?run=one&run=two"),
    ("/compare.json", "/compare.json?run=one&run=two&case=case 1"),
    ("/battles.json", "/battles.json?run=one&run=two"),
    ("/grid.json", "/grid.json?run=one&run=two"),
    ("/runs/{run}/audit.json", "/runs/one/audit.json"),
    ("/suites/{suite}/history.json", "/suites/{quiz}/history.json?case=case 1"),
    ("/suites/{suite}/items.json", "/suites/{quiz}/items.json"),
    ("/openapi.json", "/openapi.json"),
    (ROOT, f"{ROOT}?sort=-name"),
    (f"{ROOT}/{{suite}}", f"{ROOT}/{{words_id}}"),
    (f"{ROOT}/{{suite}}/runs", f"{ROOT}/{{words_id}}/runs"),
    (f"{ROOT}/{{suite}}/runs/summary", f"{ROOT}/{{words_id}}/runs/summary"),
    (f"{ROOT}/{{suite}}/runs/summary", f"{ROOT}/{{ease_id}}/runs/summary"),
    (f"{ROOT}/{{suite}}/runs/{{run}}", f"{ROOT}/{{words_id}}/runs/{{run_id}}"),
]


@pytest.mark.parametrize(("path", "address"), ADDRESSES)
def test_what_is_answered_is_what_is_described(client: TestClient, path: str, address: str) -> None:
    answer = client.get(address.format(**_known(client)))
    assert answer.status_code == 200
    shapes = [one for one in ENDPOINTS["get", path].models if not issubclass(one, Error)]
    wrong = {shape.__name__: _problems(shape, answer.text) for shape in shapes}
    assert [] in wrong.values(), wrong


def test_every_parameter_that_is_read_is_described(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, names = _known(client), set[str]()

    def watched(name: str) -> Any:
        real = getattr(QueryParams, name)

        def method(self: QueryParams, key: str, *rest: Any) -> Any:
            names.add(key)
            return real(self, key, *rest)

        return method

    for name in ("get", "getlist", "__getitem__", "__contains__"):
        monkeypatch.setattr(QueryParams, name, watched(name))
    for path in {path for path, _ in ADDRESSES}:
        names.clear()
        for address in (address for one, address in ADDRESSES if one == path):
            client.get(address.format(**known))
        parameters = operation("get", path).parameters
        described = {one["name"] for one in parameters if one["in"] == "query"}
        # A sort where there is none is read to be refused.
        assert names - described <= {"token", "sort"}, path
        assert described <= names, path


def test_all_twins_were_asked_for() -> None:
    others = {("get", "/runs/{run}/histogram.svg"), ("post", "/runs/{run}/label")}
    others |= {("get", "/share.html")}
    others |= {("get", "/runs/{run}/file.txt"), ("post", "/runs/{run}/labels")}
    others |= {("get", f"/runs/{{run}}/case.{ending}") for ending in ("md", "txt")}
    others |= {("get", f"/runs/{{run}}/labels{ending}") for ending in (".csv", ".jsonl")}
    assert {("get", path) for path, _ in ADDRESSES} == set(ENDPOINTS) - others


@pytest.mark.parametrize(
    ("path", "address", "status"),
    [
        ("/suites/{suite}.json", "/suites/nothing-such.json", 404),
        ("/runs/{run}.json", "/runs/nobody.json", 404),
        ("/runs/{run}.json", "/runs/one.json?size=0", 400),
        ("/runs/{run}.json", "/runs/one.json?where=rate<%00", 400),
        ("/runs/{run}/progress.json", "/runs/nobody/progress.json", 404),
        ("/runs/{run}/live.json", "/runs/nobody/live.json", 404),
        ("/runs/{run}/cases/{case}.json", "/runs/one/cases/none.json", 404),
        ("/runs/{run}/label.json", "/runs/one/label.json?case=none", 404),
        ("/compare.json", "/compare.json?run=one", 400),
        ("/battles.json", "/battles.json?run=one&run=nobody", 404),
        (ROOT, f"{ROOT}?sort=size", 422),
        (f"{ROOT}/{{suite}}", f"{ROOT}/x", 422),
        (f"{ROOT}/{{suite}}/runs", f"{ROOT}/00000000-0000-0000-0000-000000000000/runs", 404),
    ],
)
def test_what_is_wrong_is_described(
    client: TestClient, path: str, address: str, status: int
) -> None:
    answer = client.get(address)
    described = operation("get", path)
    assert answer.status_code == status
    assert status in described.wrong
    shapes = (described.error, *wrong_models(ENDPOINTS["get", path]))
    assert [] in [_problems(shape, answer.text) for shape in shapes if shape]


def test_a_key_that_nobody_described_is_found() -> None:
    """The check above can fail: a missing key, a wrong type, and a key too many."""
    shape = ENDPOINTS["get", "/runs/{run}/progress.json"].models[0]
    good = {"id": "x", "status": "complete", "done": 1, "total": 1}
    assert _problems(shape, json.dumps(good)) == []
    for bad in ({**good, "more": 1}, {**good, "done": "1"}, {"id": "x"}):
        assert _problems(shape, json.dumps(bad))


class _Answer(ResponseModel):
    word: str
    more: int | None = None


class _Refusal(Error):
    pass


def test_models_come_from_what_a_handler_returns() -> None:
    def either(request: Any) -> Page[_Answer] | Page[_Refusal] | HtmlPage:
        raise NotImplementedError

    def plain(request: Any) -> _Answer:
        raise NotImplementedError

    assert response_models(either) == (_Answer, _Refusal)
    assert response_models(plain) == (_Answer,)


def test_every_answer_in_json_has_a_model() -> None:
    """Only pictures, files and forms are answered with anything else."""
    bare = [path for (_, path), one in ENDPOINTS.items() if not one.models]
    assert sorted(bare) == [
        "/runs/{run}/case.md",
        "/runs/{run}/case.txt",
        "/runs/{run}/file.txt",
        "/runs/{run}/histogram.svg",
        "/runs/{run}/label",
        "/runs/{run}/labels",
        "/runs/{run}/labels.csv",
        "/runs/{run}/labels.jsonl",
        "/share.html",
    ]


def test_a_handler_cannot_answer_with_what_is_not_described() -> None:
    assert _Answer(word="x").to_json() == {"word": "x"}, "what is left out is left out"
    for wrong in ({"word": "x", "other": 1}, {"more": 1}, {"word": 5}):
        with pytest.raises(ValueError, match="_Answer"):
            _Answer(**wrong)  # type: ignore[arg-type]


def _known(client: TestClient) -> dict[str, str]:
    suites = {one["name"]: one for one in client.get("/home.json").json()["suites"]}
    ids = {one["name"]: one["id"] for one in client.get(ROOT).json()["test_suites"]}
    (run,) = client.get(f"{ROOT}/{ids['exact_match']}/runs").json()["test_runs"]
    return {
        "quiz": suites["quiz"]["key"],
        "words": suites["exact_match"]["key"],
        "words_id": ids["exact_match"],
        "ease_id": ids["readability"],
        "run_id": run["id"],
    }


def _problems(shape: type[BaseModel], text: str) -> list[str]:
    """Say what in an answer is not as described, or is not described."""
    try:
        found = shape.model_validate_json(text, strict=True)
    except ValueError as error:
        return [str(error)]
    bare = not shape.model_fields
    return [] if bare else list(_undescribed(found, shape.__name__))


def _undescribed(thing: Any, where: str) -> Iterator[str]:
    if isinstance(thing, BaseModel):
        yield from (f"{where}.{name} is not described" for name in thing.model_extra or {})
        for name in type(thing).model_fields:
            yield from _undescribed(getattr(thing, name), f"{where}.{name}")
    elif isinstance(thing, dict):
        for name, value in thing.items():
            yield from _undescribed(value, f"{where}[{name}]")
    elif isinstance(thing, list | tuple):
        for value in thing:
            yield from _undescribed(value, f"{where}[]")


def _refs(thing: Any) -> Iterator[str]:
    if isinstance(thing, dict):
        if isinstance(thing.get("$ref"), str):
            yield thing["$ref"]
        for value in thing.values():
            yield from _refs(value)
    elif isinstance(thing, list):
        for value in thing:
            yield from _refs(value)


ODD = ["%00", "%FF%FE", "%C3%28", "9" * 400, "-1", "1e999", "NaN", "%ED%A0%80", "%F0%9F%A6%8A", "%2e%2e%2f",
       "' OR 1=1 --", "[null,99999999999]", "[" * 500, "%5Bnull%2C1%5D", "x" * 5000, "", "%0d%0aX: 1"]  # fmt: skip


@pytest.mark.slow
def test_odd_parameters_break_nothing(client: TestClient) -> None:
    """Whatever stands in the query or the path, the answer is one that is described."""
    known = _known(client)
    asked = 0
    for method, path in ENDPOINTS:
        if method != "get":
            continue
        described = operation(method, path)
        names = [one["name"] for one in described.parameters if one["in"] == "query"]
        api = path.startswith("/api/")
        good = path.replace("{suite}", known["words_id"] if api else known["quiz"])
        good = good.replace("{run}", known["run_id"] if api else "one").replace("{case}", "case 1")
        addresses = [
            f"{good}?{'run=one&run=two&' if 'run' in names else ''}{name}={odd}"
            for place, name in enumerate(names)
            for odd in ODD[place % 4 :: 4]
        ]
        for part in ("{suite}", "{run}", "{case}"):
            if part in path:
                addresses += [path.replace(part, odd).format(suite="a", run="one", case="c") for odd in ODD]  # fmt: skip
        for address in addresses:
            answer = client.get(address)
            asked += 1
            assert answer.status_code in (200, *described.wrong, 404), address
    assert asked > 300
