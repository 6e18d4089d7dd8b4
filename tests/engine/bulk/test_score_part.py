"""One part, from files of rows to files of columns, and what is read back of it."""

from pathlib import Path

import pytest
from tests.engine.bulk.conftest import simple_rows, write_rows

from proctor.core.fingerprint import case_key
from proctor.engine.bulk.answers import ScoredAnswer
from proctor.engine.bulk.cases import PartCases
from proctor.engine.bulk.check import check_answers, check_cases, document_key, id_hashes
from proctor.engine.bulk.columns import PartColumns
from proctor.engine.bulk.criteria_findings import joined
from proctor.engine.bulk.inputs import Inputs
from proctor.engine.bulk.score_here import PartScoring
from proctor.engine.bulk.score_part import score_share
from proctor.engine.bulk.sort_answers import sort_answers
from proctor.engine.bulk.tasks import AnswersTask, CheckTask, RowFile, ShareTask, SortTask
from proctor.engine.bulk.worker_process import done
from proctor.io.row_shares import Share, UnreadableShare, plan_text, rows_of
from proctor.store.parts.files import RUN, SUITE, PartFolder
from proctor.store.parts.layout import ATTEMPTS, RESULTS


@pytest.fixture
def files(tmp_path: Path) -> tuple[RowFile, RowFile, PartFolder]:
    cases, answers = simple_rows(30)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers[::-1])
    sources = [RowFile(path=str(path), dialect="native") for path in (suite, file)]
    return sources[0], sources[1], PartFolder(str(tmp_path / "parts"))


def whole(source: RowFile) -> Share:
    plan = plan_text(Path(source.path), 1000)
    return plan.cut(0, plan.rows)


def check_task(source: RowFile, folder: PartFolder, keep: int = 30) -> CheckTask:
    return CheckTask(
        source=source,
        share=whole(source),
        first=0,
        keep=keep,
        allow_import=False,
        language="en",
        folder=folder,
        place=folder.new_place(SUITE, "s", 0),
    )


def test_checked_cases_are_those_that_are_written(
    files: tuple[RowFile, RowFile, PartFolder],
) -> None:
    suite, _, folder = files
    task = check_task(suite, folder, keep=20)
    checked = done(task)
    cases = PartCases(folder, ((task.place, 20),))
    assert (len(cases), checked.cases, len(checked.ids)) == (20, 20, 30 * 16)
    assert checked.keys == "".join(map(case_key, cases))
    assert cases[3] == cases[-17] == list(cases)[3]
    assert list(cases[2:4]) == [cases[2], cases[3]]
    assert cases[:20] is cases
    with pytest.raises(IndexError):
        cases[20]
    survey = joined([checked.survey, checked.survey])
    assert sorted(survey.specs) == ["keywords", "rouge"]
    assert all(kind[2] for kind in survey.examples)


def test_a_share_with_a_problem_is_unreadable(
    tmp_path: Path, files: tuple[RowFile, RowFile, PartFolder]
) -> None:
    cases, answers = simple_rows(3)
    wrong = write_rows(tmp_path / "wrong.jsonl", [*cases, {"ask": 1}])
    source = RowFile(path=str(wrong), dialect="native")
    with pytest.raises(UnreadableShare):
        check_cases(check_task(source, files[2]))
    bad = write_rows(tmp_path / "bad.jsonl", [*answers, {"output": "no case"}])
    source = RowFile(path=str(bad), dialect="native")
    with pytest.raises(UnreadableShare):
        check_answers(AnswersTask(source=source, share=whole(source)))


def test_sorted_answers_are_read_as_those_of_the_file(
    tmp_path: Path, files: tuple[RowFile, RowFile, PartFolder]
) -> None:
    _, answers, _ = files
    share = whole(answers)
    parts = tuple(number % 3 - 1 for number in range(30))
    target = str(tmp_path / "sorted.jsonl")
    result = sort_answers(SortTask(source=answers, share=share, parts=parts, target=target))
    rows = [data for _, data in rows_of(share, {})]
    assert [place[0] for place in result.places] == [0, 1]
    for part, offset, line, count in result.places:
        found = rows_of(Share(path=result.path, rows=count, offset=offset, line=line), {})
        wanted = [row for row, number in zip(rows, parts, strict=True) if number == part]
        assert [data for _, data in found] == wanted


def test_a_part_has_two_files_and_tells_their_size(
    files: tuple[RowFile, RowFile, PartFolder],
) -> None:
    suite, answers, folder = files
    task = check_task(suite, folder)
    check_cases(task)
    share = ShareTask(
        tags=[],
        suite={"name": "s"},
        number=0,
        first=0,
        cases=30,
        case_place=task.place,
        answers=answers,
        shares=(whole(answers),),
        attempts=None,
        interval="bounded",
        allow_import=False,
        folder=folder,
        place=folder.new_place(RUN, "r", 0),
        fingerprint="f",
    )
    outcome = score_share(share)
    assert (outcome.cases, outcome.attempts, outcome.scores, outcome.failed) == (30, 30, 60, 0)
    sizes = [folder.size(share.place, kind) or 0 for kind in (ATTEMPTS, RESULTS)]
    assert outcome.size == sum(sizes)
    assert folder.open(share.place, RESULTS).metadata.num_rows == 30


def test_keys_and_hashes_are_those_of_the_core() -> None:
    assert document_key(b'{"id":"a"}').hex() != document_key(b'{"id":"b"}').hex()
    assert len(id_hashes(["a", "\ud800"])) == 32
    assert PartColumns().attempts == 0
    assert PartScoring.__doc__
    assert Inputs.__doc__
    assert ScoredAnswer.__doc__
