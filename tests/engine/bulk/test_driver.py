"""Large runs part by part: the numbers of the small path, bit for bit."""

import random
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.bulk.conftest import Run, assert_same, simple_rows, write_rows

from proctor import registry
from proctor.core.run import RunStatus
from proctor.core.score import Score
from proctor.core.suite import Json, Spec
from proctor.engine.bulk import worker_process
from proctor.engine.bulk.tasks import ShareTask
from proctor.engine.bulk.workers import WorkerLost
from proctor.errors import SuiteError
from proctor.io import parquet_files
from proctor.scorers.text.comparisons import Number
from proctor.store.parts.folders import PartFolders

pytestmark = pytest.mark.usefixtures("here")


def test_a_run_in_parts_has_the_numbers_of_one_in_rows(tmp_path: Path, run: Run) -> None:
    cases, answers = simple_rows(60)
    answers[7]["output"] = None
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    assert_same(run(suite, file, store="rows"), run(suite, file, store="parts", bulk=True))


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_both_homes_have_the_same_numbers(tmp_path: Path, run: Run, ending: str) -> None:
    cases, answers = simple_rows(2_100)
    suite = write_rows(tmp_path / f"suite.{ending}", cases)
    file = write_rows(tmp_path / f"answers.{ending}", answers)
    rows = run(suite, file, store="rows", bulk=False)
    parts = run(suite, file, store="parts", bulk=True)
    assert_same(rows, parts)
    assert {one.phase for one in parts.progress} == {"read", "grade"}
    assert len(parts.store.parts.of_run(parts.outcome.view.run.id)) == 3


QUICK: list[Json] = [
    [{"keywords": ["four", {"text": "blue", "weight": 2}, {"text": "green", "neg": True}]}],
    [{"contains": "Paris"}, {"contains": ["four", "blue"], "weight": 0.5}],
    ["Paris"],
    [{"exact_match": True, "weight": 0.3}, {"token_f1": True}],
    [{"rouge": "rougeL"}, {"rouge": "rouge1", "weight": 0}],
    [{"number": 4}, {"keywords": [{"any": ["Paris", "4"]}], "metric": "words"}],
    [{"contains": "blue", "weight": -0.7, "id": "penalty"}, {"token_f1": True}],
    [{"word_count_match": True}, {"contains": "references"}],
    [{"readability": True, "weight": 0}],
    [{"length": {"max": 2}}, {"refusal": False, "weight": 0.5}],
    [{"language": "en"}, {"xml": True}, {"is_json": True}, {"json_equal": {"value": 4}}],
    [{"noted": "x"}, {"specificity": True, "weight": 0}, {"says": "four"}],
]
SLOW: list[Json] = [
    [{"matches": "(four|blue)+ "}, {"token_f1": True}],
    [{"keywords": [{"text": "f..r", "regex": True}, {"text": "4", "cond": "len(response) > 9"}]}],
    [{"text_metrics": ["bleu", "chrf"], "weight": 0}, {"exact_match": True}],
    [{"blanks": {"template": "a [blank] c", "targets": ["four"]}}],
    [{"contains": {"texts": "BLUE", "ignore_case": True}}],
    [{"maths": True}],
]
"""Criteria that are scored in processes that can be killed, or many at once."""


ELSEWHERE = {
    "agents": {"command_ran", "files_changed", "no_new_failures", "skill_used", "tool_used"},
    "programs": {"eval_code", "python_check", "sql_equal", "task_tests", "unit_tests"},
    "weights": {"bert_score", "bert_similarity", "hedging_language", "similar", "unieval"},
    "results of other tools": {"imported"},
    "state": {"actions", "state_equal"},
    "structure": {"instructions", "json_schema", "retrieval", "tool_calls"},
    "what an attempt took": {"cost", "latency"},
}
"""Scorers without a kind here, besides those that ask a judge: a run with these, or with programs,
stays in rows, weights score many at once as text_metrics does, and imported scores are not made."""


def test_no_scorer_is_left_out() -> None:
    entries = [entry for kinds in (*QUICK, *SLOW) for entry in kinds]
    tried = {name for entry in entries if isinstance(entry, dict) for name in entry}
    rest = set(registry.names("scorer")) - tried - set().union(*ELSEWHERE.values())
    classes = {name: registry.class_of("scorer", Spec(name=name)) for name in rest}
    assert [name for name, kind in classes.items() if kind.needs_judge is not True] == []


def varied(count: int, kinds: list[Json]) -> tuple[list[Json], list[Json]]:
    """Return cases with criteria of all these kinds, and answers of all sorts."""
    draw = random.Random(11)
    cases, answers = [], []
    for number in range(count):
        case: dict[str, Json] = {
            "id": f"c{number}\u00e9",
            "ask": f"Say {number}",
            "references": draw.sample(["Paris", "four blue", "4"], draw.randint(1, 2)),
            "criteria": kinds[number % len(kinds)],
            "tags": {"kind": str(number % 4), "own": [str(number), "x"]},
        }
        if number % 5 == 0:
            case["weight"] = 1.7
        if number % 6 == 1:
            case |= {"full_score": 3, "null_score": -1}
        if number % 11 == 2:
            case["cluster"] = f"k{number % 9}"
        if number % 13 == 3:
            del case["criteria"]
        cases.append(case)
        for _ in range(draw.choice([0, 1, 1, 1, 2])):
            said = " ".join(draw.choices(["Paris", "four", "blue", "green", "4"], k=3))
            answer: dict[str, Json] = {"case": case["id"], "output": said}
            if draw.random() < 0.1:
                answer["output"] = None
            if draw.random() < 0.1:
                answer["model"] = "m"
            answers.append(answer)
    return cases, answers


@pytest.mark.slow
def test_every_kind_of_criterion_has_the_same_numbers(tmp_path: Path, run: Run) -> None:
    cases, answers = varied(1_300, QUICK)
    header = {"suite": {"measures": ["accuracy"], "reduce": "max", "full_score": 2}}
    suite = write_rows(tmp_path / "suite.jsonl", [header, *cases])
    file = write_rows(tmp_path / "answers.jsonl", answers)
    for method in ("bounded", "bootstrap"):
        rows = run(suite, file, store=f"rows-{method}", bulk=False, interval=method)
        parts = run(suite, file, store=f"parts-{method}", bulk=True, interval=method)
        assert_same(rows, parts)


@pytest.mark.slow
def test_criteria_that_need_processes_have_the_same_numbers(tmp_path: Path, run: Run) -> None:
    cases, answers = varied(1_100, SLOW)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    rows = run(suite, file, store="rows", bulk=False)
    parts = run(suite, file, store="parts", bulk=True)
    assert_same(rows, parts)


@pytest.mark.slow
def test_answers_in_any_order_find_their_cases(tmp_path: Path, run: Run) -> None:
    cases, answers = simple_rows(2_300)
    answers += [{**answer, "output": "Paris"} for answer in answers[::3]]
    random.Random(2).shuffle(answers)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.parquet", answers)
    rows = run(suite, file, store="rows", bulk=False, attempts=2)
    parts = run(suite, file, store="parts", bulk=True, attempts=2)
    assert_same(rows, parts)


@pytest.mark.slow
def test_a_limit_keeps_the_first_cases(tmp_path: Path, run: Run) -> None:
    cases, answers = simple_rows(1_200)
    suite = write_rows(tmp_path / "suite.parquet", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    rows = run(suite, file, store="rows", bulk=False, limit=1_050)
    parts = run(suite, file, store="parts", bulk=True, limit=1_050)
    assert_same(rows, parts)
    assert parts.outcome.view.summary.totals.cases == 1_050


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "place", "change"),
    [
        ("suite", 1_100, {"criteria": [{"keywords": [""]}]}),
        ("suite", 1_100, {"id": "case-3"}),
        ("suite", 1_100, {"criteri": "x"}),
        ("suite", 5, {"criteria": [{"rouge": "rougeQ"}]}),
        ("answers", 1_100, {"case": "nobody"}),
        ("answers", 1_100, {"output": {"a": 1}}),
        ("answers", 1_100, {"attempt": -1}),
        ("answers", 1_100, {"messages": "["}),
    ],
)
def test_problems_are_told_as_for_small_runs(
    tmp_path: Path, run: Run, which: str, place: int, change: Json
) -> None:
    cases, answers = simple_rows(1_150)
    rows = cases if which == "suite" else answers
    rows[place] = {**rows[place], **change}
    if "messages" in change:
        del rows[place]["output"]
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    told = []
    for bulk in (False, True):
        with pytest.raises(SuiteError) as error:
            run(suite, file, store=f"s{bulk}", bulk=bulk)
        told.append(str(error.value))
    assert told[0] == told[1]
    assert not list(tmp_path.glob("*.parts/**/*.parquet"))


def test_a_part_that_is_there_is_kept_and_one_of_other_answers_made_again(
    tmp_path: Path, run: Run
) -> None:
    cases, answers = simple_rows(40)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    first = run(suite, file, bulk=True)
    before = first.store.parts.of_run(first.outcome.view.run.id)
    again = run(suite, file, bulk=True)
    assert again.outcome.graded.stored == 80
    assert again.outcome.graded.judged == 0
    assert again.outcome.view.summary == first.outcome.view.summary
    assert first.store.parts.of_run(first.outcome.view.run.id) == before
    answers[3]["output"] = "nothing of the kind"
    write_rows(file, answers)
    third = run(suite, file, bulk=True)
    assert third.outcome.graded.judged == 80
    assert third.outcome.view.run.id == first.outcome.view.run.id
    assert third.outcome.view.summary != first.outcome.view.summary
    assert len(list(tmp_path.glob("s.db.parts/r-*/*.parquet"))) == 2
    assert len(list(tmp_path.glob("s.db.parts/s-*/*.parquet"))) == 1


def test_failed_scores_are_tried_again_by_the_same_command_after_the_end(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases, answers = simple_rows(1_100)
    cases = [{**case, "criteria": [{"rouge": "rougeL"}, {"number": 4}]} for case in cases]
    answers = [
        {**one, "output": "four" if place != 7 else "4"} for place, one in enumerate(answers)
    ]
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    score = Number.score_texts

    def broken(self: Number, output: str, references: tuple[str, ...]) -> Score:
        if output == "4":
            raise RuntimeError("not today")
        return score(self, output, references)

    monkeypatch.setattr(Number, "score_texts", broken)
    first = run(suite, file, bulk=True)
    assert first.outcome.graded.failed == 1
    before = first.store.parts.of_run(first.outcome.view.run.id)
    # Nobody knows whether an interrupted run would have failed again: it goes on where it was.
    first.store.runs.save(replace(first.outcome.view.run, status=RunStatus.INTERRUPTED))
    assert run(suite, file, bulk=True).outcome.graded.judged == 0
    first.store.runs.save(first.outcome.view.run)
    assert run(suite, file, bulk=True).outcome.graded.failed == 1
    assert first.store.parts.of_run(first.outcome.view.run.id) == before
    assert len(list(tmp_path.glob("s.db.parts/r-*/*.parquet"))) == 4
    monkeypatch.setattr(Number, "score_texts", score)
    again = run(suite, file, bulk=True)
    assert (again.outcome.graded.judged, again.outcome.graded.stored) == (2_000, 200)
    assert (
        again.outcome.view.summary
        == run(suite, file, store="rows", bulk=False).outcome.view.summary
    )
    after = again.store.parts.of_run(again.outcome.view.run.id)
    assert [one.place == other.place for one, other in zip(before, after, strict=True)] == [
        False,
        True,
    ]
    assert len(list(tmp_path.glob("s.db.parts/r-*/*.parquet"))) == 4
    assert run(suite, file, bulk=True).outcome.graded.judged == 0


def test_cases_whose_file_is_gone_or_cut_short_are_written_again(tmp_path: Path, run: Run) -> None:
    cases, answers = simple_rows(1_100)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    first = run(suite, file, bulk=True)
    written = sorted(tmp_path.glob("s.db.parts/s-*/*.parquet"))
    written[0].unlink()
    written[1].write_bytes(written[1].read_bytes()[:-9])
    assert [one.case.id for one in first.cases()] != [case["id"] for case in cases]
    again = run(suite, file, bulk=True)
    assert again.outcome.graded.judged == 0
    assert [one.case.id for one in again.cases()] == [case["id"] for case in cases]
    now = sorted(tmp_path.glob("s.db.parts/s-*/*.parquet"))
    assert len(now) == 2
    assert not set(now) & set(written)
    run(suite, file, bulk=True)
    assert sorted(tmp_path.glob("s.db.parts/s-*/*.parquet")) == now


def test_tags_are_in_the_order_of_the_suite(tmp_path: Path, run: Run) -> None:
    cases, answers = simple_rows(30)
    for number, case in enumerate(cases):
        case["tags"] = {"zone": str(number % 2), "area": "x"} if number % 3 else {"a": ["c", "b"]}
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    rows, parts = run(suite, file, store="rows"), run(suite, file, store="parts", bulk=True)
    assert list(parts.outcome.view.summary.groups) == ["a", "zone", "area", "metric"]
    for one in (rows, parts):
        assert [list(row.tags) for row in one.rows()[:2]] == [["a"], ["zone", "area"]]


def test_a_part_that_costs_a_worker_its_life_is_scored_here(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases, answers = simple_rows(30)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    rows = run(suite, file, store="rows")

    def lost(_: object) -> None:
        raise WorkerLost

    monkeypatch.setitem(worker_process._WORK, ShareTask, lost)
    assert_same(rows, run(suite, file, store="parts", bulk=True))


def test_few_answers_stay_in_rows_unless_a_person_wants_parts(tmp_path: Path, run: Run) -> None:
    cases, answers = simple_rows(5)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    assert run(suite, file, store="few").home == "rows"
    assert run(suite, file, store="many", bulk=True).home == "parts"


def test_a_shared_store_without_a_place_for_parts_keeps_rows_and_says_so_once(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases, answers = simple_rows(5)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    # As it is for a store on a server.
    monkeypatch.setattr(PartFolders, "folder", property(lambda _: None))
    made = run(suite, file, bulk=True)
    assert made.home == "rows"
    (notice,) = made.notices
    assert "rows are kept (fix: --parts URL" in notice


def test_rows_that_are_kept_in_spite_of_a_wish_are_mentioned(tmp_path: Path, run: Run) -> None:
    cases, answers = simple_rows(5)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    for number, (more, bulk) in enumerate((({}, True), ({"where": "id != 'x'"}, None))):
        made = run(suite, file, store=f"s{number}", bulk=bulk, **more)
        assert made.notices == []
    refused = run(suite, file, store="t", bulk=True, where="id != 'x'")
    assert refused.home == "rows"
    (notice,) = refused.notices
    assert "rows are kept, in spite of --bulk" in notice


@pytest.mark.slow
def test_a_suite_that_a_worker_has_looked_at_is_not_looked_at_again(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases, answers = simple_rows(5)
    suite = write_rows(tmp_path / "suite.parquet", cases)
    file = write_rows(tmp_path / "answers.parquet", answers)
    opened: list[str] = []
    decoding = parquet_files._decoding

    def noted(path: Path, what: str, limits: Mapping[str, int]) -> Any:
        opened.append(what)
        return decoding(path, what, limits)

    monkeypatch.setattr(parquet_files, "_decoding", noted)
    assert run(suite, file, bulk=True).home == "parts"
    assert opened == []


LOADED = """
import sys
from proctor.engine.bulk.workers import Workers
HEAVY = {"numpy", "pyarrow", "pydantic", "sqlalchemy"}
begin = Workers.begin

async def begun(self, count):
    print("begun with", *sorted(HEAVY & set(sys.modules)), file=sys.stderr)
    await begin(self, count)

Workers.begin = begun
from proctor.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print("ended with", *sorted(HEAVY & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.slow
def test_workers_begin_before_the_run_loads_libraries_of_its_own(tmp_path: Path) -> None:
    cases, answers = simple_rows(5)
    suite = write_rows(tmp_path / "suite.parquet", cases)
    file = write_rows(tmp_path / "answers.parquet", answers)
    command = [sys.executable, "-c", LOADED, "run", str(suite), "--answers", str(file), "--bulk"]
    command += ["--store", str(tmp_path / "store.db")]
    told = subprocess.run(command, capture_output=True, check=True, text=True).stderr.splitlines()
    assert "begun with" in told
    # Files are the workers' work.
    assert "ended with numpy pydantic" in told


@pytest.mark.slow
def test_a_run_that_was_in_parts_can_be_made_in_rows_again(tmp_path: Path, run: Run) -> None:
    cases, answers = simple_rows(30)
    suite = write_rows(tmp_path / "suite.jsonl", cases)
    file = write_rows(tmp_path / "answers.jsonl", answers)
    parts = run(suite, file, bulk=True)
    summary = parts.outcome.view.summary
    rows = run(suite, file, bulk=False)
    assert rows.home == "rows"
    assert rows.outcome.view.summary == summary
    assert run(suite, file, bulk=True).outcome.view.summary == summary
