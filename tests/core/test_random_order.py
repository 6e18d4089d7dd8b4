"""The random order of cases: stable, and not that of the file."""

from proctor.core.random_order import order_key


def order(ids: list[str], seed: int = 1) -> list[str]:
    return sorted(ids, key=lambda one: order_key(one, seed))


def test_other_cases_and_the_order_of_the_file_do_not_matter() -> None:
    ids = [f"case-{n}" for n in range(100)]
    assert order(ids) == order(ids[::-1])
    assert [one for one in order(ids) if one in ids[:50]] == order(ids[:50])
    assert order(ids) != ids


def test_another_seed_is_another_order() -> None:
    ids = [f"case-{n}" for n in range(100)]
    assert order(ids, 1) != order(ids, 2)


def test_half_a_surrogate_pair_has_a_place() -> None:
    assert order(["\ud800", "a"])
