"""Notices of failures: the first of a kind at once, then at each power of ten, then the total."""

from proctor.core.failures import MOST_TOLD, FailureNotices


def told(*reasons: str, about: str = "") -> tuple[list[str], list[str]]:
    """Return what is told while failures come in, and what is told at the end."""
    lines: list[str] = []
    notices = FailureNotices(lines.append, "failed")
    for reason in reasons:
        notices.add(reason, about)
    before = list(lines)
    notices.close()
    return before, lines[len(before) :]


def test_a_single_failure_is_told_once_with_what_it_is_about() -> None:
    assert told("no  such\nhost", about="judge") == (["failed: no such host (judge)"], [])


def test_a_kind_is_told_at_once_and_its_total_at_the_end() -> None:
    assert told("line 1", "line 2", "other", "line 3") == (
        ["failed: line 1", "failed: other"],
        ["failed 3 times: line 1"],
    )


def test_many_of_a_kind_are_told_at_each_step_and_not_twice() -> None:
    assert told(*["gone"] * 10) == (["failed: gone", "failed 10 times: gone"], [])
    assert told(*["gone"] * 101)[0][-1] == "failed 100 times: gone"
    assert told(*["gone"] * 101)[1] == ["failed 101 times: gone"]
    assert told(*["gone"] * 1000)[0][-1] == "failed 1,000 times: gone"


def test_kinds_beyond_the_first_few_are_left_to_the_report() -> None:
    kinds = [chr(ord("a") + place) for place in range(MOST_TOLD + 2)]
    assert len(told(*kinds)[0]) == MOST_TOLD
    assert told(*kinds, *kinds)[1] == [f"failed 2 times: {kind}" for kind in kinds[:MOST_TOLD]]


def test_a_long_reason_is_cut() -> None:
    assert told("x" * 301)[0] == [f"failed: {'x' * 300}…"]
    assert told("x" * 300)[0] == [f"failed: {'x' * 300}"]
