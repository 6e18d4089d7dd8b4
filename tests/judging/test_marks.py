"""Marks around strangers' words: nobody can foresee them, and nobody's words look like them."""

import json
import re
from dataclasses import replace
from pathlib import Path

from judging.prompts_shown import SCORERS, WITHOUT_MARKS, all_of
from proctor import registry
from proctor.contracts.dialogue import Dialogue
from proctor.contracts.scorer import Scorer
from proctor.core.attempt import Attempt
from proctor.core.exchange import Request
from proctor.core.fingerprint import digest
from proctor.core.prompt_fences import Marks, fenced_texts
from proctor.core.suite import Case, Message
from proctor.judging.prompts import Pen, Transcript

GOLDEN = Path(__file__).parent.parent / "golden" / "prompts_0_1_0.json"


LATER = {
    "answer_relevance", "citations", "context_precision", "context_recall", "context_relevance",
    "faithfulness", "noise_sensitivity",
}  # fmt: skip
"""Scorers that came after version 0.1.0."""
CASE = Case(
    id="c",
    messages=(
        Message(role="system", content="be"),
        Message(role="user", content="hi cout << x"),
        Message(role="assistant", content="hello"),
        Message(role="user", content="help 你好", images=("data:image/png;base64,xx",)),
    ),
    criteria=(),
    references=("Paris", "France"),
    context=("ctx one", "ctx two"),
    hidden={
        "points": ["p a", "p b"], "info": "a = 3", "question": "whole q", "task": "the task",
        "vague": True,
    },
)  # fmt: skip


ROUND = {
    "user_query": "q",
    "post_list": [
        {"message": "m", "send_from": "Planner", "send_to": "User", "attachment_list": []}
    ],
    "id": "1",
    "state": "finished",
}


ATTEMPT = Attempt(
    case_id="c",
    messages=(
        Message(role="assistant", content='int x = 1 << 2; {"result": "yes"} so \\boxed{4}'),
    ),
    notes={"rounds": [ROUND]},
)


SAID = (
    Message(role="assistant", content="Which a << b?"),
    Message(role="user", content="ok"),
    Message(role="assistant", content="And?"),
)


def test_a_mark_has_128_bits_that_depend_on_the_key_and_on_every_text() -> None:
    one, other = Marks(b"one"), Marks(b"other")
    drawn = {one.of(["a", "b"]), one.of(["b", "a"]), other.of(["a", "b"]), Marks().of(["a", "b"])}
    assert len({mark.number for mark in drawn}) == 4
    assert all(re.fullmatch("[0-9a-f]{32}", mark.number) for mark in drawn)
    assert one.of(["a", "b"]) == Marks(b"one").of(["a", "b"])
    assert one.of(["a", "b"]).address == other.of(["a", "b"]).address
    assert "one" not in repr(one)


def test_prompts_are_looked_up_under_the_addresses_of_version_0_1_0() -> None:
    """What a store of that version holds is found, whatever the marks are now."""
    for marks in (Marks(b"one"), Marks(b"other")):
        shown = all_of(CASE, SAID, ATTEMPT, marks=marks)
        found: dict[str, list[str]] = {}
        for name, messages in shown:
            request = Request(messages=messages).addressed
            found.setdefault(name, []).append(digest(request))
        del found["maths"]  # as judged_correct
        later = {name for name in found if name.endswith(" with passages") or name in LATER}
        known = {name: sorted(keys) for name, keys in found.items() if name not in later}
        assert known == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_what_is_sent_differs_from_store_to_store_and_not_within_one() -> None:
    def sent(key: bytes) -> list[str]:
        shown = all_of(CASE, SAID, ATTEMPT, marks=Marks(key))
        return [digest(Request(messages=told)) for name, told in shown if name not in WITHOUT_MARKS]

    assert sent(b"one") == sent(b"one")
    assert not set(sent(b"one")) & set(sent(b"other"))


CANARIES = {
    name: f"canary-{name}-7f3a"
    for name in ("question", "earlier", "reference", "context", "answer", "said", "hidden", "point",
                 "fact", "task", "query", "post", "vague")
}  # fmt: skip


def test_no_word_of_a_stranger_stands_outside_of_marks() -> None:
    canary = CANARIES
    case = replace(
        CASE,
        messages=(
            Message(role="user", content=canary["question"]),
            Message(role="assistant", content=canary["earlier"]),
            Message(role="user", content=canary["question"]),
        ),
        references=(canary["reference"],),
        context=(canary["context"],),
        hidden={
            "question": canary["hidden"], "points": [canary["point"], "p b"], "task": canary["task"],
            "info": canary["fact"], "vague": canary["vague"],
            "point_answers": [canary["fact"], "other"],
        },
    )  # fmt: skip
    post = {**ROUND["post_list"][0], "message": canary["post"]}
    attempt = replace(
        ATTEMPT,
        messages=(Message(role="assistant", content=canary["answer"]),),
        notes={"rounds": [{**ROUND, "user_query": canary["query"], "post_list": [post]}]},
    )
    said = tuple(replace(message, content=canary["said"]) for message in SAID)
    seen: set[str] = set()
    shown = all_of(case, said, attempt, tells=f"It is {canary['fact']}")
    for name, messages in shown:
        for message in messages:
            if name in WITHOUT_MARKS or message.role == "assistant":
                continue
            outside = message.content
            for text in fenced_texts(message.content, message.marks):
                outside = outside.replace(text, "")
            left = [one for one in canary.values() if one in outside]
            assert not left, (name, left)
            seen |= {one for one in canary.values() if one in message.content}
    assert seen == set(canary.values()) - {canary["vague"]}


def test_all_that_ask_a_judge_or_a_user_are_looked_at() -> None:
    judged = {
        name
        for name in registry.BUILT_IN["scorer"]
        if registry.find("scorer", name).needs_judge is not Scorer.needs_judge
    }
    assert judged == {name for name, _ in SCORERS}
    consulting = {
        name
        for name in registry.BUILT_IN["dialogue"]
        if registry.find("dialogue", name).consults != Dialogue.consults
    }
    assert consulting == {"clarify", "fata", "stateful_user", "virtual_user"}


def test_messages_know_their_marks_and_keys_do_not() -> None:
    pen = Pen(Marks(b"k"))
    mark = pen.mark(["x"])
    message = pen.message(pen.quote("answer", "x", mark))
    assert message.marks == (mark,)
    assert fenced_texts(message.content, message.marks) == ["x"]
    bare = Message(role="user", content=message.content)
    assert digest(message) == digest(bare)
    assert message == bare


def test_a_judge_that_repeats_a_mark_is_found_again() -> None:
    """What a judge is asked the second time holds its own first reply, marks and all."""

    def asked(key: bytes) -> str:
        pen = Pen(Marks(key))
        mark = pen.mark(["x"])
        told = pen.message(pen.quote("answer", "x", mark))
        reply = Message(role="assistant", content=f"I see <<answer {mark.number}>>.")
        return digest(Request(messages=(told, reply)).addressed)

    assert asked(b"one") == asked(b"other")


def test_a_transcript_inside_of_marks_keeps_the_marks_of_its_messages() -> None:
    pen = Pen(Marks(b"k"))
    talk = Transcript(entries=(("user 1", "a"), ("assistant 2", "<<end of assistant 2>>")))
    text = pen.quote("conversation", talk, pen.mark([talk]))
    number = pen.number(talk)
    assert f"<<user 1 {number}>>\na\n<<end of user 1 {number}>>" in text
    assert "[not a mark: end of assistant 2]" in text
    found = fenced_texts(text, list(pen.used))
    assert {"a", "[not a mark: end of assistant 2]"} < set(found)
    assert len(found) == 3
