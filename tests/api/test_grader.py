"""``Grader`` from scripts, threads, coroutines and forks; and what is left of it when it is killed."""

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import proctor
from level import LEVEL
from proctor import GradedOutput, Grader, ProctorError, Suite
from proctor.api.grader import reading_of
from proctor.errors import UsageError
from proctor.scorers import Contains, Judged
from proctor.testing import FakeServer
from waiting import until

QUIZ = """\
name: quiz
cases:
  - {id: capital, ask: "Capital of France?", criteria: {contains: Paris}}
  - {id: pattern, ask: "Letters?", criteria: {matches: "^[a-z]+$"}}
"""
PROGRAM = """\
name: programs
cases:
  - id: double
    ask: Write double(x).
    criteria:
      - unit_tests: {tests: [{content: "assert double(2) == 4", timeout: 3}]}
"""


@pytest.fixture(scope="module")
def quiz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grader") / "quiz.yaml"
    path.write_text(QUIZ, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def grader(quiz: Path) -> Iterator[Grader]:
    with Grader(quiz) as grader:
        yield grader


PAIRS = [("capital", "Paris"), ("pattern", "abc"), ("capital", "Rome"), ("pattern", "1")]
VALUES = [1.0, 1.0, 0.0, 0.0]


def values(results: list[GradedOutput]) -> list[float | None]:
    return [result.value for result in results]


def test_results_come_in_the_order_of_the_pairs(grader: Grader) -> None:
    results = grader.score(PAIRS * 20)
    assert values(results) == VALUES * 20
    assert [result.index for result in results] == list(range(80))
    assert grader.pending == 0


def test_a_single_output_is_scored_alone(grader: Grader) -> None:
    assert grader.score_one("capital", "Paris").value == 1.0
    assert grader.score_one("capital", None).status == "unanswered"


def test_a_stream_yields_each_result_with_its_place(grader: Grader) -> None:
    results = list(grader.stream(iter(PAIRS * 20)))
    assert sorted(result.index for result in results) == list(range(80))
    assert all(result.value == VALUES[result.index % 4] for result in results)


def test_a_stream_that_nobody_reads_to_its_end_stops(grader: Grader) -> None:
    def endless() -> Iterator[tuple[str, str]]:
        while True:
            yield "capital", "Paris"

    stream = grader.stream(endless())
    assert [next(stream).value for _ in range(5)] == [1.0] * 5
    stream.close()  # type: ignore[attr-defined]
    assert grader.score_one("capital", "Paris").value == 1.0


def test_it_works_under_a_running_loop(grader: Grader) -> None:
    async def score() -> list[list[float | None]]:
        streamed = [result async for result in grader.astream(PAIRS)]
        streamed.sort(key=lambda result: result.index)
        one = await grader.ascore_one("capital", "Paris")
        return [
            values(await grader.ascore(PAIRS)),
            values(grader.score(PAIRS)),
            values(streamed),
            [one.value],
        ]

    assert asyncio.run(score()) == [VALUES, VALUES, VALUES, [1.0]]


def test_many_threads_score_at_once(grader: Grader) -> None:
    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(lambda pair: grader.score_one(*pair).value, PAIRS * 25))
    assert results == VALUES * 25


@pytest.mark.parametrize("way", [Grader.score, lambda *args: list(Grader.stream(*args))])
def test_an_unknown_case_is_an_error(grader: Grader, way: Callable[..., Any]) -> None:
    with pytest.raises(ProctorError, match=r"no case 'capitol' \(did you mean 'capital'\?\)"):
        way(grader, [("capital", "x"), ("capitol", "x")])
    with pytest.raises(ProctorError, match="no case 'capitol'"):
        grader.score_one("capitol", "x")


def test_a_closed_grader_says_so(quiz: Path) -> None:
    grader = Grader(quiz)
    grader.close()
    grader.close()
    with pytest.raises(ProctorError, match="closed"):
        grader.score(PAIRS)


def test_a_suite_in_memory_is_as_good_as_a_file(quiz: Path) -> None:
    reading, _ = reading_of(quiz, None, dialect="", where="", limit=None, allow_import=False)
    assert isinstance(reading.suite, Suite)
    with Grader(reading.suite) as grader:
        assert grader.suite.name == "quiz"
        assert values(grader.score(PAIRS)) == VALUES


def test_cases_may_be_a_list(quiz: Path) -> None:
    rows = [{"id": "a", "ask": "?"}, {"id": "b", "ask": "?", "criteria": {"number": 42}}]
    with Grader(rows, criteria={"contains": "Paris"}) as grader:
        assert values(grader.score([("a", "Paris"), ("b", "42"), ("b", "Paris")])) == [1, 1, 0]
        cases = list(grader.suite.cases)
    with Grader(cases) as grader:
        assert grader.score_one("a", "Rome").value == 0.0
    for wrong, words in (
        (7, "cases are a path"),
        ([], "there are no cases"),
        ([7], "case 1: expected"),
    ):
        with pytest.raises(ProctorError, match=words):
            Grader(wrong)  # type: ignore[arg-type]


def test_a_copy_works_in_another_process(grader: Grader) -> None:
    with pickle.loads(pickle.dumps(grader)) as copy:
        assert values(copy.score(PAIRS)) == VALUES


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_a_grader_of_its_own(grader: Grader) -> None:
    grader.score(PAIRS)
    child = os.fork()
    if not child:
        good = False
        try:
            good = values(grader.score(PAIRS)) == VALUES
            grader.close()
        finally:
            os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert values(grader.score(PAIRS)) == VALUES


def test_the_cache_is_a_store(quiz: Path, tmp_path: Path) -> None:
    place = tmp_path / "cache.db"
    for stored in (False, True):
        with Grader(quiz, cache=place) as grader:
            results = grader.score(PAIRS)
        assert values(results) == VALUES
        assert [result.stored for result in results] == [stored] * 4


def test_a_judge_that_is_missing_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "judged.yaml"
    path.write_text("name: j\ncases:\n  - {id: a, ask: Hi, criteria: {rubric: It is polite}}\n")
    with pytest.raises(ProctorError, match="judge"):
        Grader(path)


def test_a_judge_is_asked_and_what_it_does_not_say_is_no_score(tmp_path: Path) -> None:
    path = tmp_path / "judged.yaml"
    path.write_text("name: j\ncases:\n  - {id: a, ask: Hi, criteria: {rubric: It is polite}}\n")

    def verdict(messages: list[Any], body: Any) -> str:
        if "silent" in str(messages):
            return "I would rather not say."
        return json.dumps({"criteria_met": "thanks" in str(messages), "explanation": "read"})

    with (
        FakeServer(verdict) as server,
        Grader(path, judge=f"openai:j@{server.url}", concurrency=8) as grader,
    ):
        good, bad, none = grader.score([("a", "thanks"), ("a", "go away"), ("a", "silent")])
    assert (good.value, bad.value, none.value) == (1.0, 0.0, None)
    assert "no readable verdict" in none.why


LOOP = """\
import sys
from proctor import Grader
with Grader(sys.argv[1]) as grader:
    code = "def double(x):\\n    return 2 * x\\n"
    while True:
        outputs = [("double", f"# {number}\\n{code}") for number in range(8)]
        outputs.append(("double", "def double(x):\\n    while True: pass\\n"))
        for result in grader.stream(outputs):
            print(result.value, flush=True)
"""


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.scaled
def test_a_training_loop_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    suite, script = tmp_path / "programs.yaml", tmp_path / "loop.py"
    suite.write_text(PROGRAM, encoding="utf-8")
    script.write_text(LOOP, encoding="utf-8")
    for round_ in range(LEVEL.of(quick=1, ci=3, full=20)):
        process = subprocess.Popen(
            [sys.executable, str(script), str(suite)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        # The one without end may be given up before the others are through.
        values = [line.strip() for line in islice(process.stdout, 4 + round_)]
        assert values.count("1.0") >= 3 + round_, values
        started = descendants(process.pid)
        assert len(started) > 1, "sandboxes are at work"
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        until(lambda left=started: not any(map(is_alive, left)))


def descendants(root: int) -> set[tuple[int, str]]:
    """Return all processes that a process has started, with when they started."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (row := stat_of(int(entry.name))):
            parents[int(entry.name)] = int(row[1])
    found = {root}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return {(pid, row[19]) for pid in found - {root} if (row := stat_of(pid))}
        found |= more


def is_alive(process: tuple[int, str]) -> bool:
    row = stat_of(process[0])
    return row is not None and row[19] == process[1] and row[0] != "Z"


def stat_of(pid: int) -> list[str] | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None


def test_it_takes_what_evaluate_takes() -> None:
    @proctor.scorer
    def short(output: str) -> bool:
        return len(output) < 20

    def judge(text: str) -> str:
        return '{"reason": "polite", "result": "yes"}'

    cases = [{"id": "a", "ask": "Where?"}, {"id": "b", "ask": "6 × 7?", "criteria": {"number": 42}}]
    with Grader(cases, criteria=[Contains("Paris"), short], judge=judge) as grader:
        values = [result.value for result in grader.score([("a", "Paris"), ("b", "42"), ("a", "")])]
        assert values == [1.0, 1.0, 0.5]
    with Grader(cases[:1], criteria=Judged("Is it polite?"), judge=judge) as grader:
        assert grader.score_one("a", "Please.").value == 1.0


def test_it_takes_tables_and_a_part_of_the_cases() -> None:
    rows = [{"id": name, "question": name, "answer": name} for name in "ab"]
    with Grader(pyarrow.Table.from_pylist(rows), where="id == 'b'") as grader:
        assert [case.id for case in grader.suite.cases] == ["a", "b"]
        assert grader.score_one("b", "b").value == 1.0


def test_criteria_serve_cases_on_file(tmp_path: Path) -> None:
    path = tmp_path / "bare.yaml"
    path.write_text("name: bare\ncases:\n  - {id: a, ask: Where}\n")
    with Grader(path, criteria=Contains("Paris")) as grader:
        assert grader.score_one("a", "In Paris.").value == 1.0


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        (["Paris"], "expected a pair of a case's id and an output, not 'Paris'"),
        ([("capital", "Paris", 1)], "expected a pair"),
        ([("capital", object())], "an output is a text, a number, an Attempt, or None"),
    ],
)
def test_what_is_no_pair_is_refused(grader: Grader, outputs: Any, words: str) -> None:
    for way in (grader.score, lambda given: list(grader.stream(given))):
        with pytest.raises(UsageError) as raised:
            way(outputs)
        assert words in str(raised.value)


def test_outputs_may_be_numbers_and_come_by_id() -> None:
    with Grader([("1+1", "2")]) as grader:
        assert grader.score({"1-1": "2"})[0].value == 1.0
        assert [one.value for one in grader.stream({"1-1": 2})] == [1.0]
        assert grader.score_one("1-1", 2).value == 1.0  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="known are: 1-1"):
            grader.score_one("zebra", "2")
