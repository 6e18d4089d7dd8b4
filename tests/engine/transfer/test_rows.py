"""Rows of exported runs: what Proctor writes is taken, and whatever could not be shown is refused."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.transfer.rows import (
    CaseRow,
    ComparisonRow,
    HeadRow,
    ProofRow,
    checked,
    kind_of,
)
from proctor.errors import SuiteError
from proctor.io.text_files import Document

HEAD: dict[str, Any] = {
    "proctor": 2,
    "run": {"id": "r", "name": "n", "candidate": {"name": "model", "params": {"name": "m"}}},
    "suite": {"name": "s"},
}
CASE: dict[str, Any] = {
    "case": {"id": "c", "criteria": [{"id": "e", "scorer": {"name": "exact_match"}}]},
    "attempts": [{"attempt": {"case_id": "c"}, "scores": {"e": {"points": 1.0, "out_of": 1.0}}}],
}
COMPARISON: dict[str, Any] = {
    "comparison": {"case_id": "c", "first": "a", "second": "b", "outcome": "tie"},
    "key": "k",
    "content": "",
}
PROOF = {"own": "0" * 64}
KINDS: dict[str, tuple[Any, Any]] = {
    "head": (HeadRow, HEAD),
    "case": (CaseRow, CASE),
    "comparison": (ComparisonRow, COMPARISON),
    "proof": (ProofRow, PROOF),
}


def document(data: Any) -> Document:
    return Document(path=Path("run.jsonl"), data=data, row=3)


@pytest.mark.parametrize("name", KINDS)
def test_a_row_is_told_by_its_keys_and_taken_as_it_is(name: str) -> None:
    kind, data = KINDS[name]
    assert kind_of(document(data)) is kind
    assert checked(document(data), kind) is data


@pytest.mark.parametrize("data", [{}, {"stranger": 1}, [], "case", None])
def test_what_looks_like_nothing_of_ours_is_no_kind(data: Any) -> None:
    assert kind_of(document(data)) is None


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("head", ("proctor",), 3),
        ("head", ("run", "id"), ""),
        ("head", ("run", "id"), "x" * 201),
        ("head", ("run", "name"), "a\nb"),
        ("head", ("run", "status"), "well"),
        ("head", ("run", "started"), -1.0),
        ("head", ("run", "started"), float("nan")),
        ("head", ("run", "finished"), 4e9),
        ("head", ("run", "imported"), "yes"),
        ("head", ("run", "settings"), {"attempts": 0}),
        ("head", ("run", "settings"), {"judges": [{"name": "j"}]}),
        ("head", ("run", "stranger"), 1),
        ("head", ("suite", "compat"), "other"),
        ("head", ("suite", "cases"), [{}]),
        ("case", ("attempts",), []),
        ("case", ("case", "weight"), -1.0),
        ("case", ("case", "full_score"), float("inf")),
        ("case", ("case", "tags"), {"lang": "go"}),
        ("case", ("case", "criteria", 0, "weight"), 1e16),
        ("case", ("case", "criteria", 0, "turn"), -1),
        ("case", ("attempts", 0, "attempt", "index"), 1 << 31),
        ("case", ("attempts", 0, "attempt", "status"), "won"),
        ("case", ("attempts", 0, "attempt", "usage"), {"judge": {"calls": -1}}),
        ("case", ("attempts", 0, "scores", "e", "points"), "1"),
        ("case", ("attempts", 0, "scores", "e", "status"), "good"),
        ("case", ("attempts", 0, "key"), "short"),
        ("case", ("attempts", 0, "key"), "g" * 64),
        ("comparison", ("comparison", "second"), "a"),
        ("comparison", ("comparison", "scores"), [1.0]),
        ("comparison", ("comparison", "outcome"), "both"),
        ("comparison", ("key",), ""),
        ("proof", ("own",), "0" * 63),
    ],
)
def test_what_no_store_could_have_written_is_refused(
    kind: str, path: tuple[Any, ...], value: Any
) -> None:
    model, data = KINDS[kind]
    changed = deepcopy(data)
    place = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(SuiteError, match=r"run.jsonl:3"):
        checked(document(changed), model)
