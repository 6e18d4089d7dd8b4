"""What stands above the lists of the shared page: facts, breakdowns, and each pair of runs."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.compare.as_json import compared_object
from proctor.engine.compare.comparing import CompareSettings, compare
from proctor.engine.run.stored_view import view_of
from proctor.store.store import Store
from proctor.web.share.heads import compare_heads, linked, run_head, shared_tags


@pytest.fixture
def store(tmp_path: Path, put_run: Any, examined: Any) -> Iterator[Store]:
    with Store.open(str(tmp_path / "p.db")) as opened:
        for name, right in (("a", 3), ("b", 9)):
            cases = [
                examined.plain(f"c{n}", "x", float(n < right), tags={"lang": ("go", "c")[n % 2 :]})
                for n in range(12)
            ]
            put_run(opened, name, cases)
        yield opened


def test_a_run_has_its_facts_and_breakdowns_in_both_languages(store: Store) -> None:
    head = run_head(view_of(store, "a"), 2, [9, 0, 0, 0, 0, 0, 0, 0, 0, 3])
    facts = json.dumps(head["facts"]["en"])
    assert "25.0%" in facts
    assert "3 " in facts
    below = json.dumps(head["breakdowns"]["en"])
    assert linked(view="run", run=2, tag=["lang", "go"]) in below
    assert "histogram" in below


def test_the_mark_of_a_run_that_was_stopped_early_is_beside_its_rate(store: Store) -> None:
    run = store.runs.get("a")
    assert "stopped early" not in json.dumps(run_head(view_of(store, "a"), 0, [])["facts"])
    early = {"question": "decided", "answer": "better", "odds": 21.0, "cases": 12, "of": 40}
    store.runs.save(replace(run, settings={**run.settings, "stopped_early": early}))
    facts = run_head(view_of(store, "a"), 0, [])["facts"]
    assert "stopped early" in json.dumps(facts["en"])
    assert "提前" in json.dumps(facts["zh"], ensure_ascii=False)


def test_a_pair_says_how_many_cases_are_needed_as_a_range(store: Store) -> None:
    views = [view_of(store, name) for name in ("a", "b")]
    found = compared_object(compare(store, ["a", "b"]))
    few, many = found["pairs"][0]["cases_needed_range"]
    head = json.dumps(compare_heads(views, found, "en")["0-1"], ensure_ascii=False)
    assert f"{few} … {many}" in head


def test_a_pair_is_read_from_either_side(store: Store) -> None:
    views = [view_of(store, name) for name in ("a", "b")]
    assert shared_tags(views) == ("lang",)
    found = compared_object(compare(store, ["a", "b"], CompareSettings(by=("lang",))))
    back = compared_object(compare(store, ["b", "a"], CompareSettings(by=("lang",))))
    heads = compare_heads(views, {**found, "pairs": found["pairs"] + back["pairs"]}, "en")
    assert heads.keys() == {"0-1", "1-0"}
    assert "+50.0" in json.dumps(heads["0-1"])
    assert "−50.0" in json.dumps(heads["1-0"], ensure_ascii=False)
    assert linked(view="compare", pair="1-0") in json.dumps(heads["0-1"])


def test_rows_by_tag_are_counted_with_those_of_all_pairs(store: Store) -> None:
    """They are adjusted for each other over all pairs, of which one is shown."""
    views = [view_of(store, name) for name in ("a", "b")]
    found = compared_object(compare(store, ["a", "b"], CompareSettings(by=("lang",))))
    (pair,) = found["pairs"]
    rows = len(pair["groups"]["lang"])
    warnings = ["the run 'a' is incomplete"]
    for pairs in (1, 3):
        compared = {**found, "warnings": warnings, "pairs": [pair] * 2 * pairs}
        head = json.dumps(compare_heads(views, compared, "zh"), ensure_ascii=False)
        assert f"共 {rows * pairs} 行" in head
        assert "运行 'a' 不完整" in head


def test_addresses_carry_lists_as_json() -> None:
    assert linked(view="run", tag=["a", "b&"]) == "#view=run&tag=%5B%22a%22%2C+%22b%26%22%5D"
