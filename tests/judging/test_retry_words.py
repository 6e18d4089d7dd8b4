"""What a judge is told when it is asked again: part of the keys of stored calls."""

import asyncio
import hashlib
import json
from typing import Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from proctor.core.suite import Message
from proctor.judging.asking import ask
from proctor.judging.retry_words import TEMPLATES, problems_in
from proctor.testing import ScriptedModel


class Everything(BaseModel):
    result: Literal["yes", "no"]
    final: bool
    missing: list[str]
    points: int = Field(ge=0, le=5)
    share: float = Field(gt=0, lt=1)


RIGHT = {"result": "yes", "final": True, "missing": [], "points": 3, "share": 0.5}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"result": "maybe"}, "result: one of 'yes' or 'no' is wanted here, not the text 'maybe'"),
        ({"final": "x" * 50}, f"final: true or false is wanted here, not the text '{'x' * 40}'…"),
        ({"missing": "a"}, "missing: a list is wanted here, not the text 'a'"),
        ({"missing": [1]}, "missing.0: a text is wanted here, not the number 1"),
        ({"points": 1.5}, "points: a whole number is wanted here, not the number 1.5"),
        ({"points": -1}, "points: 0 or more is wanted here, not the number -1"),
        ({"points": 6}, "points: 5 or less is wanted here, not the number 6"),
        ({"share": 0}, "share: more than 0 is wanted here, not the number 0"),
        ({"share": 1}, "share: less than 1 is wanted here, not the number 1"),
        ({"share": None}, "share: a number is wanted here, not nothing"),
    ],
)
def test_a_verdict_that_is_wrong(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Everything.model_validate_json(json.dumps({**RIGHT, **change}), strict=True)
    assert problems_in(raised.value) == words


def test_no_template_has_changed_since_0_1_0() -> None:
    """Other words are other requests: stored replies to judges asked again would be bought anew."""
    text = json.dumps(dict(TEMPLATES), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest == "1030fa7c2f8b0059a59ef2880683f8a0e3124c6d26d2367a83de8fcec3bf7626"


def test_the_judge_is_asked_again_in_these_words() -> None:
    model = ScriptedModel([json.dumps({**RIGHT, "points": "many"}), json.dumps(RIGHT)])
    asyncio.run(ask(model, [Message(role="user", content="Rule.")], Everything))
    again = model.requests[1].messages[-1].content
    assert again.startswith(
        "That reply could not be used: points: a whole number is wanted here, not the text 'many'."
    )
