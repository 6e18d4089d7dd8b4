"""Tasks and what comes of them survive JSON and pickling."""

import json
import pickle
from typing import Any

import pytest

from proctor.engine.bulk.tasks import (
    CheckedAnswers,
    CheckTask,
    PartOutcome,
    RowFile,
    ShareTask,
    SortedAnswers,
    SortTask,
    from_json,
    to_json,
)
from proctor.io.row_shares import FilePlan, Share
from proctor.store.parts.files import PartFolder

FOLDER = PartFolder("/x/y.parts", beside_store=True)
SOURCE = RowFile(path="/a.jsonl", dialect="native", first_row=(1, {"suite": {"name": "s"}}))
SHARE = Share(path="/a.jsonl", rows=3, groups=(1, 2), skip=1, offset=7, line=2)
THINGS: list[Any] = [
    CheckTask(
        source=SOURCE,
        share=SHARE,
        first=0,
        keep=3,
        allow_import=False,
        language="en",
        folder=FOLDER,
        place="s-0/1",
    ),
    ShareTask(
        tags=["b", "a"],
        suite={"name": "s"},
        number=1,
        first=1000,
        cases=10,
        case_place="s-0/1",
        answers=SOURCE,
        shares=(SHARE, SHARE),
        attempts=None,
        interval="t",
        allow_import=False,
        folder=FOLDER,
        place="r-0/1",
        fingerprint="f",
    ),
    SortTask(source=SOURCE, share=SHARE, parts=(0, -1, 2), target="/t"),
    SortedAnswers(path="/t", places=((0, 1, 2, 3), (4, 5, 6, 7))),
    CheckedAnswers(answers=1, ids="00", numbers=[None, 1], has_output=True),
    FilePlan(path="/a", rows=2, marks=((0, 1), (9, 3)), every=1000),
    PartOutcome(
        number=0,
        first=0,
        cases=1,
        attempts=1,
        scores=1,
        failed=0,
        size=1,
        document="{}",
        failures=[["a", "b"]],
    ),
]


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: type(thing).__name__)
def test_a_task_is_the_same_on_the_other_side(thing: Any) -> None:
    assert from_json(json.loads(json.dumps(to_json(thing)))) == thing
    assert pickle.loads(pickle.dumps(thing)) == thing
