"""Reports of a suite's function: its shape checked, its detail plain, its errors with their line."""

import json
from typing import Any

import pytest

from proctor.scorers.programs.function_call import (
    HEAD,
    MOST,
    _complete,
    _described,
    _message,
    _outcome,
    _plain,
)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "returned None, not (points, full marks, detail)"),
        ((1, 2), "not (points, full marks, detail)"),
        (("1", 2, None), "returned '1' as its points, not a finite number"),
        ((1, float("inf"), None), "as its full marks, not a finite number"),
        ((1, -2, None), "less than nothing"),
    ],
)
def test_what_is_no_score_is_an_error(value: Any, words: str) -> None:
    assert words in _outcome(value)["error"]


def test_a_score_has_plain_numbers_and_a_detail_that_fits() -> None:
    assert _outcome([True, 2, {"a": 1}]) == {"points": 1.0, "out_of": 2.0, "detail": {"a": 1}}
    long = _outcome((1, 1, "x" * 2 * MOST))
    assert long["detail"].endswith("[cut: too long]")
    assert len(json.dumps(long)) < MOST


def test_a_detail_is_as_json_has_it() -> None:
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    assert _plain({1: (2, {3})}, 0) == {"1": [2, "{3}"]}
    assert _plain([float("nan"), 2**60], 0) == ["nan", str(2**60)]
    assert "[[" in json.dumps(_plain(deep, 0))
    assert _plain("x" * 5000, 0) == "x" * 5000


@pytest.mark.parametrize(
    ("length", "data", "complete"),
    [(b"%016x" % 2, b"{}", True), (b"%016x" % 3, b"{}", False), (b"z" * 16, b"{}", False)],
)
def test_a_report_is_whole_by_its_length(length: bytes, data: bytes, complete: bool) -> None:
    assert _complete(b"t" * (HEAD // 2) + length + data) is complete
    assert not _complete(b"short")


class _Odd(Exception):
    def __str__(self) -> str:
        raise RuntimeError("broken itself")


def test_an_error_is_named_with_the_line_of_the_suite() -> None:
    def raised(source: str, file: str) -> BaseException:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - any of them
            exec(compile(source, file, "exec"), {})
        return caught.value

    error = raised("x = 1\nraise ValueError('no')", "/case/pack/check.py")
    assert _described(error, "pack.check", "/case/") == "ValueError: no (line 2 of pack/check.py)"
    snippet = raised("\n1 / 0", "eval_code")
    assert _described(snippet, None, "/case/") == "ZeroDivisionError: division by zero (line 2)"
    assert _described(ValueError(), "m", "/case/") == "ValueError"
    assert _described(_Odd(), "m", "/case/") == "_Odd"


def test_who_said_what_is_told_from_the_user_s_side() -> None:
    agent, user = _message("assistant", "a"), _message("user", "u")
    assert (agent.type, user.type, agent["content"], user.content) == ("human", "ai", "a", "u")
