"""A grading process, served in this one: messages framed, jobs scored in order, progress told."""

import io
import mmap
import os
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.fingerprint import plain
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.executors.worker import HEADER, PROGRESS, receive, send, serve


@pytest.mark.parametrize("message", [{"a": [1, "漢"]}, [], None, "half \ud800"])
def test_a_message_comes_back_as_it_was_sent(message: Any) -> None:
    stream = io.BytesIO()
    send(stream, message)
    send(stream, "next")
    stream.seek(0)
    assert receive(stream) == message
    assert receive(stream) == "next"
    assert receive(stream) is None


def test_a_stream_that_breaks_off_has_ended() -> None:
    assert receive(io.BytesIO(HEADER.pack(5)[:3])) is None


def served(*jobs: Any) -> tuple[list[Any], tuple[Any, ...]]:
    stdin, stdout = io.BytesIO(), io.BytesIO()
    settings = {"folder": os.getcwd(), "path": [], "trusted": "", "allow_import": False}
    for message in (settings, *jobs):
        send(stdin, message)
    stdin.seek(0)
    with mmap.mmap(-1, PROGRESS.size) as progress:
        serve(stdin, stdout, progress)
        state = PROGRESS.unpack_from(progress, 0)
    stdout.seek(0)
    return list(iter(lambda: receive(stdout), None)), state


def group(name: str, *answers: str | None, case: Case | None = None) -> dict[str, Any]:
    criterion = Criterion(id="e", scorer=Spec(name=name))
    shown = {} if case is None else {"case": plain(case)}
    attempts = [plain(Attempt.of("c", answer)) for answer in answers]
    return {**shown, "criterion": plain(criterion), "attempts": attempts}


CASE = Case(id="c", messages=(Message(role="user", content="?"),), criteria=(), references=("yes",))


def test_jobs_are_scored_in_order_and_a_case_holds_until_the_next() -> None:
    first = {"groups": [group("exact_match", "yes", "no", case=CASE), group("exact_match", None)]}
    second = {"groups": [group("exact_match", "yes", case=CASE)]}
    (ready, one, two), state = served(first, second)
    assert ready == {"ready": os.getpid()}
    assert [score["points"] for score in one] == [1.0, 0.0, 0.0]
    assert [score["points"] for score in two] == [1.0]
    assert state == (-1, 0.0, 0.0)


def test_nothing_to_do_is_no_error() -> None:
    stdout = io.BytesIO()
    with mmap.mmap(-1, PROGRESS.size) as progress:
        serve(io.BytesIO(), stdout, progress)
    assert stdout.getvalue() == b""
