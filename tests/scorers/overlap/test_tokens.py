"""Words of many scripts, and which texts are Chinese."""

import pytest

from proctor.scorers.overlap.tokens import language_of, words


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The cat's 3.14, of_it!", "en", ["the", "cat", "s", "3", "14", "of", "it"]),
        ("今天天气很好，我们去公园。", "zh", ["今天天气", "很", "好", "我们", "去", "公园"]),
        ("今天，Café很好", "zh", ["今天", "café", "很", "好"]),
        ("今天天气", "en", ["今", "天", "天", "气"]),
        ("ＡＢＣ１２３", "en", ["abc123"]),
        ("cafe\u0301 CAFÉ", "en", ["café", "café"]),
        ("नमस्ते दुनिया", "en", ["नमस्ते", "दुनिया"]),
        ("Привет, мир!", "en", ["привет", "мир"]),
        ("مَرحبا بالعالم", "en", ["مَرحبا", "بالعالم"]),
        ("กี่คน", "en", ["กี่", "ค", "น"]),
        ("こんにちは", "zh", ["こ", "ん", "に", "ち", "は"]),
        ("㐀㐁𠀀中国", "zh", ["㐀", "㐁", "𠀀", "中国"]),
        ("3.5％增长", "zh", ["3", "5", "增长"]),
        ("…。！？—", "zh", []),
        ("", "zh", []),
        ("\ud800a", "en", ["a"]),
    ],
)
def test_words(text: str, language: str, expected: list[str]) -> None:
    assert words(text, "zh" if language == "zh" else "en") == expected


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["今天天气很好"], "zh"),
        (["使用Python和Kubernetes部署服务"], "zh"),
        (["Café naïve résumé — 東京 tower"], "en"),
        (["The word 猫 means cat"], "en"),
        (["東京は日本の首都です"], "en"),
        (["Привет"], "en"),
        (["42", "。", "答案"], "zh"),
        (["Yes", "答案"], "en"),
        (["", "?"], "en"),
        ([], "en"),
    ],
)
def test_language(texts: list[str], language: str) -> None:
    assert language_of(texts) == language
