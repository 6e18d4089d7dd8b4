"""Thinking is no part of the answer."""

import pytest

from proctor.models.http_model import split


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("plain", "", "plain"),
        (" spaces stay \n", "", " spaces stay \n"),
        ("<think>a</think>b", "a", "b"),
        ("\n<think>\na\n</think>\n\nb\n", "a", "b"),
        ("<think></think>b", "", "b"),
        ("<think>a</think>", "a", None),
        ("<think>a</think>  \n", "a", None),
        ("<think>never closed", "never closed", None),
        ("<think>", "", None),
        ("opened by the template</think>b", "opened by the template", "b"),
        ("<think>a</think><think>b</think>c", "a\n\nb", "c"),
        ("<think>a</think> then <think>b</think> c", "a\n\nthen b", "c"),
        ("<think>a</think><think>b", "a\n\nb", None),
        ("<think>a</think>The tag <think> opens", "a", "The tag <think> opens"),
        ("Say <think>x</think> for that", "", "Say <think>x</think> for that"),
        ("a <think> that nobody closes", "", "a <think> that nobody closes"),
    ],
)
def test_split(text: str, thinking: str, answer: str | None) -> None:
    assert split(text) == (thinking, answer)
