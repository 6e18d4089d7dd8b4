"""The language of texts in many scripts, and of what has none."""

import pytest

from proctor.scorers.text.language_detection import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The weather is very good today, so we go for a walk in the park.", "en"),
        ("THE WEATHER IS VERY GOOD TODAY, SO WE GO FOR A WALK IN THE PARK.", "en"),
        ("Das Wetter ist heute sehr gut, also gehen wir im Park spazieren.", "de"),
        ("Il fait très beau aujourd'hui, alors nous allons nous promener.", "fr"),
        ("今天天气很好，我们去公园散步吧，你觉得怎么样？", "zh"),
        ("今日は天気がとても良いので、公園へ散歩に行きます。", "ja"),
        ("Сегодня очень хорошая погода, и мы идём гулять в парк.", "ru"),
        ("الطقس جميل جدا اليوم، لذلك سنذهب للتنزه في الحديقة", "ar"),
        ("1234 5678", None),
        ("", None),
        ("!?", None),
    ],
)
def test_languages(text: str, language: str | None) -> None:
    assert detect_language(text) == language
