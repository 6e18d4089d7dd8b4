"""Names of candidates as reports show them, with nothing secret in them."""

from typing import Any

import pytest

from proctor.core.names import LONGEST, agent_label, candidate_label, write_model
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
