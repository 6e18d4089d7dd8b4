"""Files in the shapes that ColossalAI ships, as its users have them on disk and call it."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.models.roles import Models
from proctor.engine.run import read_suite
from proctor.engine.run.prepare import prepare
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.testing import FakeServer

SHIPPED = Path(__file__).resolve().parents[2] / ".." / "shared" / "shipped" / "colossal"
CONFIG: dict[str, Any] = {
    "language": "en",
    "category": {
        "open_qa": {"GPT": ["relevance"], "Metrics": ["Distinct"]},
        "puzzles": {"GPT": ["relevance", "reasonableness"]},
        "trade": {"GPT": ["relevance"]},
    },
}
FRAME = "Rate this.\n{question}\n{answer}\n{metric}\n{steps}"
PROMPTS = {
    name: {
        "id": number,
        "category": name,
        "metrics": {"relevance": "Relevance (1-5): is it to the point?"},
        "CoT": {"relevance": "1. Read.\n\nRelevance:"},
        "prompt": FRAME,
    }
    for number, name in enumerate(("open_qa", "general"))
}
BATTLE = {
    "id": 1,
    "system_prompt": "You are fair.",
    "prompt_template": "{question}\n{answer_1}\n{answer_2}\n{prompt}",
    "prompt": "Give two marks.",
}


def judge(messages: list[Any], body: Any) -> Any:
    """Rate, or give two marks, whatever is asked for."""
    if body.get("max_tokens") == 1:
        return "4"
    asked = json.dumps(body.get("response_format", ""))
    if "score_1" in asked:
        return '{"reason": "r", "score_1": 8, "score_2": 4}'
    return '{"reason": "fine", "rating": 3.5}' if "rating" in asked else "8 7\nbecause"


def records(categories: Iterable[str], output: str = "") -> list[dict[str, Any]]:
    return [
        {
            "category": name,
            "instruction": f"Question {number}?",
            "input": "",
            "output": output,
            "target": "the right answer",
            "id": number,
        }
        for number, name in enumerate(categories, 1)
    ]


def laid_out(cli: Any, categories: Iterable[str], config: Any, prompts: Any, battle: Any) -> Any:
    """Write the files where the original's users have them."""
    named = list(categories)
    files = {
        "config/config_en.json": config,
        "prompt/evaluation_prompt/evaluation_prompt_en.json": prompts,
        "prompt/battle_prompt/battle_prompt_en.json": battle,
        "data/target.json": records(named),
        "data/a.json": records(named, "my answer is right"),
        "data/b.json": records(named, "yours"),
    }
    for name, value in files.items():
        path = cli.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, ensure_ascii=False, indent=2), encoding="utf-8")
    cli.env.pop("OPENAI_API_KEY", None)
    return cli


def call(cli: Any, address: str, *names: str, more: Iterable[str] = (), code: int = 0) -> Any:
    """Call it with all the flags that the original's own script gives."""
    return cli(
        "colossal",
        *("--config_file", "config/config_en.json"),
        *("--battle_prompt_file", "prompt/battle_prompt/battle_prompt_en.json"),
        *("--gpt_evaluation_prompt_file", "prompt/evaluation_prompt/evaluation_prompt_en.json"),
        *("--target_file", "data/target.json"),
        *("--answer_file_list", *(f"data/{name}.json" for name in names)),
        *("--model_name_list", *names),
        *("--gpt_model", f"gpt-3.5-turbo@{address}", "--openai_key", "sk-mine"),
        *more,
        code=code,
    )


def written(cli: Any) -> set[str]:
    folder = cli.folder / "results"
    return {str(path.relative_to(folder)) for path in folder.rglob("*.json")}


@pytest.mark.slow
def test_a_metric_without_a_prompt_does_not_matter_where_nobody_answers(cli: Any) -> None:
    laid_out(cli, ["open_qa", "trade"], CONFIG, PROMPTS, BATTLE)
    with FakeServer(judge) as server:
        done = call(cli, server.url, "a")
    assert "there is no target of category 'puzzles'" in done.stderr
    assert "reasonableness" not in done.stderr
    assert len(server.calls) >= 2


@pytest.mark.parametrize("names", [("a",), ("a", "b")])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_a_judge_that_cannot_be_read_ends_with_exit_code_3(cli: Any, names: Any) -> None:
    """Nobody was rated, nobody won: that is no result, and the same command asks again."""
    laid_out(cli, ["open_qa", "trade"], CONFIG, PROMPTS, BATTLE)
    with FakeServer("no idea") as server:
        done = call(cli, server.url, *names, code=3)
    many = "2 of 2 ratings could not be made" if len(names) == 1 else "2 of 2 comparisons have no"
    assert f"incomplete: {many}" in done.stderr
    with FakeServer(judge) as server:
        call(cli, server.url, *names)


@pytest.mark.slow
def test_a_metric_that_the_general_prompt_lacks_is_rated_in_our_words_and_said(cli: Any) -> None:
    laid_out(cli, ["open_qa", "puzzles", "trade"], CONFIG, PROMPTS, BATTLE)
    with FakeServer(judge) as server:
        done = call(cli, server.url, "a")
    assert "the prompt for 'general' defines no metric 'reasonableness'" in done.stderr
    assert "the words that come with Proctor are taken" in done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["puzzles", "reasonableness", "3.5000", "1.1389–4.8937", "1"] in lines


def test_a_metric_that_nobody_knows_is_an_error_where_somebody_answers(cli: Any) -> None:
    category = {**CONFIG["category"], "trade": {"GPT": ["relevence"]}}
    laid_out(cli, ["trade"], {**CONFIG, "category": category}, PROMPTS, BATTLE)
    with FakeServer(judge) as server, pytest.raises(AssertionError, match="relevence"):
        call(cli, server.url, "a")
    assert server.calls == []


@pytest.mark.slow
def test_results_are_written_where_the_original_writes_them(cli: Any) -> None:
    laid_out(cli, ["open_qa", "trade"], CONFIG, PROMPTS, BATTLE)
    with FakeServer(judge) as server:
        call(cli, server.url, "a")
        rated = "gpt_evaluate/gpt_evaluate_results"
        assert written(cli) == {
            f"{rated}/evaluation_results/a/open_qa_evaluation_results.json",
            f"{rated}/evaluation_results/a/trade_evaluation_results.json",
            f"{rated}/evaluation_results/a_evaluation_results.json",
            f"{rated}/evaluation_statistics/a_evaluation_statistics.json",
        }
        assert (cli.folder / "results/automatic_results/evaluation_results/a_results.csv").is_file()
        call(cli, server.url, "a", "b")
    battles = "gpt_evaluate/battle_results"
    lists = ("b_better", "b_worse", "a_vs_b_tie", "a_vs_b_invalid", "a_vs_b_evaluations")
    assert {name for name in written(cli) if name.startswith(battles)} == {
        f"{battles}/battle_results.json",
        *(f"{battles}/a_vs_b/{name}.json" for name in lists),
    }


def test_the_judge_that_is_named_takes_the_place_of_the_originals(cli: Any) -> None:
    laid_out(cli, ["trade"], CONFIG, PROMPTS, BATTLE)
    with FakeServer(judge) as server:
        call(cli, "http://127.0.0.1:9", "a", more=("--judge", f"openai:mine@{server.url}"))
        assert {one.body["model"] for one in server.calls} == {"mine"}


CHINESE = [
    {**row, "instruction": "天空是什么颜色？", "target": "天空是蓝色的。", "category": "open_qa"}
    for row in records(["open_qa"])
]


@pytest.mark.parametrize(
    ("encoder", "target", "warned"),
    [
        (None, "天空是蓝色的。", True),
        ("roberta-large", "天空是蓝色的。", True),
        ("bert-base-chinese", "天空是蓝色的。", False),
        (None, "The sky is blue, 天.", False),
    ],
)
def test_bert_score_of_chinese_by_an_english_encoder_is_warned_of(
    cli: Any, encoder: str | None, target: str, warned: bool
) -> None:
    config = {"language": "cn", "category": {"open_qa": {"Metrics": ["BERTScore"]}}}
    if encoder is not None:
        config["BERTScore"] = encoder
    for name, value in {
        "config.json": config,
        "targets.json": [{**CHINESE[0], "target": target}],
        "a.json": [{**CHINESE[0], "target": target, "output": "我不知道。"}],
    }.items():
        cli.write(name, json.dumps(value, ensure_ascii=False))
    words = "learned from English alone"
    done = cli("check", "config.json", "--targets", "targets.json")
    assert (words in done.stdout + done.stderr) is warned
    suite = SuiteSettings(
        path=cli.folder / "config.json", options={"target_file": str(cli.folder / "targets.json")}
    )
    settings = RunSettings(suite=suite, answers=cli.folder / "a.json")
    ready = prepare(settings, read_suite.read(suite), Models(None, settings.calls))
    assert any(words in found.message for found in ready.reading.warnings) is warned


@pytest.mark.skipif(not SHIPPED.is_dir(), reason="the files that the original ships are not here")
@pytest.mark.parametrize("language", ["en", "cn"])
@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
@pytest.mark.sampled(8)
@pytest.mark.slow
def test_the_files_that_the_original_ships_start_and_finish(
    cli: Any, language: str, names: list[str]
) -> None:
    read = [
        json.loads((SHIPPED / name).read_text(encoding="utf-8"))
        for name in (
            f"config/config_{language}.json",
            f"prompt/evaluation_prompt/evaluation_prompt_{language}.json",
            f"prompt/battle_prompt/battle_prompt_{language}.json",
        )
    ]
    light = [
        name
        for name, wanted in read[0]["category"].items()
        if "BERTScore" not in wanted.get("Metrics", ()) and not wanted.get("UniEval")
    ]
    assert len(light) >= 9
    laid_out(cli, light, *read)
    with FakeServer(judge) as server:
        call(cli, server.url, *names)
    assert len(written(cli)) > len(names)
