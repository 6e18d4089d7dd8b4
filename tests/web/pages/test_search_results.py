"""Cases that a search found: a snippet with the words marked, a count, and pages."""

from typing import Any

import pytest

from proctor.store.store import Store
from proctor.web.pages.search_results import AROUND, MOST_CASES, found_cases, snippet

LONG = "x" * 500


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["nothing", "The WORD is"], ["The ", "WORD", " is"]),
        (["other"], []),
        ([f"{LONG}word{LONG}"], [f"…{'x' * AROUND}", "word", f"{'x' * AROUND}…"]),
    ],
)
def test_the_words_are_marked_where_they_occur(texts: list[str], expected: list[str]) -> None:
    found = snippet(iter(texts), "word")
    assert [piece.text for piece in found] == expected
    assert [piece.hit for piece in found] == [text.lower() == "word" for text in expected]


def test_pages_of_a_search_go_on_until_every_case_was_shown(
    tmp_path: Any, put_run: Any, examined: Any
) -> None:
    with Store.open(str(tmp_path / "p.db")) as store:
        put_run(store, "one", [examined.plain(f"c{n}", f"say needle {n}", 1.0) for n in range(40)])
        while not store.search.index("one"):
            pass
        first = found_cases(store, "needle", 0, {"one": "One"}, 0)
        assert (first.count, first.whole, first.next) == (40, True, MOST_CASES)
        second = found_cases(store, "needle", MOST_CASES, {}, 0)
        assert second.next is None
        ids = [one.id for one in (*first.found, *second.found)]
        assert sorted(ids) == sorted(f"c{n}" for n in range(40))
        assert "".join(piece.text for piece in first.found[0].snippet).startswith("say needle")
        assert second.found[0].name == "one"
        assert {(one.value, one.full) for one in first.found} <= {(0.0, 1.0), (1.0, 1.0)}
