"""Points for instructions: by instruction, all or nothing, strict and loose."""

import pytest

from proctor.scorers.instructions.following import Instructions

NO_COMMA = {"id": "punctuation:no_comma"}
QUOTED = {"id": "startend:quotation"}
TITLE = {"id": "detectable_format:title"}


@pytest.mark.parametrize(
    ("instructions", "answer", "options", "points", "out_of"),
    [
        ((NO_COMMA, QUOTED), '"yes"', {}, 2.0, 2.0),
        ((NO_COMMA, QUOTED), "yes", {}, 1.0, 2.0),
        ((NO_COMMA, QUOTED), "yes", {"all_or_nothing": True}, 0.0, 1.0),
        ((NO_COMMA, QUOTED), '"yes"', {"all_or_nothing": True}, 1.0, 1.0),
        ((NO_COMMA,), "", {}, 0.0, 1.0),
        ((NO_COMMA,), "Sure, here it is:\nyes", {}, 0.0, 1.0),
        ((NO_COMMA,), "Sure, here it is:\nyes", {"loose": True}, 1.0, 1.0),
        ((NO_COMMA,), "yes\nWell, bye", {"loose": True}, 1.0, 1.0),
        ((QUOTED,), '*"yes"*', {"loose": True}, 1.0, 1.0),
        ((QUOTED,), '*"yes"*', {}, 0.0, 1.0),
        ((TITLE,), "no", {"loose": True}, 0.0, 1.0),
    ],
)
def test_points(
    instructions: tuple[dict[str, str], ...],
    answer: str,
    options: dict[str, bool],
    points: float,
    out_of: float,
) -> None:
    scorer = Instructions(instructions=instructions, **options)
    assert list(scorer.problems()) == []
    score = scorer.score_texts(answer, ())
    assert (score.points, score.out_of) == (points, out_of)
    assert scorer.points_range == (0.0, out_of)


def test_reasons_name_what_was_not_followed() -> None:
    score = Instructions(instructions=(NO_COMMA, QUOTED)).score_texts("a, b", ())
    assert score.detail == {"missed": ["punctuation:no_comma", "startend:quotation"]}
    assert "0 of 2" in score.reason


@pytest.mark.parametrize(
    ("instructions", "words"),
    [
        ((), "no instruction"),
        (({"id": "punctuation:no_commas"},), "punctuation:no_comma"),
        (({"id": "keywords:existence"},), "lacks 'keywords'"),
        (({},), "no kind of instruction"),
    ],
)
def test_problems(instructions: tuple[dict[str, str], ...], words: str) -> None:
    [problem] = Instructions(instructions=instructions).problems()
    assert words in problem
