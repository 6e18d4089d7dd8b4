"""Names of runs: one that several have says which it means, and a regraded run says so."""

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.store.store import Store
from proctor.testing import FakeServer
from proctor.web.app import make_app

SUITE = "name: quiz\ncases:\n  - {id: one, ask: Say it., criteria: {contains: it}}\n"
RUN = ("run", "suite.yaml", "--answers", "answers.jsonl")
MOMENT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"


def id_of(cli: Any, *args: str) -> str:
    return str(cli.json(*args)["run"]["id"])


def prepared(cli: Any) -> Any:
    cli.write("suite.yaml", SUITE)
    cli.answers([{"case": "one", "output": "It is it."}])
    return cli


def test_a_regraded_run_says_so_and_its_name_says_which_run_it_means(cli: Any) -> None:
    prepared(cli)
    first = id_of(cli, *RUN)
    cli.write("suite.yaml", SUITE.replace("contains: it", "contains: is"))
    again = cli(*RUN)
    assert re.search(
        rf"'quiz-answers' is also the name of the run {first} of {MOMENT}", again.stderr
    )
    assert "regrading with another edition of the suite" in again.stderr
    assert f"regraded from {first}" in again.stdout.splitlines()[0]
    same = cli(*RUN)
    assert "also the name" not in same.stderr, "the same command goes on with its run"
    assert f"regraded from {first}" in same.stdout.splitlines()[0]

    report = cli("report", "quiz-answers", "--json")
    shown = cli.json("report", "quiz-answers")["run"]
    assert shown["regraded"] == first
    assert re.search(
        rf"2 runs are called 'quiz-answers': this is the newest, {shown['id']} of {MOMENT}; by their"
        rf" ids you get the others: {first} of {MOMENT} \(another edition of the suite\)",
        report.stderr,
    )
    for reference in (first, shown["id"], "@last", first[:6]):
        assert cli("report", reference, "--json").stderr == ""
    assert cli.json("report", first)["run"]["regraded"] is None


def test_a_part_of_a_suite_is_no_other_edition_of_it(cli: Any) -> None:
    prepared(cli)
    cli.write("suite.yaml", SUITE + "  - {id: two, ask: Say it., criteria: {contains: it}}\n")
    part = id_of(cli, *RUN, "--limit", "1")
    whole = cli(*RUN)
    assert f"the run {part}" in whole.stderr
    assert "which has other cases" in whole.stderr
    assert "regrad" not in whole.stderr + whole.stdout
    assert "edition" not in cli("list", "runs").stdout


@pytest.mark.slow
def test_every_command_that_takes_a_name_says_which_run_it_means(cli: Any) -> None:
    prepared(cli)
    first = id_of(cli, *RUN)
    cli.write("suite.yaml", SUITE.replace("Say it.", "Say that."))
    second = id_of(cli, *RUN)
    for args in (
        ("report", "quiz-answers"),
        ("show", "quiz-answers", "one"),
        ("compare", "quiz-answers", first, "--force"),
        ("export", "quiz-answers", "--out", "run.jsonl"),
        ("export", "quiz-answers", "--out", "run.html"),
        ("delete", "quiz-answers", "--yes"),
    ):
        done = cli(*args)
        assert f"this is the newest, {second} of" in done.stderr, args
    done = cli("report", "quiz-answers", "--json")
    assert done.stderr == "", "one of them is left"


@pytest.mark.slow
def test_a_list_of_runs_tells_those_of_one_name_apart(cli: Any) -> None:
    prepared(cli)
    first = id_of(cli, *RUN)
    assert "differs" not in cli("list", "runs").stdout
    second = id_of(cli, *RUN, "--attempts", "1", "--interval", "bootstrap")
    cli.write("suite.yaml", SUITE.replace("contains: it", "contains: is"))
    third = id_of(cli, *RUN)
    rows = {row["id"]: row["differs"] for row in cli.json("list", "runs")["runs"]}
    assert rows[third] == f"regraded from {first}"
    assert rows[first] == "older, with another edition of the suite"
    for words in ("another edition of the suite", "number of attempts", "another interval"):
        assert words in rows[second]
    assert "differs" in cli("list", "runs").stdout
    place = f"sqlite:///{cli.folder}/.proctor/proctor.db"
    with TestClient(make_app(place), base_url="http://127.0.0.1") as pages:
        home = pages.get("/").text
        assert all(f'<span class="faint">{run}</span>' in home for run in rows)
        shown = pages.get(f"/runs/{third}").text
        assert "regraded from" in shown
        assert first in shown


def test_a_name_that_a_person_chose_stays_and_means_the_newest(cli: Any) -> None:
    prepared(cli)
    first = id_of(cli, *RUN, "--name", "mine")
    cli.answers([{"case": "one", "output": "No."}], name="other.jsonl")
    done = cli("run", "suite.yaml", "--answers", "other.jsonl", "--name", "mine")
    assert f"is also the name of the run {first} of" in done.stderr
    assert "which has other answers (other.jsonl)" in done.stderr
    assert cli.json("report", "mine")["totals"]["rate"] == 0.0


@pytest.mark.slow
def test_other_addresses_and_other_places_make_other_names(cli: Any, tmp_path: Path) -> None:
    prepared(cli)
    with FakeServer("It is it.") as one, FakeServer("No.") as two:
        names, calls = [], []
        for _ in range(2):
            for server in (one, two):
                made = cli.json("run", "suite.yaml", "--model", f"openai:alpha@{server.url}")
                names.append(made["run"]["name"])
                calls.append(len(server.calls))
    host = re.sub(r"^https?://|/.*$", "", two.url)
    assert names == ["quiz-openai:alpha", f"quiz-openai:alpha@{host}"] * 2
    assert calls[:2] == calls[2:], "each goes on with its own run"
    assert cli("report", "quiz-openai:alpha", "--json").stderr == ""

    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        cli.answers([{"case": "one", "output": folder}], name=f"{folder}/reply.jsonl")

    def answers(path: str) -> str:
        return str(cli.json("run", "suite.yaml", "--answers", path)["run"]["name"])

    assert answers("a/reply.jsonl") == "quiz-reply"
    assert answers("b/reply.jsonl") == "quiz-reply@b"
    assert answers("a/reply.jsonl") == "quiz-reply"
    assert answers(str(tmp_path / "a/reply.jsonl")) == "quiz-reply", "the same file by its path"


def test_a_run_that_was_stored_before_keeps_its_id(tmp_path: Path) -> None:
    from proctor.core.fingerprint import digest
    from proctor.core.suite import Suite
    from proctor.engine.run.names import named_run
    from proctor.engine.run.settings import RunSettings, SuiteSettings

    settings = RunSettings(suite=SuiteSettings(path=Path("s.yaml")), answers=Path("answers.jsonl"))
    with Store.open(f"sqlite:///{tmp_path}/store.db") as store:
        run = named_run(settings, Suite(name="quiz", cases=()), "key", store)
    stored = {**settings.stored(), "interval": "t"}
    parts = ("run", "key", settings.candidate, stored, "quiz-answers")
    assert run.settings["interval"] == "bounded"
    assert (run.name, run.id) == ("quiz-answers", digest(*parts)[:12])
