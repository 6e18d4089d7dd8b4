"""Imported runs are quotations: shown and marked, and of no use to any run of one's own."""

import base64
import json
import re
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import FakeServer

SUITE = """\
name: sums
cases:
  - {id: one, ask: '1 + 1?', criteria: {number: 2}}
  - {id: two, ask: '2 + 2?', criteria: {number: 4}}
"""
WRONG = [{"case": "one", "output": "3"}, {"case": "two", "output": "5"}]
RUN = ("run", "suite.yaml", "--answers", "answers.jsonl")


@pytest.fixture
def sums(cli: Any) -> Any:
    """Give a folder with a suite, and answers that are all wrong."""
    cli.write("suite.yaml", SUITE)
    cli.write("answers.jsonl", "".join(json.dumps(row) + "\n" for row in WRONG))
    return cli


def rows_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_rows(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def forged(cli: Any, *more: str) -> Path:
    """Export the same run from somebody else's store, with full marks for everything."""
    cli.json(*RUN, "--store", "theirs.db", *more)
    path: Path = cli.folder / "theirs.jsonl"
    cli("export", "@last", "--out", str(path), "--store", "theirs.db")
    rows = rows_of(path)
    for row in rows:
        for tried in row.get("attempts", ()):
            for score in tried["scores"].values():
                score["points"] = 1.0
    write_rows(path, rows)
    return path


@pytest.mark.slow
def test_a_strangers_scores_do_not_become_ones_own(sums: Any) -> None:
    path = forged(sums)
    sums("import", str(path))
    assert sums.json("report", "@last")["totals"]["rate"] == 1.0
    made = sums.json(*RUN)
    assert made["totals"]["rate"] == 0.0
    assert not made["run"]["imported"]
    assert sums.json("report", made["run"]["id"])["totals"]["rate"] == 0.0


@pytest.mark.slow
def test_a_strangers_run_does_not_replace_ones_own(sums: Any) -> None:
    made = sums.json(*RUN)
    path = forged(sums)
    assert rows_of(path)[0]["run"]["id"] == made["run"]["id"]
    done = sums("import", str(path))
    assert "there is a run 'sums-answers' already: this one is called sums-answers-imported" in (
        done.stderr
    )
    for reference in (made["run"]["id"], made["run"]["name"], "@last"):
        assert sums.json("report", reference)["totals"]["rate"] == 0.0
    assert sums.json("report", "sums-answers-imported")["totals"]["rate"] == 1.0
    said = sums("import", str(path), code=2).stderr
    assert "was imported before, as 'sums-answers-imported'" in said
    assert len(sums.json("list", "runs")["runs"]) == 2


@pytest.mark.slow
def test_a_run_that_will_be_made_is_not_there_before(sums: Any) -> None:
    """A file may bring more attempts under the id that one's own run is going to have."""
    path = forged(sums)
    rows = rows_of(path)
    for row in rows[1:]:
        more = json.loads(json.dumps(row["attempts"][0]))
        more["attempt"]["index"] = 1
        row["attempts"].append(more)
    write_rows(path, rows)
    sums("import", str(path))
    made = sums.json(*RUN)
    assert (made["totals"]["attempts"], made["totals"]["rate"]) == (2, 0.0)


@pytest.mark.slow
def test_a_strangers_time_and_suite_move_nothing(sums: Any) -> None:
    path = forged(sums)
    rows = rows_of(path)
    rows[0]["run"]["started"] = rows[0]["run"]["finished"] = rows[0]["run"]["started"] + 3600
    rows[0]["suite"] |= {"description": "theirs", "language": "zh"}
    write_rows(path, rows)
    sums.json(*RUN)
    before = sums.json("list", "suites")
    sums("import", str(path))
    assert sums.json("list", "suites") == before
    assert not sums.json("report", "@last")["run"]["imported"]
    assert sums.json("report", "@last~1")["run"]["imported"]


@pytest.mark.slow
def test_ones_own_suite_replaces_what_came_with_an_import(sums: Any) -> None:
    path = forged(sums)
    rows = rows_of(path)
    rows[0]["suite"]["description"] = "theirs"
    for row in rows[1:]:
        row["case"]["source"] = "/etc/theirs.yaml"
    write_rows(path, rows)
    sums("import", str(path))
    assert [row["imported"] for row in sums.json("list", "suites")["suites"]] == [True]
    sums.json(*RUN)
    assert [row["imported"] for row in sums.json("list", "suites")["suites"]] == [False]
    with sqlite3.connect(sums.folder / ".proctor" / "proctor.db") as database:
        assert "theirs" not in str(database.execute("SELECT document FROM suites").fetchall())
        assert "theirs" not in str(database.execute("SELECT source FROM suite_cases").fetchall())
    database.close()


@pytest.mark.slow
def test_it_is_marked_wherever_it_is_shown(sums: Any) -> None:
    sums("import", str(forged(sums)))
    (row,) = sums.json("list", "runs")["runs"]
    assert row["imported"] is True
    assert "imported" in sums("list", "runs").stdout.splitlines()[0]
    assert sums.json("show", "@last", "one")["run"]["imported"] is True
    assert "imported: answers and scores are as in the file" in sums("show", "@last", "one").stdout
    made = sums.json("report", "@last")
    assert made["run"]["imported"] is True
    assert made["run"]["signature"].endswith("|imported:yes")
    for form in ("table", "md", "html", "junit"):
        assert "imported" in sums("report", "@last", "--format", form).stdout
    sums("export", "@last", "--out", "again.jsonl")
    assert rows_of(sums.folder / "again.jsonl")[0]["run"]["imported"] is True
    sums("export", "@last", "--out", "again.parquet")
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(sums.folder / "again.parquet").to_pylist()
    assert {row["imported"] for row in table} == {True}
    sums("export", "@last", "--out", "again.html")
    page = (sums.folder / "again.html").read_text()
    blocks = re.findall(r'<script type="application/octet-stream" id="\w+">(.*?)</script>', page)
    texts = [zlib.decompress(base64.b64decode(block)) for block in blocks]
    assert any(b'"imported":true' in text for text in texts)
    sums.json(*RUN)
    compared = sums.json("compare", "@last~1", "@last")
    assert [run["imported"] for run in compared["runs"]] == [True, False]
    assert "was imported: its scores are what the file says" in str(compared["warnings"])


def test_ones_own_are_taken_back_and_answer_again(sums: Any) -> None:
    """A run that was judged by a model costs nothing after it came back."""
    sums.write(
        "judged.yaml",
        "name: judged\ncases:\n  - {id: a, ask: Q, criteria: {judged: {question: Is it so}}}\n",
    )
    sums.write("judged.jsonl", '{"case": "a", "output": "yes"}\n')
    verdict = '{"reason": "so", "result": "yes"}'
    with FakeServer("It is.", roles={"judge": verdict}) as server:
        args = ("run", "judged.yaml", "--model", f"openai:m@{server.url}", "--judge", f"openai:j@{server.url_of('judge')}")  # fmt: skip
        made = sums.json(*args, "--cases")
        assert made["usage"]["calls"] == len(server.calls) > 0
        asked = len(server.calls)
        sums("export", "@last", "--own", "--out", "own.jsonl")
        sums("delete", "@last", "--yes")
        with sqlite3.connect(sums.folder / ".proctor" / "proctor.db") as database:
            database.execute("DELETE FROM calls")
        database.close()
        done = sums("import", "own.jsonl", "--own")
        assert done.stdout.startswith("took back")
        assert sums.json("report", "@last", "--cases") == made
        assert sums.json(*args, "--cases")["totals"] == made["totals"]
        assert len(server.calls) == asked
        said = sums("import", "own.jsonl", "--own", code=2).stderr
        assert f"there is a run '{made['run']['id']}' already" in said


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"points":0.0', '"points":1.0', 1),
        lambda text: text.replace("sums", "summs"),
        lambda text: "".join(text.splitlines(keepends=True)[:-1]),
        lambda text: "".join(text.splitlines(keepends=True)[1:]),
        lambda text: text + text.splitlines(keepends=True)[-1],
        lambda text: text[:-3] + ("0" if text[-3] != "0" else "1") + text[-2:],
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rpartition("\n{")[0] + '\n{"own": "' + "0" * 64 + '"}\n',
        lambda text: text.rpartition("\n{")[0] + '\n{"own": 1}\n',
        lambda text: "",
    ],
)
@pytest.mark.sampled(14)
def test_a_file_that_was_changed_is_not_ones_own(sums: Any, change: Callable[[str], str]) -> None:
    sums.json(*RUN)
    sums("export", "@last", "--own", "--out", "own.jsonl")
    sums("delete", "@last", "--yes")
    path = sums.folder / "own.jsonl"
    path.write_bytes(change(path.read_text()).encode())
    said = sums("import", "own.jsonl", "--own", code=2).stderr
    assert "own.jsonl: error: this file" in said
    assert sums.json("list", "runs")["runs"] == []


@pytest.mark.slow
def test_the_key_of_another_store_is_needed_and_given_only_when_asked_for(sums: Any) -> None:
    sums.json(*RUN)
    sums("export", "@last", "--own", "--out", "own.jsonl")
    said = sums("import", "own.jsonl", "--own", "--store", "other.db", code=2).stderr
    assert "this file is not one of this store, or it was changed" in said
    sums("store", "key", "--out", "mine.key")
    key = sums.folder / "mine.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.read_text().split()[-1] not in (sums.folder / "own.jsonl").read_text()
    sums("store", "key", "--out", "mine.key", code=2)
    sums("store", "key", "--out", "other.key", "--store", "other.db")
    sums("import", "own.jsonl", "--own", "--key", "other.key", "--store", "other.db", code=2)
    sums("import", "own.jsonl", "--own", "--key", "own.jsonl", "--store", "other.db", code=2)
    sums("import", "own.jsonl", "--own", "--key", "mine.key", "--store", "other.db")
    assert not sums.json("report", "@last", "--store", "other.db")["run"]["imported"]
    assert "--own" in sums("import", "own.jsonl", "--key", "mine.key", code=2).stderr


@pytest.mark.slow
def test_what_was_imported_never_becomes_ones_own(sums: Any) -> None:
    path = forged(sums)
    sums("import", str(path))
    said = sums("export", "@last", "--own", "--out", "own.jsonl", code=2).stderr
    assert "was imported: only runs of one's own are exported with --own" in said
    sums("export", "@last", "--out", "again.jsonl")
    assert "was not exported with --own" in sums("import", "again.jsonl", "--own", code=2).stderr
    sums("export", "@last", "--own", "--out", "own.parquet", code=2)
    sums("export", "@last", "--own", "--out", "own.html", code=2)


@pytest.mark.slow
def test_a_file_of_ones_own_is_a_quotation_elsewhere(sums: Any) -> None:
    sums.json(*RUN)
    sums("export", "@last", "--own", "--out", "own.jsonl")
    sums("import", "own.jsonl", "--store", "other.db")
    assert sums.json("report", "@last", "--store", "other.db")["run"]["imported"]


def test_arthurs_folder_neither_replaces_a_run_nor_scores_one(cli: Any) -> None:
    from proctor.bench import TestSuite

    place = str(cli.folder / ".proctor" / "proctor.db")
    suite = TestSuite(
        "quiz", "exact_match", store=place,
        input_text_list=["a?", "b?"], reference_output_list=["A", "B"], compat="original",
    )  # fmt: skip
    own = suite.run("m", candidate_output_list=["A", "x"])
    folder = cli.folder / "bench_runs" / "quiz"
    (folder / "m").mkdir(parents=True)
    cases = [{"id": case.id, "input": case.input, "reference_output": case.reference_output} for case in suite.test_cases]  # fmt: skip
    told = {"id": "", "name": "quiz", "scoring_method": "exact_match", "test_cases": cases}
    (folder / "suite.json").write_text(json.dumps(told))
    run = {"name": "m", "test_cases": [{"id": c["id"], "output": o, "score": 1.0} for c, o in zip(cases, "Ax", strict=True)]}  # fmt: skip
    (folder / "m" / "run.json").write_text(json.dumps(run))
    made = cli.json("import", "bench_runs")
    assert [(one["name"], one["imported"]) for one in made["runs"]] == [("m-imported", True)]
    assert cli.json("report", own.run_id)["totals"]["rate"] == 0.5
    assert TestSuite("quiz", store=place).test_run("m").scores == [1.0, 0.0]
    assert TestSuite("quiz", store=place).run("n", candidate_output_list=["A", "x"]).scores == [1.0, 0.0]  # fmt: skip
    assert cli.json("import", "bench_runs")["there"] == 1
    assert cli.json("report", "m-imported")["totals"]["rate"] == 1.0


SAMPLE = '{"doc_id": 0, "target": "4", "resps": [["4"]], "metrics": ["acc"], "acc": 1.0}\n'


def samples(cli: Any, folder: str, *tasks: str) -> None:
    (cli.folder / folder).mkdir(parents=True)
    for task in tasks:
        cli.write(f"{folder}/samples_{task}_2026-11-18T10-00-00.000000.jsonl", SAMPLE)


def names(done: Any) -> list[str]:
    return [run["name"] for run in done["runs"]]


def test_an_import_gets_the_name_that_is_asked_for(sums: Any) -> None:
    path = forged(sums)
    assert names(sums.json("import", str(path), "--name", "theirs")) == ["theirs"]
    assert sums.json("report", "theirs")["run"]["imported"] is True
    samples(sums, "out/org__small", "one")
    assert names(sums.json("import", "out", "--name", "small")) == ["small"]
    again = sums.json("import", "out", "--name", "other")
    assert (again["runs"], again["there"]) == ([], 1), "a run is there once, whatever its name"
    samples(sums, "more/org__large", "one", "two")
    assert names(sums.json("import", "more", "--name", "large")) == ["one large", "two large"]


def test_without_a_name_samples_are_called_by_the_folder_of_their_model(sums: Any) -> None:
    samples(sums, "out/org__small", "one")
    assert names(sums.json("import", "out")) == ["one org/small"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--own", "--name", "x"], "--own takes a run back as it was, with its name"),
        (["--name", "a\nb"], "a run's name may not contain control characters"),
        (["--name", "x"], "--name is for one run, and there are 2 of 'both.jsonl'"),
    ],
)
def test_a_name_is_for_one_run(sums: Any, more: list[str], words: str) -> None:
    sums.json(*RUN, "--name", "first", "--store", "theirs.db")
    sums.json(*RUN, "--name", "second", "--store", "theirs.db")
    sums("export", "first", "second", "--out", "both.jsonl", "--store", "theirs.db")
    sums.json(*RUN)
    assert words in sums("import", "both.jsonl", *more, code=2).stderr
    assert len(sums.json("list", "runs")["runs"]) == 1
