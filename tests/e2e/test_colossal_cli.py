"""``proctor colossal`` and a config given to ``proctor run``, against a server on loopback."""

import json
from math import log
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import FakeServer
from proctor.testing.replies import Answer, all_text

CATEGORIES = ("brainstorming", "closed_qa", "chat")
CONFIG: dict[str, Any] = {
    "language": "en",
    "category": {
        "brainstorming": {"GPT": ["relevance", "creativity"], "Metrics": ["Distinct"]},
        "closed_qa": {"GPT": ["correctness"], "Metrics": ["BLEU", "CHRF", "F1 score"]},
        "chat": {"GPT": ["naturalness"]},
    },
}
PLAIN: dict[str, Any] = {"language": "en", "category": {"closed_qa": {"Metrics": ["F1 score"]}}}
KEY = "key-of-mine-1234"


def judge(messages: list[Any], body: Any) -> Any:
    """Rate by the number in the question, and find the first answer better where it is longer."""
    text = all_text(messages)
    if body.get("logprobs"):
        return Answer("4", logprobs={"4": log(0.5), "5": log(0.5)})
    if "score_1" in json.dumps(body.get("response_format", "")):
        first = "right-" in text.partition("answer_1")[2].partition("answer_2")[0]
        return json.dumps(
            {"reason": "r", "score_1": 8 if first else 4, "score_2": 4 if first else 8}
        )
    if "[Answer 1]" in text:
        return "8 7\nbecause"
    return "3"


def mute(messages: list[Any], body: Any) -> Any:
    """Rate as a server that knows nothing of log-probabilities."""
    if body.get("max_tokens") == 1:
        return "4"
    return '{"reason": "fine", "rating": 3.5}'


def records(word: str = "") -> list[dict[str, Any]]:
    return [
        {
            "category": CATEGORIES[number % 3],
            "instruction": f"Question {number}?",
            "input": "with more" if number % 2 else "",
            "output": f"{word}answer {number}" if word else "",
            "target": f"right-answer {number}",
            "id": number + 1,
        }
        for number in range(9)
    ]


def write(cli: Any, name: str, value: Any) -> str:
    cli.write(name, json.dumps(value, ensure_ascii=False, indent=1))
    return name


@pytest.fixture
def files(cli: Any) -> Any:
    write(cli, "config.json", CONFIG)
    write(cli, "plain.json", PLAIN)
    write(cli, "targets.json", records())
    write(cli, "a.json", records("right-"))
    write(cli, "b.json", records("wrong-"))
    cli.env.pop("OPENAI_API_KEY", None)
    return cli


ONE = ("--target_file", "targets.json", "--answer_file_list", "a.json", "--model_name_list", "one")
TWO = ("--answer_file_list", "a.json", "b.json", "--model_name_list", "one", "two")


def by(made: Any, metric: str) -> dict[str, float]:
    rows = made["measures"][metric]["detail"]["by"]
    return {name: row["value"] for name, row in rows.items()}


@pytest.mark.slow
def test_ratings_and_metrics(files: Any) -> None:
    with FakeServer(judge) as server:
        args = ("colossal", "--config_file", "config.json", *ONE)
        made = files.json(*args, "--judge", f"openai:j@{server.url}", "--save_path", "results")
        again = files.json(*args, "--judge", f"openai:j@{server.url}")
    assert made["run"]["name"] == "one"
    assert by(made, "relevance") == {"brainstorming": 4.5}
    assert by(made, "correctness") == {"closed_qa": 4.5}
    assert by(made, "f1_score") == {"closed_qa": 1.0}
    assert by(made, "bleu1") == {"closed_qa": 1.0}
    assert len(server.calls) == 12
    assert again["measures"] == made["measures"]
    found = json.loads(
        (files.folder / "results/gpt_evaluate/gpt_evaluate_results/evaluation_statistics"
         / "one_evaluation_statistics.json").read_text()
    )  # fmt: skip
    assert found["chat"]["naturalness"]["avg_score"] == 4.5
    table = files.folder / "results/automatic_results/evaluation_results/one_results.csv"
    assert table.read_text().splitlines()[0] == ",brainstorming,closed_qa,chat"


@pytest.mark.slow
def test_the_table(files: Any) -> None:
    with FakeServer(mute) as server:
        args = ("colossal", "--config_file", "config.json", *ONE)
        done = files(*args, "--judge", f"openai:j@{server.url}", "--gpt_with_reference")
    cells = [line.split() for line in done.stdout.splitlines()]
    assert ["chat", "naturalness", "3.5000", "1.9103–4.4286", "3"] in cells
    assert len([call for call in server.calls if call.body.get("logprobs")]) == 1


def test_natively(files: Any) -> None:
    with FakeServer(judge) as server:
        named = ("--judge", f"openai:j@{server.url}", "--targets", "targets.json")
        made = files.json("run", "config.json", "--answers", "a.json", *named)
        plan = files.json("plan", "config.json", "--answers", "b.json", *named)
    assert by(made, "creativity") == {"brainstorming": 4.5}
    assert plan["problems"] == []
    warned = files("run", "config.json", "--answers", "b.json", "--targets", "targets.json")
    assert "there is no --judge" in warned.stderr
    assert "f1_score: " in warned.stdout


def test_models_are_asked_the_questions_of_a_config(files: Any) -> None:
    with FakeServer(lambda m, b: all_text(m).replace("Question", "right-answer")) as server:
        args = ("--model", f"openai:m@{server.url}", "--targets", "targets.json")
        made = files.json("run", "plain.json", *args)
    assert made["totals"]["attempts"] == 3
    assert {call.body["messages"][0]["content"] for call in server.calls} == {
        "Question 1?\nwith more", "Question 4?", "Question 7?\nwith more",
    }  # fmt: skip


@pytest.mark.slow
def test_the_original(files: Any) -> None:
    with FakeServer(judge) as server:
        args = ("colossal", "--config_file", "config.json", *ONE, "--compat", "original")
        made = files.json(*args, "--judge", f"openai:j@{server.url}", "--gpt_with_reference")
    assert by(made, "relevance") == {"brainstorming": 3.0}
    assert "compat:original" in made["run"]["signature"]
    assert len(server.calls) == 24
    bodies = [call.body for call in server.calls]
    assert {(body["max_tokens"], body["temperature"]) for body in bodies} == {(1, 0)}
    assert {len(body["messages"]) for body in bodies} == {1, 3}


def test_a_battle(files: Any) -> None:
    with FakeServer(judge) as server:
        args = ("colossal", "--config_file", "config.json", *TWO)
        made = files.json(*args, "--judge", f"openai:j@{server.url}", "--save_path", "results")
    (pair,) = made["pairs"]
    assert (pair["win"], pair["tie"], pair["loss"]) == (9, 0, 0)
    assert len(server.calls) == 18
    path = files.folder / "results/gpt_evaluate/battle_results/battle_results.json"
    assert json.loads(path.read_text())["one_vs_two"]["worse"] == 9
    assert not (files.folder / "results/automatic_results").exists()


def test_a_battle_as_the_original_held_it(files: Any) -> None:
    with FakeServer(judge) as server:
        args = ("colossal", "--config_file", "config.json", *TWO, "--compat", "original")
        files.json(*args, "--judge", f"openai:j@{server.url}", "--save_path", "results")
    assert len(server.calls) == 9
    asked = {call.body["messages"][1]["content"].splitlines()[1] for call in server.calls}
    assert "Question 1? with more" in asked
    path = files.folder / "results/gpt_evaluate/battle_results/battle_results.json"
    assert json.loads(path.read_text()) == {
        "one_vs_two": {"model": ["one", "two"], "better": 0, "worse": 9, "tie": 0, "win_rate": 0.0,
                       "score": [8.0, 7.0]}
    }  # fmt: skip


@pytest.mark.slow
def test_everything_at_once(files: Any) -> None:
    with FakeServer(judge) as server:
        args = ("colossal", "--config_file", "config.json", "--target_file", "targets.json", *TWO)
        made = files.json(*args, "--evaluate", "--judge", f"openai:j@{server.url}")
    assert [run["run"]["name"] for run in made["runs"]] == ["one", "two"]
    assert made["pairs"][0]["win"] == 9
    assert by(made["runs"][0], "naturalness") == {"chat": 4.5}


def test_metrics_alone_need_neither_judge_nor_key_nor_prompts(files: Any) -> None:
    made = files.json("colossal", "--config_file", "plain.json", *ONE)
    assert by(made, "f1_score") == {"closed_qa": 1.0}
    assert made["usage"]["calls"] == 0


@pytest.mark.slow
def test_the_key_is_sent_and_never_kept(files: Any) -> None:
    with FakeServer(judge, key=KEY) as server:
        files.env["OPENAI_BASE_URL"] = server.url
        args = ("colossal", "--config_file", "config.json", *ONE, "--openai_key", KEY)
        done = files(*args, "--save_path", "results", "--json")
        shown = files("show", "one", "1").stdout
    assert {call.body["model"] for call in server.calls} == {"gpt-3.5-turbo"}
    assert KEY not in done.stdout + done.stderr + shown
    for path in files.folder.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes()


def test_a_wrong_key_is_not_shown(files: Any) -> None:
    with FakeServer(judge, key="another") as server:
        args = ("colossal", "--config_file", "config.json", *ONE, "--openai_key", KEY)
        done = files(*args, "--gpt_model", f"openai:j@{server.url}", code=2)
    assert KEY not in done.stdout + done.stderr
    assert "key" in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "--config_file is missing"),
        (("--config_file", "config.json"), "--answer_file_list is missing"),
        (("--config_file", "config.json", *ONE), "nobody is there to rate"),
        (("--config_file", "config.json", *ONE[2:]), "does not say where the targets are"),
        (("--config_file", "config.json", *ONE, "two"), "1 files, and --model_name_list 2 names"),
        (("--config_file", "gone.json", *ONE), "there is no such file"),
        (("--config_file", "targets.json", *ONE), "this is no config"),
        (
            ("--config_file", "config.json", *ONE, "--gpt_model", "text-davinci-003"),
            "text-davinci-003 no longer exists",
        ),
        (("--config_file", "config.json", *ONE, "--judge", "gpt-4"), "does not say whose model"),
        (("--config_file", "config.json", *TWO), "a battle needs a judge"),
        (("--config_file", "config.json", *TWO[:-1], "one"), "one name twice"),
        (
            ("--config_file", "config.json", "--compat", "original", "--answer_file_list",
             "a.json", "b.json", "targets.json"),
            "two models at most",
        ),
        (("--fill-targets", "openai:m"), "--target_file is missing"),
        (
            ("--fill-targets", "openai:m", "--target_file", "targets.json", "--out", "targets.json"),
            "the filled one is a new file",
        ),
    ],
)  # fmt: skip
def test_wrong_input(files: Any, args: tuple[str, ...], message: str) -> None:
    done = files("colossal", *args, code=2)
    assert message in done.stderr
    assert done.stdout == ""


def test_all_files_are_checked_before_a_token_is_bought(files: Any) -> None:
    write(files, "b.json", records("wrong-")[:-1])
    with FakeServer(judge) as server:
        args = ("--config_file", "config.json", "--target_file", "targets.json", *TWO)
        named = ("--evaluate", "--judge", f"openai:j@{server.url}")
        done = files("colossal", *args, *named, code=2)
        assert "b.json:1:1: error: the id 9 has no answer" in done.stderr
        write(files, "b.json", records("wrong-"))
        write(files, "battle.json", {"prompt": "p"})
        done = files(
            "colossal", "--config_file", "config.json", *TWO,
            "--battle_prompt_file", "battle.json", *named[1:], code=2,
        )  # fmt: skip
        assert "'system_prompt' is missing" in done.stderr
    assert server.calls == []


def test_filling_targets(files: Any) -> None:
    rows: list[dict[str, Any]] = [{**row, "target": ""} for row in records()]
    rows[4]["target"], rows[5]["output"] = "known", "sampled"
    source = write(files, "bare.json", rows)
    with FakeServer(lambda m, b: f"sample of {all_text(m)}") as server:
        args = ("colossal", "--target_file", source, "--fill-targets", f"openai:m@{server.url}")
        made = files.json(*args, "--out", "full.json")
        files(*args)
    assert made == {"wrote": "full.json", "records": 9, "filled": 7}
    assert len(server.calls) == 7
    found = json.loads((files.folder / "full.json").read_text(encoding="utf-8"))
    assert found[1]["output"] == "sample of Question 1?\nwith more"
    assert [found[4]["output"], found[5]["output"]] == ["", "sampled"]
    assert (files.folder / "bare_filled.json").read_bytes() == (
        files.folder / "full.json"
    ).read_bytes()
    assert json.loads((files.folder / source).read_text()) == rows


def test_filling_goes_on_where_it_stopped(files: Any) -> None:
    source = write(files, "bare.json", [{**row, "target": ""} for row in records()])
    broken = True

    def say(messages: list[Any], body: Any) -> Any:
        from proctor.testing.faults import Fault

        hit = broken and "Question 3" in all_text(messages)
        return Fault("error", status=400, message="no") if hit else "sample"

    with FakeServer(say) as server:
        args = ("colossal", "--target_file", source, "--fill-targets", f"openai:m@{server.url}")
        files(*args, code=2)
        assert not (files.folder / "bare_filled.json").exists()
        broken = False
        files(*args)
    assert len(server.counts()) == 9
    assert len(server.calls) == 10


def test_convert(files: Any) -> None:
    config = {**CONFIG, "target_file": "targets.json"}
    write(files, "whole.json", config)
    files("convert", "whole.json", "--out", "native")
    made = files.json("run", "native", "--answers", "native/../answers.jsonl", code=2)
    assert "error" in made
    rows = [{"case": str(n + 1), "output": f"right-answer {n}"} for n in range(9)]
    files.answers(rows)
    made = files.json("run", "native", "--answers", "answers.jsonl")
    assert by(made, "f1_score") == {"closed_qa": 1.0}


def test_help(files: Any) -> None:
    text = files("colossal", "--help").stdout
    for flag in ("config_file", "battle_prompt_file", "gpt_evaluation_prompt_file", "target_file",
                 "answer_file_list", "model_name_list", "gpt_model", "gpt_with_reference",
                 "save_path", "openai_key"):  # fmt: skip
        assert f"--{flag}" in text
    assert Path(files.folder, ".proctor").exists() is False
