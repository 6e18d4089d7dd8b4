"""Texts and regular expressions to look for, with one meaning of "ignore case" for all scorers."""

import re
from functools import lru_cache

MOST_FOLDED = 20_000_000
"""Characters of texts whose case is ignored, times those of an answer, that are searched at once:
each may be compared at every place."""


def pattern_problem(pattern: str) -> str | None:
    """Return why a regular expression does not compile."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"the regular expression {pattern!r} does not compile: {error}"
    return None


@lru_cache(maxsize=4096)
def compiled(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    """Compile a pattern once."""
    return re.compile(pattern, re.IGNORECASE if ignore_case else 0)


def find_text(text: str, needle: str, *, ignore_case: bool) -> tuple[int, int] | None:
    """Return where a text first occurs in another."""
    if not ignore_case:
        start = text.find(needle)
        return (start, start + len(needle)) if start >= 0 else None
    match = compiled(re.escape(needle), True).search(text)
    if match is not None:
        return match.span()
    # Folding case may change lengths (ß, İ), which re does not do; the span is then the whole text.
    return (0, len(text)) if needle.casefold() in text.casefold() else None


def find_pattern(text: str, pattern: str, *, ignore_case: bool) -> tuple[int, int] | None:
    """Return where a regular expression first matches."""
    match = compiled(pattern, ignore_case).search(text)
    return match.span() if match is not None else None


def example_of(pattern: str) -> str:
    """Return a text that a regular expression matches, as far as one is easily made."""
    from random import Random

    import rstr

    try:
        example = rstr.Rstr(Random(0)).xeger(pattern)  # noqa: S311 - the same example every time  # nosec B311
    except Exception as error:  # noqa: BLE001 - a generator of strings may fail in its own ways
        raise ValueError(f"no example for {pattern!r}: {error}") from None
    return str(example)
