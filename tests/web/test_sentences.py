"""Sentences of the engine in Chinese: each is one that the engine still says."""

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from proctor.web.sentences import LONGEST, in_language

SOURCE = Path(str(files("proctor")))
SENTENCES: dict[str, str] = json.loads(
    (SOURCE / "web" / "words" / "sentences.zh.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("right 0 of 1: does not contain 'a'", "right 0/1：不包含 'a'"),
        ("result 0.5 of 1: the last number is 72.25, not 73",
         "result 0.5/1：最后一个数字是 72.25，而不是 73"),
        ("right 0 of 2: It claims that a stays.", "right 0/2：It claims that a stays."),
        ("no answer", "没有回答"),
        ("incomplete: 3 of 72 attempts failed: refused (400)",
         "未完成：72 次尝试中有 3 次失败：refused (400)"),
        ("the key may be wrong (8% likely): 1 of 4 candidates fail, and not those who should",
         "参考答案可能有误（可能性 8%）：4 个被测对象中有 1 个失败，而失败的并非较弱者"),
        ("the run 'a b' is incomplete", "运行 'a b' 不完整"),
        ("other tags in 12 cases; those of 'a' are used", "12 道题的标签不同；采用 'a' 的标签"),
        ("2 of 11 correlations below 0 may be chance: with so few candidates they may as well be above 0",
         "11 个小于 0 的相关系数中有 2 个可能出于偶然：被测对象太少，真值也可能大于 0"),
        ("other clusters in 12 cases; those of 'a' are used",
         "12 道题的分组（cluster）不同；采用 'a' 的分组"),
        ("2 cases are in only one of 'a' and 'b'; they are left out",
         "2 道题只出现在 'a' 与 'b' 之一中；不计入"),
        ("1 of 20 cases that 'a' and 'b' share were compared",
         "'a' 与 'b' 共有的 20 道题中，已比较 1 道"),
        ("JudgeJSONParseFailed: no readable verdict, asked 3 times: there is no JSON object in the reply",
         "JudgeJSONParseFailed：问了 3 次，没有可读的判定：回复中没有 JSON 对象"),
        ("the judge differs: openai:judge and none", "裁判模型不同：openai:judge 与 无"),
        ("the judge differs: j and other settings j", "裁判模型不同：j 与 设置不同的 j"),
        ("1 more attempt", "每题再尝试 1 次"),
        ("100 more cases", "再增加 100 道题"),
        ("a sentence of a judge", "a sentence of a judge"),
        ("没有写出计算过程。", "没有写出计算过程。"),
    ],
)  # fmt: skip
def test_sentences_of_the_engine_are_in_the_readers_language(english: str, chinese: str) -> None:
    assert in_language(english, "zh") == chinese
    assert in_language(english, "en") == english


def test_texts_of_others_stay_as_they_are() -> None:
    long = "does not contain " + "a" * LONGEST
    assert in_language(long, "zh") == long
    assert in_language("{w1} {n1} of {n2}", "zh") == "{w1} {n1} of {n2}"
    assert in_language("does not contain '{w1}'", "zh") == "不包含 '{w1}'"
    nested = "a 1 of 2: " * 40 + "no answer"
    assert in_language(nested, "zh").startswith("a 1/2：")


@pytest.mark.parametrize("english", SENTENCES)
def test_every_sentence_is_still_said_and_keeps_its_places(english: str) -> None:
    places = sorted(re.findall(r"\{\w+\}", english))
    assert sorted(re.findall(r"\{\w+\}", SENTENCES[english])) == places
    parts = [part.strip(" :,;()`") for part in re.split(r"\{\w+\}", english)]
    words = max(parts, key=len)
    if words != "of":
        assert _words(words) in _source()


def _words(text: str) -> str:
    return re.sub(r"[\s\"'f]+", "", text)


def _source(seen: dict[str, str] = {}) -> str:  # noqa: B006 - read once
    if not seen:
        seen["all"] = "".join(
            _words(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")
        )
    return seen["all"]
