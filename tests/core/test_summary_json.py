"""The numbers of a run as JSON: what goes in comes out, and what is no number is refused."""

import json
from copy import deepcopy
from typing import Any

import pytest

from proctor.core.run import Group, Measured, Summary, Totals, sound_summary

GROUP = {"score": 1.5, "full": 2.0, "rate": 0.75, "spread": 0.1, "interval": (0.5, 1.0)}
SUMMARY = Summary(
    totals=Totals(
        **GROUP,
        cases=2,
        attempts=4,
        unanswered=1,
        unscored=0,
        errors=0,
        cases_unscored=0,
        bounds=(0.5, 0.8),
    ),
    groups={"lang": {"x": Group(**{**GROUP, "rate": None, "interval": None}, cases=1)}},
    measures={
        "accuracy": Measured(value=0.5, interval=(0.1, 0.9), n=2, detail={"a": [1]}, note="of all"),
        "none": Measured(value=None, interval=None, n=0),
    },
    usage={"calls": 3, "cost": 0.5, "model": "m"},
    references={"compared": 2},
    failures={"errors": [{"reason": "gone", "count": 2}]},
)


def written() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(SUMMARY.to_json()))
    return data


def test_numbers_come_back_from_their_json() -> None:
    assert Summary.from_json(written()) == SUMMARY
    assert sound_summary(written()) == written()


def test_what_an_older_store_lacks_is_empty() -> None:
    data = {"totals": written()["totals"]}
    del data["totals"]["bounds"]
    read = Summary.from_json(data)
    assert (read.groups, read.measures, read.failures, read.totals.bounds) == ({}, {}, {}, None)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("totals", "score"), "1"),
        (("totals", "score"), True),
        (("totals", "rate"), "0.5"),
        (("totals", "attempts"), 1.5),
        (("totals", "cases"), None),
        (("totals", "interval"), [0.1]),
        (("totals", "interval"), [0.1, "0.2"]),
        (("totals", "bounds"), 3),
        (("totals",), []),
        (("groups", "lang", "x", "spread"), "0.1"),
        (("groups", "lang", "x", "clusters"), 1.5),
        (("groups", "lang"), []),
        (("measures", "accuracy", "value"), "a"),
        (("measures", "accuracy", "n"), 0.5),
        (("measures", "accuracy", "note"), 3),
        (("usage", "calls"), "3"),
        (("references",), [1]),
        (("failures", "errors"), [1]),
        (("failures",), [1]),
    ],
)
def test_what_is_none_of_them_is_not_sound(path: tuple[str, ...], value: Any) -> None:
    data = deepcopy(written())
    *parents, last = path
    place = data
    for name in parents:
        place = place[name]
    place[last] = value
    assert sound_summary(data) is None


def test_a_run_without_numbers_has_none() -> None:
    assert sound_summary(None) is None
    assert sound_summary({}) is None
