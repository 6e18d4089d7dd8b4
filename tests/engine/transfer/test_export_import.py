"""Runs as files: several at once with their battles, old files, and tables that DuckDB reads."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.comparison import Comparison, Preference
from proctor.core.fingerprint import case_key, plain, suite_key
from proctor.core.run import Run
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.battle.run_battle import battles_of
from proctor.engine.run.evaluate import finish
from proctor.engine.run.later_findings import with_later_findings
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.stored_view import view_of
from proctor.engine.transfer.export_import import read_runs, write_runs
from proctor.errors import SuiteError, UsageError
from proctor.store.rows import RunAttempt
from proctor.store.store import Store

CASES = 7


def case(number: int) -> Case:
    return Case(
        id=f"c{number}",
        messages=(Message(role="user", content=f"{number}?"),),
        criteria=(
            Criterion(id="says", scorer=Spec(name="contains", params={"text": "a"})),
            Criterion(id="length", scorer=Spec(name="exact_match"), weight=0),
        ),
        references=("a",),
        tags={"lang": ("python" if number % 2 else "go",), "level": ("a", "b")},
    )


def put(store: Store, name: str, right: int) -> Run:
    cases = tuple(case(number) for number in range(CASES))
    suite = Suite(name="quiz", cases=cases)
    keys = [case_key(one) for one in cases]
    key = suite_key(suite, keys)
    store.suites.put(suite, key, list(zip(keys, cases, strict=True)))
    run = Run(id=name, name=name, suite="quiz", suite_key=key, candidate=Spec(name="recorded"))
    store.runs.save(run)
    for place, one in enumerate(cases):
        attempt = Attempt.of(one.id, f"{name} {place} \ud800")
        at = f"{name}-{place}"
        scores = {"says": Score(points=float(place < right), out_of=1.0, reason="r"),
                  "length": Score(points=3.0)}  # fmt: skip
        store.attempts.put([(at, attempt)])
        store.scores.put((f"{at}-{name}", "contains", score) for name, score in scores.items())
        linked = {name: f"{at}-{name}" for name in scores}
        store.attempts.link(
            run.id, [RunAttempt(position=place, index=0, attempt_key=at, score_keys=linked)]
        )
    return finish(store, run, suite, Scorers()).run


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(str(tmp_path / "first.db")) as opened:
        put(opened, "old", 2)
        put(opened, "new", 5)
        put(opened, "third", 1)
        opened.comparisons.put(
            (f"key {one} {number}", f"content {number}", comparison(number, one, two))
            for number in range(3)
            for one, two in (("old", "new"), ("new", "old"), ("third", "old"))
        )
        yield opened


def comparison(number: int, one: str, two: str) -> Comparison:
    return Comparison(
        case_id=f"c{number}", first=one, second=two, judge="j", asked="how",
        outcome=Preference.FIRST, scores=(1.0, 2.0), reason="so", raw=("raw",),
    )  # fmt: skip


def test_several_runs_travel_with_their_battles(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    assert write_runs(store, ["old", "new"], path) == 2 * CASES + 9
    with Store.open(str(tmp_path / "second.db")) as other:
        found = read_runs(other, path)
        assert [view.run.name for view in found.views] == ["old", "new"]
        assert found.notices == ["left out 3 comparisons with runs that are not in the file"]
        for view in found.views:
            before = with_later_findings(store, view_of(store, view.run.name))
            assert view.run.imported
            assert view.run.id.startswith("imported-")
            after = with_later_findings(other, view_of(other, view.run.id))
            assert after.summary == before.summary
            assert [plain(one) for one in view.results()] == [
                plain(one) for one in before.results()
            ]
            assert view.run.suite_key == before.run.suite_key
        ids = {view.run.id: view.run.name for view in found.views}
        quoted = list(other.comparisons.between(list(ids)))
        assert sorted(map(str, quoted)) == sorted(
            str(
                replace(
                    one,
                    first=next(id_ for id_, name in ids.items() if name == one.first),
                    second=next(id_ for id_, name in ids.items() if name == one.second),
                    asked=quoted[0].asked,
                    imported=True,
                )
            )
            for one in store.comparisons.between(["old", "new"])
        )
        assert quoted[0].asked != "how"
        (battle,) = battles_of(other, list(ids))
        assert battle.imported
        assert (
            other.comparisons.get_many(f"key {one} {n}" for one in ("old", "new") for n in range(3))
            == {}
        )
        with pytest.raises(SuiteError, match="was imported before, as 'old'"):
            read_runs(other, path)


def test_the_battles_of_one_run_are_those_it_took_part_in(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    assert write_runs(store, ["third"], path) == CASES + 3


def test_a_file_of_the_first_version_is_read(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_runs(store, ["third"], path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["proctor"] = 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines if "comparison" not in line))
    with Store.open(str(tmp_path / "second.db")) as other:
        (view,) = read_runs(other, path).views
        assert view.run.name == "third"
        assert list(other.comparisons.of_runs([view.run.id])) == []


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"proctor": 3}], "not a run"),
        ([], "not a run"),
        (
            [{"proctor": 2, "run": {}, "suite": {}}],
            r":1:1: error: the key 'id' is missing \(at run",
        ),
        (["whole", {"comparison": {}}], r":9:1: error: the key 'case_id' is missing"),
        (["whole", {"proctor": 9, "run": {}}], "format 9"),
        (["whole", {"stranger": 1}], "damaged"),
    ],
)
@pytest.mark.sampled(6)
def test_what_is_no_export_is_refused(
    store: Store, tmp_path: Path, lines: list[Any], words: str
) -> None:
    path = tmp_path / "run.jsonl"
    write_runs(store, ["third"], path)
    whole = [line for line in path.read_text().splitlines() if "comparison" not in line]
    path.write_text("".join(
        "".join(f"{part}\n" for part in whole) if line == "whole" else json.dumps(line) + "\n"
        for line in lines
    ))  # fmt: skip
    with (
        Store.open(str(tmp_path / "second.db")) as other,
        pytest.raises(SuiteError, match=words),
    ):
        read_runs(other, path)


def test_what_cannot_be_written(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.html, \.jsonl or \.parquet"):
        write_runs(store, ["old"], tmp_path / "run.xlsx")
    with pytest.raises(UsageError, match="twice"):
        write_runs(store, ["old", "old"], tmp_path / "run.jsonl")
    assert not list(tmp_path.glob("run.*"))


@pytest.mark.slow
def test_duckdb_computes_over_a_table(store: Store, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "runs.parquet"
    assert write_runs(store, ["old", "new"], path) == 4 * CASES
    with duckdb.connect() as database:
        query = (
            "select run_name, tag['lang'][1] as lang, sum(points) as points, count(*) as n"
            f" from '{path}' where criterion = 'says' group by all order by all"
        )
        assert database.sql(query).fetchall() == [
            ("new", "go", 3.0, 4),
            ("new", "python", 2.0, 3),
            ("old", "go", 1.0, 4),
            ("old", "python", 1.0, 3),
        ]
        rows = database.sql(
            f"select distinct out_of, weight, tags from '{path}' where \"case\" = 'c1'"
        )
        assert set(rows.fetchall()) == {
            (1.0, 1.0, '{"lang":["python"],"level":["a","b"]}'),
            (None, 1.0, '{"lang":["python"],"level":["a","b"]}'),
        }
