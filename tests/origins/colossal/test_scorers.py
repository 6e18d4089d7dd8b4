"""Scorers of the original: a rating from one token, and the first reference alone."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from proctor.contracts.judge import Voice
from proctor.core.exchange import Reply
from proctor.core.suite import Message
from proctor.origins.colossal.scorers import ColossalTextMetrics, ColossalUniEval, OneToken

FIRST = (Message(role="user", content="Rate."),)
AGAIN = Message(role="user", content="Now the number.")


class _Voice(Voice):
    def __init__(self, *replies: Reply) -> None:
        self.replies, self.asked = list(replies), list[tuple[int, int | None, int]]()

    async def say(
        self, messages: Any, *, max_tokens: int | None = None, top_logprobs: int = 0
    ) -> Reply:
        self.asked.append((len(messages), max_tokens, top_logprobs))
        return self.replies.pop(0)


def rated(voice: _Voice, again: Message | None = None, top: int = 0) -> Any:
    texts: Any = SimpleNamespace(first_turn=FIRST, second_turn=again)
    return asyncio.run(OneToken(texts=texts, top=top).hold(voice))


@pytest.mark.parametrize(
    ("text", "score"), [("4", 4.0), ("score: 3", 3.0), ("4 or 5", 0.0), ("", 0.0)]
)
def test_the_only_digit_of_one_token_is_the_rating(text: str, score: float) -> None:
    voice = _Voice(Reply(text=text))
    assert rated(voice).rating == score
    assert voice.asked == [(1, 1, 0)]


def test_a_second_turn_decides_without_numbers() -> None:
    voice = _Voice(Reply(text="Well"), Reply(text="5"))
    assert rated(voice, AGAIN, top=5).rating == 5.0
    assert voice.asked == [(1, 1, 0), (3, 1, 0)]


def test_probabilities_weigh_the_digits() -> None:
    voice = _Voice(Reply(text="4", logprobs={"4": 0.0}))
    assert rated(voice, top=5).rating == pytest.approx(4.0)
    assert voice.asked == [(1, 1, 5)]


def test_only_the_first_reference_counts() -> None:
    scorer = ColossalTextMetrics(metrics=("bleu",))
    assert scorer._compared(("a", "b")) == ("a",)


def test_means_are_divided_by_a_millionth_more() -> None:
    assert ColossalUniEval._mean(ColossalUniEval.__new__(ColossalUniEval), [1.0]) == pytest.approx(
        1 / (1 + 1e-6), abs=1e-12
    )
