"""Cases in a file: read back as they were, found by id, cut and keyed."""

from array import array
from collections.abc import Callable

import pytest

from proctor.contracts import case_spool
from proctor.contracts.case_spool import CaseFinder, Keyed, Part, SpooledCases
from proctor.core.fingerprint import case_key, digest, suite_key
from proctor.core.suite import Case, Criterion, Message, Spec, Suite


def case(number: int, name: str = "") -> Case:
    return Case(
        id=name or f"c{number}",
        messages=(
            Message(role="user", content=f"{number} 问 \ud800" + "x" * (number % 7 * 50_000)),
        ),
        criteria=(
            Criterion(id="k", scorer=Spec(name="keywords", params={"rules": [f"w{number}"]})),
        ),
        tags={"t": (str(number),)},
        source=f"f:{number}",
    )


@pytest.fixture(params=[2, 100], ids=["in a file", "held"])
def spool(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], SpooledCases]:
    monkeypatch.setattr(case_spool, "MOST_IN_MEMORY", request.param)
    monkeypatch.setattr(case_spool, "RECENT", 5)
    return SpooledCases


def test_cases_come_back(spool: Callable[[], SpooledCases]) -> None:
    cases, plain = spool(), [case(number) for number in range(30)]
    for place, one in enumerate(plain):
        cases.append(one)
        assert cases[place] == one
    assert (len(cases), list(cases), list(cases)) == (30, plain, plain)
    assert [cases[place] for place in (29, 0, -1, -30)] == [
        plain[29],
        plain[0],
        plain[29],
        plain[0],
    ]
    for part in (slice(3), slice(5, 25, 3), slice(None, None, -1), slice(40, 50)):
        assert list(cases[part]) == plain[part]
    assert list(cases[4:20][2:5]) == plain[6:9]
    with pytest.raises(IndexError):
        cases[30]
    both = zip(cases, cases, strict=True)
    assert all(one == other for one, other in both)
    assert list(cases.done()) == plain


def test_cases_are_found(spool: Callable[[], SpooledCases]) -> None:
    cases = spool()
    for number in range(20):
        cases.append(case(number))
    cases.append(case(3, "c3"))
    assert [cases.find(name) for name in ("c0", "c3", "c19", "c20", "")] == [0, 3, 19, None, None]
    for some in (cases.done(), tuple(cases), cases[:]):
        finder = CaseFinder(some)
        assert finder["c7"].source == "f:7"
        assert ("c7" in finder, "nobody" in finder, 7 in finder) == (True, False, False)
        assert len(finder) == 21
    odd = Part(cases, range(1, 20, 2))
    finder = CaseFinder(odd)
    assert [finder.place(name) for name in ("c1", "c5", "c4", "c99")] == [0, 2, None, None]
    with pytest.raises(KeyError):
        finder["c4"]
    assert next(iter(finder)) == "c1"


def test_some_of_the_cases_are_found(spool: Callable[[], SpooledCases]) -> None:
    cases = spool()
    for number in range(20):
        cases.append(case(number))
    for part in (cases[::-1], cases[4:18:3], Part(cases, array("q", [2, 3, 11])), cases[30:]):
        wanted = {one.id: place for place, one in enumerate(part)}
        finder = CaseFinder(part)
        names = [f"c{number}" for number in range(22)]
        assert [finder.place(name) for name in names] == [wanted.get(name) for name in names]


def test_cases_that_come_after_a_search_are_found_too(spool: Callable[[], SpooledCases]) -> None:
    cases = spool()
    for number in range(9):
        cases.append(case(number, "\ud800" if number == 7 else ""))
        assert cases.find(cases[number].id) == number
    assert cases.find("\ud800") == 7
    going = iter(cases)
    next(going)
    cases.append(case(9))
    assert len(list(going)) in (8, 9), "as of any list"


def test_keys_travel_with_their_cases() -> None:
    cases = [case(number) for number in range(4)]
    keyed = Keyed(cases)
    pairs = [(case_key(one), one) for one in cases]
    assert (list(keyed), len(keyed), keyed[-1], keyed[1:3]) == (pairs, 4, pairs[-1], pairs[1:3])


@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_key_of_a_suite_is_that_of_all_in_a_list(count: int) -> None:
    suite = Suite(name='a "suite" \ud800', cases=(), measures=(Spec(name="accuracy"),))
    keys = [case_key(case(number)) for number in range(count)]
    whole = digest(suite.name, suite.version, suite.reduce, suite.measures, suite.compat, keys)
    assert suite_key(suite, iter(keys)) == whole
