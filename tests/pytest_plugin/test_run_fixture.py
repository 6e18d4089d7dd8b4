"""The fixture proctor_run: what a marker demands, and what the command line adds."""

from typing import Any

import pytest

from proctor.pytest_plugin.run_fixture import missed_limits

TESTS = """\
import pytest

CASES = [{"id": f"c{n}", "ask": str(n), "criteria": {"number": 2 * n}} for n in range(8)]


def twice(question):
    return str(2 * int(question) + (question == "3"))


@pytest.mark.proctor(min_rate=0.8)
def test_enough(proctor_run):
    run = proctor_run(CASES, twice)
    assert run.rate == 7 / 8
    assert run["c3"].value == 0


@pytest.mark.proctor(min_rate_low=0.8, attempts=2)
def test_not_sure_enough(proctor_run):
    proctor_run(CASES, twice)


@pytest.mark.proctor(min_rate=0.5)
def test_without_the_fixture():
    pass


def test_without_a_marker(proctor_run):
    assert proctor_run(CASES[:2], twice).rate == 1


@pytest.mark.proctor(min_rate=0.5)
def test_without_a_run(proctor_run):
    pass


@pytest.mark.proctor(min_rat=0.5)
def test_misspelt(proctor_run):
    pass
"""


@pytest.mark.slow
def test_a_rate_is_demanded(session: Any) -> None:
    session.write("test_it.py", TESTS)
    printed = session("-rf", code=1)
    assert "2 failed, 2 passed, 2 errors" in printed
    shown = printed.partition("_ test_not_sure_enough _")[2].partition("_ test_without")[0]
    assert "the lower end of the rate's interval is 0." in shown
    assert "and should be at least 0.8 (min_rate_low)" in shown
    assert "c3: number 0 of 1: " in shown
    assert "the marker proctor is for tests that use the fixture proctor_run" in printed
    assert "the test evaluated nothing (fix: proctor_run(cases, candidate))" in printed
    assert "no limit 'min_rat' (did you mean 'min_rate'?)" in printed
    assert (session.folder / ".proctor" / "proctor.db").exists()
    again = session("-rf", "--proctor-store", "other.db", code=1)
    assert "2 failed, 2 passed, 2 errors" in again
    assert (session.folder / "other.db").exists()


@pytest.mark.parametrize(
    ("rate", "interval", "limits", "said"),
    [
        (0.9, (0.7, 0.95), {"min_rate": 0.9, "min_rate_low": 0.7}, ""),
        (0.9, (0.7, 0.95), {}, ""),
        (0.5, (0.3, 0.7), {"min_rate": 0.6}, "the rate is 0.5, and should be at least 0.6 (min_rate)"),
        (0.9, (0.6, 0.95), {"min_rate_low": 0.7}, "interval is 0.6, and should be at least 0.7"),
        (None, None, {"min_rate": 0.1}, "the rate is not known"),
        (0.9, None, {"min_rate_low": 0.1}, "the lower end of the rate's interval is not known"),
    ],
)  # fmt: skip
def test_missed_limits(rate: Any, interval: Any, limits: dict[str, float], said: str) -> None:
    missed = missed_limits(rate, interval, limits)
    assert said in missed
    assert bool(missed) == bool(said)
