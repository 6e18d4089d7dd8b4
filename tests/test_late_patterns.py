"""Regular expressions that are compiled late: they find what the others find."""

import copy
import re

import pytest

from proctor import late_patterns
from proctor.late_patterns import late_pattern


def test_nothing_is_compiled_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    made = re.compile
    monkeypatch.setattr(
        late_patterns.re, "compile", lambda *how: compiled.append(how) or made(*how)
    )
    words = late_pattern(r"[a-z]+", re.IGNORECASE)
    assert compiled == []
    assert words.findall("One two") == ["One", "two"]
    assert words.sub("x", "One 2") == "x 2"
    assert compiled == [(r"[a-z]+", re.IGNORECASE)]


def test_it_has_all_that_a_pattern_has() -> None:
    late, usual = late_pattern(r"(?P<word>\w+)|(\d)"), re.compile(r"(?P<word>\w+)|(\d)")
    assert (late.pattern, late.flags, late.groups) == (usual.pattern, usual.flags, usual.groups)
    assert late.groupindex == usual.groupindex
    for method in ("match", "fullmatch", "search"):
        assert getattr(late, method)("ab")[0] == getattr(usual, method)("ab")[0]
    assert late.split("a b") == usual.split("a b")
    assert copy.copy(late_pattern("a")).findall("aa") == ["a", "a"]


def test_what_is_wrong_is_told_where_it_is_used() -> None:
    broken = late_pattern("(")
    with pytest.raises(re.error, match="missing"):
        broken.search("x")
