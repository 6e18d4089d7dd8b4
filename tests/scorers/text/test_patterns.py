"""Texts and patterns that are looked for: where they stand, whatever the case."""

import pytest

from proctor.scorers.text.patterns import example_of, find_pattern, find_text, pattern_problem


@pytest.mark.parametrize(
    ("text", "needle", "ignore_case", "span"),
    [
        ("one red two", "red", False, (4, 7)),
        ("one Red two", "red", False, None),
        ("one Red two", "rED", True, (4, 7)),
        ("a.b", "a.b", True, (0, 3)),
        ("axb", "a.b", True, None),
        ("STRASSE 3", "straße", True, (0, 9)),
        ("x", "", False, (0, 0)),
        ("", "x", True, None),
        ("red red", "red", False, (0, 3)),
    ],
)
def test_a_text_is_found_where_it_first_stands(
    text: str, needle: str, ignore_case: bool, span: tuple[int, int] | None
) -> None:
    assert find_text(text, needle, ignore_case=ignore_case) == span


def test_a_pattern_is_found_where_it_first_matches() -> None:
    assert find_pattern("a1 b22", r"\d+$", ignore_case=False) == (4, 6)
    assert find_pattern("ABC", "b", ignore_case=True) == (1, 2)
    assert find_pattern("ABC", "b", ignore_case=False) is None


@pytest.mark.parametrize("pattern", ["(", "[", "*a", "(?P<x>a)(?P<x>b)", "a{99999999999}"])
def test_a_pattern_that_does_not_compile_says_why(pattern: str) -> None:
    problem = pattern_problem(pattern)
    assert problem is not None
    assert repr(pattern) in problem
    assert pattern_problem(r"a(b|c)*\d") is None


def test_an_example_matches_and_is_the_same_every_time() -> None:
    for pattern in (r"[a-c]{3}\d+", "yes|no", "x?"):
        example = example_of(pattern)
        assert find_pattern(example, f"^(?:{pattern})$", ignore_case=False) == (0, len(example))
        assert example_of(pattern) == example
    with pytest.raises(ValueError, match="no example for"):
        example_of("(?P<a")
