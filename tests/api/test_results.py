"""Results: numbers, cases, tables, files, pages and comparisons."""

import json
from typing import Any

import pyarrow.parquet
import pytest

import proctor
from proctor import scorers
from proctor.api import notebook_html, progress, saving, tables
from proctor.api.case_views import CaseView
from proctor.api.comparing import compare
from proctor.api.functions import round_of, text_of
from proctor.api.results import RunResult, Store
from proctor.api.stores import StorePlace
from proctor.engine.run.evaluate import RunProgress
from proctor.errors import ProctorError, UsageError

CASES = [
    {"id": f"c{n}", "ask": f"{n}?", "reference": str(n), "tags": {"half": "low" if n < 10 else "high"}}
    for n in range(20)
]  # fmt: skip


def good(question: str) -> str:
    return question.rstrip("?")


def bad(question: str) -> str:
    return "<b>7</b>"


@pytest.fixture
def run() -> RunResult:
    return proctor.evaluate(CASES, good, attempts=2)


def test_numbers_and_cases(run: RunResult) -> None:
    assert (len(run), run.rate, run.score, run.full, run.errors) == (20, 1.0, 20.0, 20.0, 0)
    assert run.groups["half"]["low"].cases == 10
    assert [case.id for case in run] == [f"c{n}" for n in range(20)]
    assert isinstance(run[0], CaseView)
    assert ("c3" in run, "x" in run, run[3].id) == (True, False, "c3")
    with pytest.raises(KeyError, match="did you mean 'c1"):
        run["c1x"]


def test_tables(run: RunResult) -> None:
    rows = run.to_dicts()
    assert (len(rows), rows[0]["case"], rows[1]["attempt"]) == (40, "c0", 1)
    assert list(rows[0]) == [
        "case", "attempt", "question", "reference", "output", "value", "full", "status", "why",
        "error", "seconds", "score.exact_match", "tags.half",
    ]  # fmt: skip
    by_case = run.to_dicts("cases")
    assert (len(by_case), by_case[0]["attempts"]) == (20, 2)
    assert run.to_arrow().num_rows == 40
    assert tables.arrow_of(by_case).column("value").to_pylist() == [1.0] * 20


def test_a_frame(run: RunResult) -> None:
    pandas = pytest.importorskip("pandas")
    assert run.to_pandas()["value"].mean() == 1.0
    assert isinstance(run.to_pandas("cases"), pandas.DataFrame)


@pytest.mark.parametrize("ending", ["html", "jsonl", "parquet", "json", "csv", "md", "xml"])
def test_files(run: RunResult, ending: str) -> None:
    path = run.save(f"out/run.{ending}")
    assert path.stat().st_size > 100
    if ending == "parquet":
        assert pyarrow.parquet.read_table(path).num_rows == 40
    if ending == "json":
        assert len(json.loads(path.read_text())["cases"]) == 20
    with pytest.raises(UsageError, match="a run is written as"):
        saving.save_run(path.with_suffix(".doc"), run.id, StorePlace(), run.report)


def test_the_store_has_the_run(run: RunResult) -> None:
    again = Store().run(run.name)
    assert (again.id, again.rate, str(again)) == (run.id, run.rate, str(run))
    assert [one["name"] for one in Store().runs()] == [run.name]
    Store().delete(run.id)
    assert Store().runs() == []


def test_notebooks_show_numbers_and_what_was_lost() -> None:
    run = proctor.evaluate(CASES, bad)
    html = run._repr_html_()
    assert html == notebook_html.run_html(run.view, run.cases)
    assert "All cases" in html
    assert "half: low" in html
    assert "&lt;b&gt;7&lt;/b&gt;" in html
    assert "<b>7</b>" not in html


def test_comparing(run: RunResult) -> None:
    worse = proctor.evaluate(CASES, bad, attempts=2)
    compared = proctor.compare(run, worse, by="half", gate="verdict != 'worse'")
    assert (compared.verdict, compared.passed) == ("worse", False)
    assert compared.difference == pytest.approx(-1.0)
    assert compared.p is not None
    assert compared.p < 0.001
    assert compared.interval is not None
    assert compared.interval[1] <= 0
    assert "cases-bad is worse than cases-good" in compared.sentence
    assert "20 cases: 0 better, 20 worse" in str(compared)
    assert {pair.id for pair in compared.cases} == {case["id"] for case in CASES}
    assert compared.to_dicts()[0] == {
        "case": "c0", "first_run": "cases-good", "second_run": "cases-bad", "first": 1.0,
        "second": 0.0, "full": 1.0, "difference": -1.0, "change": "worse", "tags.half": "low",
    }  # fmt: skip
    assert set(compared.groups["half"]) == {"low", "high"}
    assert "cases-bad" in compared._repr_html_()
    assert compare("cases-good", "cases-bad").verdict == "worse"


def test_three_runs_have_ranks(run: RunResult) -> None:
    others = [proctor.evaluate(CASES, bad, attempts=2, name=name) for name in ("b", "c")]
    compared = proctor.compare(run, *others)
    assert len(compared.pairs) == 3
    assert compared.ranks["cases-good"] == (1, 1)


@pytest.mark.parametrize(
    ("runs", "words"), [((1, 2), "results of evaluate"), ((), "name 2 to 10 runs")]
)
def test_what_cannot_be_compared(run: RunResult, runs: tuple[Any, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        proctor.compare(*runs)


def test_two_stores_cannot_be_compared(run: RunResult) -> None:
    other = proctor.evaluate(CASES, bad, store="other.db")
    with pytest.raises(UsageError, match="the runs are in several stores"):
        proctor.compare(run, other)


def test_a_notebook_gets_lines_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "NOTEBOOK_SECONDS", 0.0)
    progress.PlainLines()(RunProgress(phase="collect", done=3, total=10, failed=1))
    assert capsys.readouterr().err == "collect: 3 of 10, 1 failed\n"


def test_nothing_is_said_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    proctor.evaluate(CASES, good)
    assert capfd.readouterr() == ("", "")


def test_rounds_of_what_functions_return() -> None:
    assert round_of("?", {"error": "no"}, "f").reply is None
    assert round_of("?", {"output": 3}, "f").reply == "3"
    assert text_of(b"abc") == "abc"


def test_a_run_against_an_earlier_one(run: RunResult) -> None:
    worse = proctor.evaluate(CASES, bad, attempts=2, against=run, gate="against.verdict != 'worse'")
    assert worse.against is not None
    assert (worse.against.verdict, worse.passed) == ("worse", False)


def test_what_is_not_there_is_said(run: RunResult) -> None:
    with pytest.raises(IndexError, match="the run has 20 cases, and none at 20"):
        run[20]
    rows: Any = "tries"
    with pytest.raises(UsageError, match="rows are 'attempts' or 'cases', not 'tries'"):
        run.to_dicts(rows)
    with pytest.raises(AttributeError, match="did you mean 'evaluate'"):
        _ = proctor.evalute
    with pytest.raises(AttributeError, match="did you mean 'ExactMatch'"):
        _ = scorers.Exactmatch


def test_result_files_of_an_origin(run: RunResult) -> None:
    folder = run.save("out", layout="infibench")
    assert any(folder.iterdir())
    with pytest.raises(ProctorError, match="did you mean 'infibench'"):
        run.save("out", layout="infibnch")


def test_a_notebook_shows_whole_sentences(run: RunResult) -> None:
    other = proctor.evaluate(
        [{"id": f"c{n}", "ask": f"{n}", "reference": f"{n}"} for n in range(20)],
        lambda question: "?",
    )
    compared = proctor.compare(run, other, force=True)
    assert compared.sentence[-40:] in compared._repr_html_().replace("&lt;", "<")


def test_scores_come_in_the_order_of_the_criteria() -> None:
    criteria = [{"matches": "^b"}, {"contains": "b"}, {"exact_match": True}, {"number": 1}]
    run = proctor.evaluate([("a", "b")], lambda question: "b", criteria=criteria)
    for again in (run, proctor.Store().run(run.name)):
        assert list(again.cases[0].scores) == ["matches", "contains", "exact_match", "number"]
