"""JSON of dataclasses: written by a loop for the first of a class, by compiled code after that."""

from dataclasses import dataclass, field, fields, replace

import pytest

from proctor.core import fingerprint
from proctor.core.fingerprint import plain
from proctor.core.score import ScoreStatus
from proctor.core.suite import Spec


@dataclass
class Thing:
    """One field for each way in which a default is compared."""

    given: object
    text: object = ""
    words: object = "words"
    none: object = None
    zero: object = 0
    one: object = 1.0
    no: object = False
    pair: object = ()
    status: object = ScoreStatus.SCORED
    made: object = field(default_factory=dict)
    aside: object = field(default="", metadata={"is_content": False})


VALUES = (None, "", "words", 0, 0.0, -0.0, 1, 1.0, True, False, (), (1,), [], {}, {"a": ()},
          ScoreStatus.SCORED, ScoreStatus.FAILED, Spec(name="x"),
          # Equal to a default, and another object than it.
          float("1"), "".join(("wor", "ds")))  # fmt: skip


def test_compiled_code_leaves_out_what_is_left_out_before_it_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fingerprint, "COMPILED_AFTER", 10_000)

    def write(thing: Thing) -> str:
        return repr(plain(thing))

    things = [
        replace(Thing(given=1), **{one.name: value}) for one in fields(Thing) for value in VALUES
    ]
    before = [write(thing) for thing in things]
    for _ in range(10_000 - len(things)):
        plain(things[0])
    assert fingerprint._CONTENTS[Thing].__code__.co_filename == "<string>"  # type: ignore[union-attr]
    assert [write(thing) for thing in things] == before
    assert write(Thing(given="")) == "{}"
    assert write(Thing(given=None, zero=0.0, no=0)) == "{'zero': 0.0, 'no': 0}"
