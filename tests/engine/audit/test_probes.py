"""Altered versions of an answer."""

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.engine.audit.probes import (
    NAMES,
    PAIRED,
    PROBES,
    changed,
    padded,
    reformatted,
    with_error,
    with_reply,
)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("It is 4. Two and two.", "## Answer\n\n- It is 4.\n- Two and two."),
        ("- a\n- b", "## Answer\n\n- a\n- b"),
        ("1. a\n2) b", "## Answer\n\n- a\n- b"),
        ("```\nx = 1\n\n\ny\n```", "## Answer\n\n```\nx = 1\n\n\ny\n```"),
    ],
)
def test_another_format_keeps_every_word(text: str, form: str) -> None:
    assert reformatted(text) == form


def test_padding_is_at_least_as_long_and_says_nothing() -> None:
    long = "word " * 200
    assert padded(long).startswith(long.rstrip())
    assert len(padded(long)) >= 2 * len(long.rstrip())
    assert len(padded("x" * 50_000)) < 60_000


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("It is 42.", "It is 49."),
        ("From 1 to 10.", "From 2 to 12."),
        ("Paris", "Paris\n\nOn reflection, the opposite of what is said above is true."),
        ("v1.2 of x9", "v1.2 of x9\n\nOn reflection, the opposite of what is said above is true."),
    ],
)
def test_a_planted_error_changes_what_is_said(text: str, wrong: str) -> None:
    assert with_error(text) == wrong


def test_only_the_last_reply_is_changed() -> None:
    attempt = Attempt.of("c", "It is 42.")
    for probe in PROBES.values():
        other = changed(attempt, probe, "ruler")
        assert other is not None
        assert other.output != attempt.output
        assert ("ruler" in other.output) == (probe.name == "self")
        assert attempt.output == "It is 42."
    silent = Attempt(case_id="c", status=AttemptStatus.UNANSWERED)
    assert changed(silent, PROBES["length"], "ruler") is None
    assert with_reply(attempt, lambda text: text) is None
    assert {*PROBES, *PAIRED} == set(NAMES)
