"""Scorers by the names of their classes: all that the registry has, for programs and type checkers."""

import re
from pathlib import Path

import pytest

import proctor.scorers
from proctor.registry import BUILT_IN
from proctor.scorers import *  # noqa: F403

OWN = {
    target.partition(":")[2]: target.partition(":")[0]
    for target in BUILT_IN["scorer"].values()
    if target.startswith("proctor.scorers.")
}


def test_every_registered_scorer_can_be_imported() -> None:
    assert proctor.scorers.__all__ == sorted(OWN)
    assert set(OWN) <= set(dir(proctor.scorers)) & set(globals())
    for name, home in OWN.items():
        assert getattr(proctor.scorers, name).__module__ == home


def test_type_checkers_see_every_registered_scorer() -> None:
    text = Path(str(proctor.scorers.__file__)).read_text(encoding="utf-8")
    shown = re.findall(r"^    from (\S+) import (\w+) as (\w+)$", text, re.MULTILINE)
    assert shown == sorted((home, name, name) for name, home in OWN.items())


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="Rogue"):
        proctor.scorers.Rogue  # noqa: B018
