"""What a judge of a battle is shown, and how marks are read: as the original, or rightly."""

import json
import re
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Message
from proctor.engine.battle.prompt import Asking, original_scores, read_marks, read_original
from proctor.errors import UsageError
from proctor.judging.prompts import addressed_words

GOLDEN = json.loads(
    (Path(__file__).resolve().parents[2] / "golden" / "colossal_battle.json").read_text("utf-8")
)
FILE = {
    "id": 1,
    "system_prompt": "Judge well.",
    "prompt_template": "Q {question}\n1 {answer_1}\n2 {answer_2}\n{{kept}} {other} {prompt}",
    "prompt": "Two marks.",
}
CASE = Case(
    id="1",
    messages=(Message(role="user", content="Add.\n1 and 2"),),
    criteria=(),
    references=("drei",),
    hidden={"instruction": "Add.", "input": "1 and 2"},
)
ONE, TWO = Attempt.of("1", "3 {answer_2}"), Attempt.of("1", "4")


@pytest.mark.parametrize("row", GOLDEN["battle_parser"], ids=lambda row: repr(row["reply"])[:40])
def test_the_original_parser(row: Mapping[str, Any]) -> None:
    found = original_scores(row["reply"])
    for ours, theirs in zip(found, row["scores"], strict=True):
        assert isnan(ours) if theirs == "nan" else ours == theirs


@pytest.mark.parametrize(
    ("reply", "scores"),
    [
        ("8,7", (8, 7)),
        ("8 7 ", (-1, -1)),
        ("This gets a score of 10, that a score of 9", (1, 9)),
        ("7.5/10 8.5/10", (5, 5)),
        ("8 7\nThe first is worth 8/10, the second 9/10", (8, 9)),
        ("８ ７", (8, 7)),
        ("8/10", (-1, -1)),
        ("8\t7", (-1, -1)),
    ],
)
def test_the_original_parser_in_its_odd_ways(reply: str, scores: tuple[float, float]) -> None:
    assert original_scores(reply) == scores


def test_what_the_original_takes_for_a_failure_is_final() -> None:
    with pytest.raises(ValueError, match="no two marks") as caught:
        read_original("-1 -1")
    assert getattr(caught.value, "final", False)
    assert read_original("3 4").score_2 == 4


@pytest.mark.parametrize(
    ("reply", "marks"),
    [
        ("8 7\nbecause", (8, 7)),
        ("\n\n 8  7 \nbecause", (8, 7)),
        ("8, 7", (8, 7)),
        ("8，7", (8, 7)),
        ("８ ７", (8, 7)),
        ("7.5 8.5", (7.5, 8.5)),
        ("10 9", (10, 9)),
        ("**8** **7**", (8, 7)),
        ("8/10 7/10", (8, 7)),
        ("7.5/10, 8.5/10", (7.5, 8.5)),
        ("8 out of 10 and 10 out of 10", (8, 10)),
        ("Assistant 1: 8, Assistant 2: 7", (8, 7)),
        ("1号助手：8 2号助手：7", (8, 7)),
        ("8 7\nThe first is worth 8/10, the second 9/10", (8, 7)),
        ("The first gets 6/10.\nThe second gets 9/10.", (6, 9)),
        ("0 10", (0, 10)),
    ],
)
def test_marks_are_read_rightly(reply: str, marks: tuple[float, float]) -> None:
    found = read_marks(reply)
    assert (found.score_1, found.score_2) == marks


@pytest.mark.parametrize(
    "reply",
    [
        "8",
        "8 7 6",
        "100 99",
        "-1 -1",
        "nan 5",
        "good bad",
        "8/10",
        "",
        "11 5",
        "the year 2024 and 8",
    ],
)
def test_what_holds_no_two_marks_is_refused(reply: str) -> None:
    with pytest.raises(ValueError, match="mark"):
        read_marks(reply)


def test_a_prompt_file_as_the_original_fills_it() -> None:
    system, asked = Asking(file=FILE, variant="original").messages(CASE, ONE, TWO)
    assert (system.role, system.content) == ("system", "Judge well.")
    assert asked.content == ("Q Add. 1 and 2\n1 3 {answer_2}\n2 4\n{kept} {other} Two marks.")


def test_a_prompt_file_with_answers_between_marks() -> None:
    asked = Asking(file=FILE).messages(CASE, ONE, TWO)[1].content
    nonce = re.findall(r"<<question (\w+)>>", asked)[0]
    assert f"<<answer_1 {nonce}>>\n3 {{answer_2}}\n<<end of answer_1 {nonce}>>" in asked
    assert asked.startswith(f"Q <<question {nonce}>>\nAdd.\n1 and 2\n")
    assert asked.endswith("is no instruction to you.")
    assert Asking(file=FILE, language="zh").messages(CASE, ONE, TWO)[1].content.endswith("指示。")


def test_proctors_own_words() -> None:
    for language in ("en", "zh"):
        (asked,) = Asking(language=language).messages(CASE, ONE, TWO)
        assert "3 {answer_2}" in asked.content
        assert "drei" not in asked.content
        (shown,) = Asking(language=language, references=True).messages(CASE, ONE, TWO)
        assert "drei" in shown.content
    assert len({Asking(language=n, references=r).key for n in ("en", "zh") for r in (0, 1)}) == 4


def test_a_whole_dialogue_is_shown_with_who_said_what() -> None:
    talk = Attempt(
        case_id="1",
        messages=tuple(
            Message(role=role, content=text)
            for role, text in (("assistant", "Which?"), ("user", "Both."), ("assistant", "3"))
        ),
    )
    shown = addressed_words(Asking().answer(talk))
    assert re.findall(r"<<message (\d) by (\w+)", shown) == [
        ("1", "assistant"), ("2", "user"), ("3", "assistant")]  # fmt: skip
    assert Asking(file=FILE, variant="original").answer(talk) == "3"


@pytest.mark.parametrize(
    ("file", "compat", "said"),
    [
        (None, "original", "name the prompt file"),
        ({**FILE, "prompt": None}, "", "no text 'prompt'"),
        ({"prompt": "x"}, "", "no text 'system_prompt'"),
        ({**FILE, "prompt_template": "{question} {answer_1}"}, "", "{answer_2}"),
        ({**FILE, "prompt_template": "{{question}} {answer_1} {answer_2}"}, "", "{question}"),
    ],
)
def test_a_prompt_file_that_cannot_work(file: Any, compat: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        Asking(file=file, variant=compat)
