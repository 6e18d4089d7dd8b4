"""The grid page: runs across from the oldest on, cases down, a page at a time."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.core.grid import PromptVerdict
from proctor.errors import UsageError
from proctor.web.pages import grid as grid_page
from proctor.web.pages.grid import show_grid


def test_cases_have_the_values_and_answers_of_all_runs(
    asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_page, "ROWS", 3)
    page = show_grid(asked("/grid", "run=new&run=old"))
    data = page.data
    assert [run.id for run in data.runs] == ["old", "new"]
    assert [(row.id, [one.value for one in row.entries]) for row in data.cases] == [
        ("a", [1.0, 1.0]), ("b", [0.0, 1.0]), ("c", [0.0, 1.0]),
    ]  # fmt: skip
    assert data.cases[0].entries[1].link == "/runs/new/cases/a"
    assert (data.next, page.only_page["more"]) == (2, "/grid?run=old&run=new&after=2")
    rest = show_grid(asked("/grid", "run=new&run=old&after=2")).data
    assert ([row.id for row in rest.cases], rest.next) == (["d", "e"], None)


@pytest.mark.parametrize("count", [1, 9])
def test_a_grid_is_of_two_to_eight_runs(asked: Any, count: int) -> None:
    with pytest.raises(UsageError, match=f"not {count}"):
        show_grid(asked("/grid", "&".join(f"run=r{number}" for number in range(count))))


def test_verdicts_on_prompts_are_told(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = PromptVerdict(first="a", second="b", models=2, sentence="Over 2 models together, …")
    whole = grid_page.run_grid
    monkeypatch.setattr(grid_page, "stamp", lambda runs: None)  # nothing of a page before is shown
    monkeypatch.setattr(
        grid_page,
        "run_grid",
        lambda store, views, **more: replace(whole(store, views), prompt_verdicts=(verdict,)),
    )
    page = show_grid(asked("/grid", "run=new&run=old"))
    assert page.data.prompt_verdicts == ["Over 2 models together, …"]
