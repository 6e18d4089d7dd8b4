"""Names of candidates as reports show them, with nothing secret in them."""

from typing import Any

import pytest

from proctor.core.names import (
    LONGEST,
    agent_label,
    candidate_label,
    clusters_text,
    distinctions,
    model_of,
    place_of,
    write_model,
)
from proctor.core.suite import Spec
from proctor.errors import UsageError


@pytest.mark.parametrize(
    ("name", "params", "label"),
    [
        ("openai", {"model": "m"}, "openai:m"),
        ("model", {"model": "openai:m@http://h", "name": "openai:m"}, "openai:m"),
        ("agent", {"name": "exec:run", "key": "x"}, "exec:run"),
        ("x", {"label": "shown", "name": "not"}, "shown"),
        ("recorded", {"answers": "/data/answers.jsonl"}, "answers.jsonl"),
        ("recorded", {"path": "answers/"}, "answers"),
        ("recorded", {"path": "/"}, "recorded"),
        ("recorded", {}, "recorded"),
    ],
)
def test_a_candidate_is_called_what_people_know_it_as(
    name: str, params: dict[str, Any], label: str
) -> None:
    assert candidate_label(Spec(name=name, params=params)) == label


def test_the_label_of_an_agent_shows_no_password_no_query_and_is_short() -> None:
    secret = Spec(name="exec", params={"command": "ask https://me:pw@host/x"})
    assert agent_label(secret) == "exec:ask https://…@host/x"
    assert agent_label(Spec(name="http", params={"url": "http://h/x?key=1"})) == "http://h/x"
    long = agent_label(Spec(name="python", params={"target": "x" * 100}))
    assert (len(long), long[-1]) == (LONGEST, "…")
    assert agent_label(Spec(name="own", params={"option": 1})) == "own"


def test_a_model_is_written_as_it_is_read() -> None:
    assert write_model("openai", "m@v1", ["http://a/v1", "http://b/v1"]) == (
        "openai:m@v1@http://a/v1,http://b/v1"
    )
    for wrong in ("m@http://evil/v1", " m"):
        with pytest.raises(UsageError):
            write_model("openai", wrong, ["http://a/v1"])


def spec(model: str, prompt: str = "", **more: Any) -> Spec:
    name = model.partition("@http")[0]
    params = {"name": f"{name}+{prompt}" if prompt else name, "model": model, **more}
    return Spec(name="model", params={**params, "prompt": {"name": prompt}} if prompt else params)


def test_a_candidate_without_its_prompt() -> None:
    assert model_of(spec("openai:m", "plain")) == spec("openai:m")
    assert model_of(spec("openai:m+1")) == spec("openai:m+1")


@pytest.mark.parametrize(
    ("candidates", "added"),
    [
        ([spec("openai:m"), spec("openai:n")], ["", ""]),
        ([spec("openai:m", "p"), spec("openai:m", "q")], ["", ""]),
        ([spec("openai:m@http://a/v1"), spec("openai:m@http://b:8/v1")], ["@a", "@b:8"]),
        ([spec("openai:m@http://a/v1"), spec("openai:m@http://a/x/v1")], ["@a/v1", "@a/x/v1"]),
        ([spec("openai:m"), spec("openai:m@http://a/v1")], ["@default", "@a"]),
        (
            [spec("m@http://a/1?key=s", "p"), spec("m@http://a/2", "p"), spec("m@http://a/2", "q")],
            ["@a/1", "@a/2", "@a/2"],
        ),
        (
            [spec("m", sampling={"temperature": 0.0, "seed": 1}), spec("m", sampling={"seed": 1})],
            [",temperature=0", ""],
        ),
        (
            [spec("m", sampling={"extra": {"user": "me"}}), spec("m", sampling={"stop": ["x"]})],
            [",user=me", ""],
        ),
        ([spec("m", system="Be kind."), spec("m", system="Be brief.")], ["", "-2"]),
        (
            [
                Spec(name="recorded", params={"name": "r", "answers": "a/r.jsonl"}),
                Spec(name="recorded", params={"name": "r", "answers": "b/r.jsonl"}),
            ],
            ["@a", "@b"],
        ),
        ([Spec(name="agent", params={"name": "x", "key": key}) for key in "ab"], ["", ""]),
    ],
)
def test_candidates_of_one_label_are_told_apart(candidates: list[Spec], added: list[str]) -> None:
    assert distinctions(candidates) == added


def test_the_place_of_several_addresses_is_the_first_with_their_number() -> None:
    assert place_of(spec("m@http://me:pw@a/v1,http://b/v1")) == "@a"
    assert place_of(spec("m@http://a/v1,m@http://b/v1"), whole=True) == "@a/v1+1"


@pytest.mark.parametrize(
    ("count", "name", "text"),
    [
        (40, "question", "40 questions"),
        (1, "question", "1 question"),
        (1200, "topics", "1,200 topics"),
        (3, "category", "3 categories"),
        (3, "key", "3 keys"),
        (3, "class", "3 classes"),
        (2, "ask", "2 questions"),
        (2, "references", "2 references"),
        (1, "references", "1 reference"),
        (2, "source", "2 sources"),
        (2, "sub topic", "2 clusters"),
        (2, "题", "2 clusters"),
        (1, "", "1 cluster"),
    ],
)
def test_clusters_are_called_by_the_name_of_their_tag(count: int, name: str, text: str) -> None:
    assert clusters_text(count, name) == text
