"""What a fake server refuses, in servers' words, and which path speaks which format."""

from typing import Any

import pytest

from proctor.testing.formats import format_at, refusal_words, refused_field


@pytest.mark.parametrize(
    ("refuses", "found", "words"),
    [
        ((), "", ""),
        (("top_p",), "", ""),
        (("top_p", "temperature"), "temperature", "parameter: 'temperature' is not"),
        (("text.format",), "text.format", "'text.format' is not"),
        (("effort=high",), "", ""),
        (("effort=low",), "effort=low", "'effort' does not support 'low'"),
        (("generationConfig.topK",), "generationConfig.topK", 'Unknown name "topK"'),
        (("temperature.deep",), "", ""),
    ],
)
def test_refusals(refuses: tuple[str, ...], found: str, words: str) -> None:
    body: dict[str, Any] = {
        "temperature": 0,
        "effort": "low",
        "text": {"format": {}},
        "generationConfig": {"topK": 3},
    }
    assert refused_field(body, refuses) == found
    if found:
        assert words in refusal_words(found)


@pytest.mark.parametrize(
    ("path", "messages"),
    [
        ("/v1/chat/completions", "messages"),
        ("/judge/v1/messages", "messages"),
        ("/v1/responses", "input"),
        ("/v1beta/models/m:generateContent", "contents"),
        ("/v1/embeddings", None),
    ],
)
def test_paths(path: str, messages: str | None) -> None:
    form = format_at(path)
    assert (None if form is None else form.messages) == messages
