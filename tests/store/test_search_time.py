"""How long searches may work: a first step always, and no further one once the time is spent."""

from proctor.store.search_time import SearchTime


def test_a_first_step_is_always_made() -> None:
    time = SearchTime(0.0)
    assert not time.is_over
    time.spend(0.0)
    assert time.is_over


def test_several_searches_spend_the_same_time() -> None:
    time = SearchTime(1.0)
    time.spend(0.6)
    assert not time.is_over
    time.spend(0.6)
    assert time.is_over


def test_without_a_limit_it_is_never_over() -> None:
    time = SearchTime()
    time.spend(1e9)
    assert not time.is_over
