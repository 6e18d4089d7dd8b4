"""Results of other tools: stored as imported runs, and written as native files to score anew."""

import json
from pathlib import Path

import pytest

from proctor.cli.main import _run
from proctor.engine.transfer.archives import archive_of, convert_results
from proctor.engine.transfer.export_import import read_archive
from proctor.errors import SuiteError
from proctor.store.store import Store

GOLDEN = Path(__file__).parents[2] / "golden" / "imports"


@pytest.mark.parametrize(
    ("path", "runs"),
    [
        ("inspect/quiz.eval", 1),
        ("inspect/quiz.json", 1),
        ("lm_eval", 2),
        ("promptfoo/results.json", 4),
    ],
)
def test_runs_are_imported_once(tmp_path: Path, path: str, runs: int) -> None:
    with Store.open(str(tmp_path / "s.db")) as store:
        first = read_archive(store, GOLDEN / path)
        views = [view for _, imported, _ in first for view in imported]
        assert len(views) == runs
        assert all(view.run.imported for view in views)
        again = read_archive(store, GOLDEN / path)
        assert [(imported, there) for _, imported, there in again] == [
            ([], len(imported)) for _, imported, _ in first
        ]


def test_the_totals_of_inspect_come_out(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "s.db")) as store:
        [(_, [view], _)] = read_archive(store, GOLDEN / "inspect" / "quiz.eval")
    totals, measures = view.summary.totals, view.summary.measures
    assert totals.rate == pytest.approx(2 / 3)
    assert measures["length"].value == 3.5
    assert measures["polite"].value == pytest.approx(1 / 3)


def test_answers_are_scored_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = GOLDEN / "inspect" / "quiz.eval"
    archive = archive_of(path)
    assert archive is not None
    [converted] = convert_results(archive, path, tmp_path / "quiz", "native")
    assert (converted.cases, converted.unscored, len(converted.answers)) == (6, 0, 1)
    arguments = ["run", str(converted.path), "--answers", str(converted.answers[0]), "--json"]
    assert _run([*arguments, "--store", str(tmp_path / "s.db")]) == 0
    totals = json.loads(capsys.readouterr().out)["totals"]
    assert totals["rate"] == pytest.approx(2 / 3)


def test_what_has_no_reference_says_that_it_cannot_be_scored(tmp_path: Path) -> None:
    path = GOLDEN / "promptfoo" / "results.json"
    archive = archive_of(path)
    assert archive is not None
    [converted] = convert_results(archive, path, tmp_path, "native")
    assert (converted.unscored, len(converted.answers)) == (2, 4)
    assert "imported" in converted.path.read_text()


def test_a_case_that_was_never_scored_does_not_keep_others_from_being_written(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "testIdx": 0,
            "vars": {"q": "1"},
            "success": True,
            "score": 1,
            "response": {"output": "a"},
        },
        {"testIdx": 1, "vars": {"q": "2"}, "error": "400", "failureReason": 2},
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"evalId": "x", "results": {"results": rows}}))
    archive = archive_of(path)
    assert archive is not None
    (converted,) = convert_results(archive, path, tmp_path / "out", "native")
    assert (converted.cases, converted.unscored) == (2, 2)
    assert converted.path.read_text().count("  - id: test ") == 2


def test_nothing_to_import(tmp_path: Path) -> None:
    assert archive_of(tmp_path) is None
    with (
        Store.open(str(tmp_path / "s.db")) as store,
        pytest.raises(SuiteError, match="nothing here"),
    ):
        read_archive(store, tmp_path)
