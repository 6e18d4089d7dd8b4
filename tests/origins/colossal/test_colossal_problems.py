"""What is wrong with files of ColossalAI's evaluation, each problem with its place."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import DialectError, SuiteError, UsageError
from proctor.io.findings import MAX_ALIKE
from proctor.io.text_files import Place
from proctor.origins.colossal.dialect import Colossal
from proctor.origins.colossal.source import places_of

CONFIG: dict[str, Any] = {
    "language": "en",
    "category": {"chat": {"GPT": ["relevance"]}, "closed_qa": {"Metrics": ["BLEU"]}},
}
TARGETS: list[dict[str, Any]] = [
    {"category": "chat", "instruction": "Say hello.", "input": "", "output": "Hello.", "id": 1},
    {"category": "closed_qa", "instruction": "1+1?", "input": "", "target": "2", "id": 2},
]
ANSWERS: list[dict[str, Any]] = [{**row, "output": "x"} for row in TARGETS]
PROMPT = {"metrics": {"relevance": "d"}, "CoT": {"relevance": "s"}, "prompt": "{answer}"}


def write(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


def problems(
    folder: Path, config: Any = CONFIG, targets: Any = TARGETS, prompts: Any = None, **more: str
) -> str:
    """Return what a reader says; nothing where all is well."""
    options = {"target_file": str(write(folder, "targets.json", targets)), **more}
    compat = options.pop("compat", "")
    if prompts is not None:
        options["prompt_file"] = str(write(folder, "prompts.json", prompts))
    try:
        Colossal().read_all(write(folder, "config.json", config), compat=compat, options=options)
    except SuiteError as error:
        return str(error)
    return ""


def changed(**changes: Any) -> dict[str, Any]:
    return {**CONFIG, **changes}


def category(**row: Any) -> dict[str, Any]:
    return changed(category={"chat": row})


def test_nothing_wrong(tmp_path: Path) -> None:
    assert problems(tmp_path) == ""


def test_very_many_alike_records_are_counted_and_leave_room_for_others(tmp_path: Path) -> None:
    targets = [{"category": "chat", "id": number} for number in range(2_000)]
    targets += [{"category": "", "instruction": "Say hello.", "id": 2_000}]
    path = write(tmp_path, "config.json", category(GPT=["relevance"], Metric=["BLEU"]))
    options = {"target_file": str(write(tmp_path, "targets.json", targets))}
    with pytest.raises(SuiteError, match="and 1,999 more like it") as caught:
        Colossal().read_all(path, options=options)
    alike = [one for one in caught.value.problems if "no 'instruction'" in one.message]
    assert (len(alike), alike[0].unlisted) == (MAX_ALIKE, 2_000 - MAX_ALIKE)
    others = [one.message for one in caught.value.problems if one not in alike]
    assert others == ["unknown key 'Metric'", "the category is empty"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (changed(language="zh"), "there is no language 'zh'|did you mean 'cn'?"),
        (changed(language="fr"), "there is no language 'fr'|known are: cn, en"),
        (changed(language=["en"]), "there is no language ['en']|known are: cn, en"),
        ({"category": CONFIG["category"]}, "does not say its language"),
        (changed(langauge="en"), "unknown key 'langauge'|did you mean 'language'?"),
        (category(GTP=["relevance"]), "config.json:5:4|unknown key 'GTP'|did you mean 'GPT'?"),
        (category(Metric=["BLEU"]), "unknown key 'Metric'|did you mean 'Metrics'?"),
        (category(Metrics=["bleu"]), "there is no metric 'bleu'|did you mean 'BLEU'?"),
        (category(Metrics=["F1"]), "there is no metric 'F1'|did you mean 'F1 score'?"),
        (category(Metrics="BLEU"), "expected a list of names, not the string 'BLEU'"),
        (category(Metrics=[3]), "expected a name, not the number 3"),
        (category(GPT=["relevence"]), "no metric 'relevence'|did you mean 'relevance'?"),
        (category(GPT=["correctness"]), "the prompt for 'chat' defines no metric 'correctness'"),
        (category(GPT=["bleu1"]), "a rating cannot be called 'bleu1'"),
        (
            category(UniEval=["dialog-coherence"]),
            "there is no UniEval dimension 'dialog-coherence'|did you mean 'dialogue-coherence'?",
        ),
        (category(UniEval=["dialogue-coherence"]), "no path to the UniEval model of 'dialogue'"),
        (
            {**category(UniEval=["dialogue-coherence"]), "language": "cn",
             "path_for_UniEval": {"dialogue": ""}},
            "UniEval judges English only",
        ),
        (changed(path_for_UniEval={"dialog": ""}), "no UniEval task 'dialog'|'dialogue'"),
        (changed(path_for_UniEval=[]), "expected a mapping of strings, not a list"),
        (changed(BERTScore={"modle": "x"}), "unknown key 'modle'|did you mean 'model'?"),
        (changed(category={"chat": []}), "expected a mapping of GPT, Metrics, UniEval"),
        (changed(category={}), "the config names no category"),
        (changed(target_file=3), "expected a path"),
        (changed(gpt_evaluation_prompt_file="../p.json"), "lies outside the folder"),
    ],
)  # fmt: skip
def test_configs(tmp_path: Path, config: Any, words: str) -> None:
    found = problems(tmp_path, config)
    for word in words.split("|"):
        assert word in found


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ({"a": 1}, "expected a list of records"),
        ([], "the list is empty"),
        ([3], "a record is a mapping, not the number 3"),
        ([{**TARGETS[0], "category": None}, TARGETS[1], {"id": 3}], "targets.json:16:2"),
        ([{"categroy": "chat", "instruction": "x", "id": 1}], "has no 'category'|is it 'categroy'"),
        ([{"category": "chat", "id": 1}], "the record has no 'instruction'"),
        ([{"category": "chat", "instruction": "x"}], "the record has no 'id'"),
        ([{**TARGETS[0], "id": 1.5}], "an id is a whole number or a text, not the number 1.5"),
        ([{**TARGETS[0], "id": True}], "an id is a whole number or a text, not true"),
        ([{**TARGETS[0], "input": 5}], "expected a string, not the number 5"),
        ([TARGETS[0], TARGETS[0]], "the id 1 occurs twice (first in record 1)"),
        (
            [{**TARGETS[1], "target": "", "output": ""}],
            "id 2 has neither target nor output, and BLEU compares with it|--fill-targets",
        ),
        ('[{"category": "chat",]', "not valid JSON"),
    ],
)
def test_targets(tmp_path: Path, targets: Any, words: str) -> None:
    found = problems(tmp_path, targets=targets)
    for word in words.split("|"):
        assert word in found


def test_a_rating_with_reference_needs_one(tmp_path: Path) -> None:
    bare = [{**TARGETS[0], "output": ""}, TARGETS[1]]
    assert problems(tmp_path, targets=bare) == ""
    found = problems(tmp_path, targets=bare, with_reference="1")
    assert "id 1 has neither target nor output, and a rating with reference" in found
    assert problems(tmp_path, targets=bare, with_reference="1", compat="original") == ""


@pytest.mark.parametrize(
    ("prompts", "words"),
    [
        ([], "a prompt file is a mapping"),
        ({"open_qa": PROMPT}, "no prompt for 'chat', and none for 'general'"),
        ({"chat": 3}, "expected a mapping of id, category, metrics, CoT, prompt"),
        ({"chat": {**PROMPT, "prompt": "{question}"}}, "the prompt has no place {answer}"),
        ({"chat": {**PROMPT, "prompt": "{answer} {step}"}}, "place {step}|did you mean 'steps'?"),
        ({"chat": {**PROMPT, "CoT": {}}}, "the prompt for 'chat' has no CoT for 'relevance'"),
        ({"chat": {**PROMPT, "CoT": None, "Cot": {}}}, "'CoT' is missing|'Cot' should be 'CoT'"),
        ({"chat": {**PROMPT, "metrics": {"relevance": 1}}}, "expected a string"),
        ({"chat": {"metrics": {}, "CoT": {}}}, "the prompt is missing, or no text"),
    ],
)
def test_prompt_files(tmp_path: Path, prompts: Any, words: str) -> None:
    found = problems(tmp_path, prompts=prompts)
    for word in words.split("|"):
        assert word in found


def test_a_prompt_file_is_only_looked_at_where_something_is_rated(tmp_path: Path) -> None:
    config = changed(category={"chat": {"Metrics": ["Distinct"]}})
    assert problems(tmp_path, config, prompts="no JSON at all") == ""
    assert problems(tmp_path, prompts={"chat": PROMPT, "broken": 3}) == ""


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([ANSWERS[0]], "the id 2 has no answer"),
        ([*ANSWERS, {**ANSWERS[0], "id": 9}], "no target has the id 9"),
        ([*ANSWERS, ANSWERS[0]], "the id 1 occurs twice"),
        ([{**ANSWERS[0], "category": "closed_qa"}, ANSWERS[1]], "the target's is 'chat'"),
        (
            [{**ANSWERS[0], "id": 2}, {**ANSWERS[1], "id": 1}],
            "answers.json:4:3|the instruction of id 2 is not that of the target with this id",
        ),
        ([{**ANSWERS[0], "input": "more"}, ANSWERS[1]], "the input of id 1 is not that"),
        (
            [{"category": "chat", "instruction": "Say hello.", "id": 1}],
            "the record has no 'output'",
        ),
        ([{**ANSWERS[0], "output": 5}, ANSWERS[1]], "expected a string, not the number 5"),
    ],
)
def test_answers(tmp_path: Path, answers: Any, words: str) -> None:
    targets = write(tmp_path, "targets.json", TARGETS)
    config = write(tmp_path, "config.json", CONFIG)
    (reading,) = Colossal().read_all(config, options={"target_file": str(targets)})
    path = write(tmp_path, "answers.json", answers)
    with pytest.raises(SuiteError) as caught:
        list(Colossal().answers(path, reading.suite))
    for word in words.split("|"):
        assert word in str(caught.value)


def test_answers_of_a_category_that_is_not_asked_for_are_left_out(tmp_path: Path) -> None:
    targets = write(tmp_path, "targets.json", TARGETS)
    config = write(tmp_path, "config.json", CONFIG)
    (reading,) = Colossal().read_all(config, options={"target_file": str(targets)})
    more = {"category": "poetry", "instruction": "Rhyme.", "output": "x", "id": 7}
    path = write(tmp_path, "answers.json", [*ANSWERS, more])
    assert len(list(Colossal().answers(path, reading.suite))) == 2
    other = tmp_path / "answers.csv"
    other.write_text("case,output\n1,x\n")
    with pytest.raises(DialectError):
        list(Colossal().answers(other, reading.suite))


def test_unequal_counts_by_place(tmp_path: Path) -> None:
    targets = write(tmp_path, "targets.json", TARGETS)
    config = write(tmp_path, "config.json", CONFIG)
    options = {"target_file": str(targets)}
    (reading,) = Colossal().read_all(config, compat="original", options=options)
    path = write(tmp_path, "answers.json", [*ANSWERS, ANSWERS[0]])
    with pytest.raises(SuiteError, match="2 answers of category 'chat' for 1 targets"):
        list(Colossal().answers(path, reading.suite))


def test_without_targets(tmp_path: Path) -> None:
    config = write(tmp_path, "config.json", CONFIG)
    with pytest.raises(SuiteError, match="--dialect-option target_file=FILE"):
        Colossal().read(config)
    with pytest.raises(SuiteError, match="there is no such file"):
        Colossal().read_all(config, options={"target_file": str(tmp_path / "gone.json")})
    with pytest.raises(UsageError, match="did you mean 'target_file'"):
        Colossal().read_all(config, options={"target_fiel": "x"})
    with pytest.raises(UsageError, match="unknown compat mode"):
        Colossal().read(config, compat="old")
    with pytest.raises(DialectError, match="this is no config"):
        Colossal().read(write(tmp_path, "other.json", {"x": 1}))


@pytest.mark.parametrize(
    ("battle", "words"),
    [
        ({"prompt": "p", "prompt_template": "{answer_1} {answer_2}"}, "'system_prompt' is missing"),
        (
            {"prompt": "p", "system_prompt": "s", "prompt_template": "{answer_1} {answer_3}"},
            "the place {answer_3}|no place {answer_2}",
        ),
        ({"prompt": "p", "sytem_prompt": "s"}, "'sytem_prompt' should be 'system_prompt'"),
        ([], "a battle prompt file is a mapping"),
    ],
)
def test_battle_prompts(tmp_path: Path, battle: Any, words: str) -> None:
    with pytest.raises(SuiteError) as caught:
        Colossal().battle_prompt(write(tmp_path, "battle.json", battle), "en")
    for word in words.split("|"):
        assert word in str(caught.value)


def test_places_of_values() -> None:
    text = '{"a": [1,\n  {"b\\n": "x, ]"}],\n "c": {}}'
    assert places_of(text) == {
        (): Place(1, 1),
        ("a",): Place(1, 2),
        ("a", 0): Place(1, 8),
        ("a", 1): Place(2, 3),
        ("a", 1, "b\n"): Place(2, 4),
        ("c",): Place(3, 2),
    }
