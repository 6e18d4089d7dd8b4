"""The grid page: runs across from the oldest on, cases down, a page at a time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.core.grid import PromptVerdict
from proctor.errors import UsageError
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages import compare_numbers
from proctor.web.pages import grid as grid_page
from proctor.web.pages.grid import show_grid

EARLY = {
    "question": "decided", "answer": "better", "odds": 21.0, "decided_after": 1, "cases": 1,
    "of": 2, "seed": 7, "interval": [0.1, 0.5], "rate_interval": [0.5, 1.0],
}  # fmt: skip


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


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["a", "b", "c", "d", "e"]),
        ("&kind=differ", ["b", "c"]),
        ("&kind=failed_any", ["b", "c", "d"]),
        ("&kind=failed_all", ["d"]),
        ("&q=say+C", ["c"]),
        ("&kind=failed_all&q=say+c", []),
    ],
)
def test_cases_are_filtered_by_outcome_and_words(asked: Any, query: str, ids: list[str]) -> None:
    page = show_grid(asked("/grid", f"run=old&run=new{query}"))
    assert [row.id for row in page.data.cases] == ids
    assert page.data.counts.model_dump() == {
        "cases": 5, "differ": 2, "failed_any": 3, "failed_all": 1,
    }  # fmt: skip
    assert (page.data.search is None) is ("&q=" not in query)
    # A link keeps everything else that the address says.
    kinds = {name: (count, link) for name, count, link in page.only_page["kinds"]}
    words = "&q=say+c" if query.endswith("+c") else "&q=say+C" if "&q=" in query else ""
    assert kinds["differ"] == (2, f"/grid?run=old&run=new&kind=differ{words}")
    assert kinds[""] == (5, f"/grid?run=old&run=new{words}")


def test_the_next_page_and_the_other_view_keep_the_filter(
    asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_page, "ROWS", 2)
    page = show_grid(asked("/grid", "run=old&run=new&kind=failed_any&q=say&text=differences"))
    assert [row.id for row in page.data.cases] == ["b", "c"]
    assert page.only_page["more"] == (
        "/grid?run=old&run=new&kind=failed_any&q=say&text=differences&after=2"
    )
    assert page.only_page["rendered_link"] == "/grid?run=old&run=new&kind=failed_any&q=say"
    rest = show_grid(asked("/grid", "run=old&run=new&kind=failed_any&q=say&after=2")).data
    assert ([row.id for row in rest.cases], rest.next) == (["d"], None)


def test_an_unknown_outcome_is_refused(asked: Any) -> None:
    with pytest.raises(UsageError, match="kind must be one of"):
        show_grid(asked("/grid", "run=old&run=new&kind=better"))


def test_each_run_has_what_its_candidate_took(
    tmp_path: Path, put_run: Any, examined: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        for name, price in (("a", 0.25), ("b", None)):
            cases = []
            for number in range(4):
                made = examined.plain(f"c{number}", "so", 1.0)
                used = {"calls": 1, "prompt_tokens": 500, "completion_tokens": 7, "cost": price}
                attempt = replace(
                    made.attempts[0],
                    seconds=float(number),
                    usage={"candidate": used, "simulator": {"prompt_tokens": 9999, "cost": 9.0}},
                )
                cases.append(replace(made, attempts=(attempt,)))
            put_run(store, name, cases)
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        first, second = client.get("/grid.json?run=a&run=b").json()["runs"]
        text = client.get("/grid?run=a&run=b").text
    assert (first["cost"], first["tokens"], first["seconds"]) == (1.0, 2028, 1.5)
    assert (second["cost"], second["tokens"], first["sampled"]) == (None, 2028, False)
    assert "$1<" in text
    assert "2,028 tokens" in text
    assert "1.5 s an attempt" in text
    assert "≈" not in text
    monkeypatch.setattr(compare_numbers, "SAMPLED", 2)
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        assert client.get("/grid.json?run=a&run=b").json()["runs"][0]["sampled"]
        assert "≈ " in client.get("/grid?run=a&run=b").text


def test_a_cell_says_why_marks_are_lacking_and_what_the_answer_took(
    tmp_path: Path, put_run: Any, examined: Any
) -> None:
    path = str(tmp_path / "p.db")
    made = examined.plain("c", "so", 0.0)
    used = {"candidate": {"prompt_tokens": 30, "completion_tokens": 4, "cost": 0.5}}
    attempt = replace(made.attempts[0], seconds=1.5, usage=used)
    right = {"fits": replace(made.scores[0]["fits"], points=1.0)}
    with Store.open(path) as store:
        put_run(store, "once", [replace(made, attempts=(attempt,))])
        twice = replace(
            made, attempts=(attempt, replace(attempt, index=1)), scores=(right, made.scores[0])
        )
        put_run(store, "twice", [twice])
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        first, second = client.get("/grid?run=once&run=twice").text.split('data-label="')[1:]
        compared = client.get("/compare?run=once&run=twice&force=1").text
        history = client.get(f"/suites/{_suite_key(path)}/history?case=c").text
    assert ">fits 0 of 1: because<" in first
    assert "34 tokens" in first
    assert "$0.5<" in first
    assert "×" not in first
    assert ">Attempt 2: fits 0 of 1: because<" in second
    assert "68 tokens" in second
    assert "×2" in second
    assert compared.count("fits 0 of 1: because") == 2
    assert history.count("fits 0 of 1: because") == 2


@pytest.mark.parametrize("query", ["", "&text=differences"])
def test_a_run_that_lacks_cases_has_a_column(
    tmp_path: Path, put_run: Any, examined: Any, query: str
) -> None:
    path = str(tmp_path / "p.db")
    cases = [examined.plain(name, "so", 1.0) for name in "ab"]
    with Store.open(path) as store:
        put_run(store, "whole", cases)
        run = put_run(store, "stopped", cases[:1])
        store.runs.save(
            replace(run, finished=9.0, settings={**run.settings, "stopped_early": EARLY})
        )
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        home = client.get("/").text
        shown = client.get(f"/grid?run=whole&run=stopped{query}")
        rows = client.get("/grid.json?run=whole&run=stopped").json()["cases"]
    assert shown.status_code == 200
    assert "This run does not have the case." in shown.text
    assert "/runs/stopped/cases/b" not in shown.text
    assert shown.text.count(">stopped early</span>") == 2  # in the table, and on narrow screens
    assert home.count(">stopped early</span>") == 2  # among those that ended last, and in the list
    assert [[one["answer"]["there"] for one in row["entries"]] for row in rows] == [
        [True, True], [True, False],
    ]  # fmt: skip


def _suite_key(path: str) -> str:
    with Store.open(path) as store:
        return store.runs.get("once").suite_key
