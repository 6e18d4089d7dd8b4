"""The page of battles: runs that were named, counted as the command counts them."""

from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from proctor.core.comparison import Comparison, Preference
from proctor.errors import UsageError
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages import battle as battle_page
from proctor.web.pages.battle import by_case, show_battles

Asked = Any


@pytest.mark.slow
def test_battles_are_counted_and_each_comparison_leads_to_its_case(asked: Asked) -> None:
    data = show_battles(asked("/battles", "run=old&run=new&run=old")).data
    assert [run.name for run in data.runs] == ["old", "new"]
    (battle,) = data.battles
    assert battle["compared"] == 4
    assert "2 of 5 cases that 'old' and 'new' share were compared" in battle["notes"]
    assert {one["link"] for one in battle["comparisons"]} == {
        f"/compare?run={first}&run={second}&case={case}"
        for first, second in (("old", "new"), ("new", "old"))
        for case in "ab"
    }


@pytest.mark.slow
def test_comparisons_are_cut_down_to_one_outcome(asked: Asked) -> None:
    def page(won: str) -> dict[str, Any]:
        return show_battles(asked("/battles", f"run=old&run=new&won={won}")).only_page

    whole = page("")
    names = [name for name, _ in whole["outcomes"]]
    assert sorted(names) == sorted(["", "old", "new", "tie", "disagree"])
    parts = {name: page(name)["by_case"][0] for name in names[1:]}
    assert sum(len(cases) for cases in parts.values()) == len(whole["by_case"][0]) == 2
    for name, cases in parts.items():
        assert {one["winner"] or "disagree" for one in cases} <= {name}
    assert ("tie", "/battles?run=old&run=new&won=tie") in whole["outcomes"]
    with pytest.raises(UsageError, match="won must be one of"):
        page("nobody")


def test_a_long_list_is_cut_and_says_how_long_it_is(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, page_pool: Any
) -> None:
    monkeypatch.setattr(battle_page, "COMPARISONS", 1)
    with page_pool.lend() as store:
        (battle,) = battle_page._battles(store, ["old", "new"])
    assert (len(battle["comparisons"]), battle["compared"]) == (1, 4)
    with TestClient(make_app(page_pool.place), base_url="http://127.0.0.1") as client:
        page = client.get("/battles?run=old&run=new").text
    assert "Listed are the first 1;" in page
    # Each row says what was asked, and the page leads to the other pages of these runs.
    assert page.count('class="two faint"') == 1
    assert '<a class="chip" href="/compare?run=old&amp;run=new">' in page
    assert '<a class="chip" href="/grid?run=old&amp;run=new">' in page


def test_a_battle_is_between_known_runs(asked: Asked) -> None:
    with pytest.raises(UsageError, match="not 1"):
        show_battles(asked("/battles", "run=old&run=old"))
    with pytest.raises(UsageError, match="not 51"):
        show_battles(asked("/battles", "&".join(f"run={number}" for number in range(51))))
    with pytest.raises(HTTPException):
        show_battles(asked("/battles", "run=old&run=gone"))
    assert show_battles(asked("/battles", "run=old&run=going")).data.battles == []


def test_comparisons_are_gathered_by_case_and_what_was_decided_comes_first() -> None:
    def row(case: str, first: str, second: str, outcome: str) -> dict[str, Any]:
        sides = {"first": {"run": first}, "second": {"run": second}}
        return {"case": case, **sides, "outcome": outcome, "link": f"/{case}"}

    rows = [
        row("even", "a", "b", "tie"),
        row("won", "a", "b", "second"),
        row("leaning", "a", "b", "first"),
        row("leaning", "b", "a", "first"),
        row("won", "b", "a", "first"),
        row("broken", "a", "b", "invalid"),
        row("won", "a", "c", "first"),
    ]
    assert [(one["case"], one["winner"], len(one["rows"])) for one in by_case(rows)] == [
        ("leaning", None, 2),
        ("won", "a", 1),
        ("won", "b", 2),
        ("even", "tie", 1),
        ("broken", "invalid", 1),
    ]
    # The order in which replies came in says nothing.
    for ordered in (rows, rows[::-1]):
        firsts = [[row["first"]["run"] for row in one["rows"]] for one in by_case(ordered)]
        assert firsts == [["a", "b"], ["a"], ["a", "b"], ["a"], ["a"]]


def test_what_the_numbers_lack_is_said_once(tmp_path: Path, put_run: Any, examined: Any) -> None:
    place = str(tmp_path / "p.db")
    with Store.open(place) as store:
        for run, last in (("one", "x"), ("two", "y")):
            put_run(
                store,
                run,
                [examined.plain(name, f"{run} {name}", 1.0) for name in ("a", "b", last)],
            )
        store.comparisons.put(
            (f"{case}-{first}", "c", Comparison(
                case_id=case, first=first, second=second, judge="first", asked="a",
                outcome=Preference.FIRST, reason="clearer",
            ))
            for case in "ab"
            for first, second in (("one", "two"), ("two", "one"))
        )  # fmt: skip
    with TestClient(make_app(place), base_url="http://127.0.0.1") as client:
        told = client.get("/battles.json?run=one&run=two").json()["battles"][0]
        page = client.get("/battles?run=one&run=two").text
        chinese = client.get("/battles?run=one&run=two&lang=zh").text
    # The command's own warnings are on the page.
    assert told["warnings"] == ["2 cases are in only one of 'one' and 'two'; they are left out"]
    assert any("position bias" in note for note in told["notes"])
    assert page.count('<p class="warned">') == len(told["notes"])
    for part in ("位置偏好", "只出现在"):
        assert part in chinese
