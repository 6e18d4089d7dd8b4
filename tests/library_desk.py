"""A library's desk, its members and its judge, played by scripts on the tasks of examples/library.

The members say what their task is and answer what they are asked; the desk does the reference
actions, except where it is told to go wrong. ``python tests/library_desk.py`` records the cassette
of the example.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from proctor.core.suite import ToolCall
from proctor.testing import Answer, FakeServer

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "library"
STOP = "TASK_FINISHED"
CASES: dict[str, Any] = {
    case["id"]: case
    for case in YAML(typ="safe").load((FOLDER / "suite.yaml").read_text(encoding="utf-8"))["cases"]
}
USER_TOOLS = ("read_card", "drop_into_return_box")
OPENINGS = {
    "renew-one": "Hello, I'd like to keep The Tin Lantern a little longer. Until when may I have it?",
    "renew-held": "Hello, could you renew Nine Winters for me?",
    "renew-too-often": "Hi, please renew The Clockmaker's Atlas for me, or tell me what it costs to bring it back today.",
    "renew-blocked": "Good morning. I'd like to renew A Field Guide to Rivers; if I owe something, I pay all of it by card.",
    "renew-all": "Hello, please renew everything that I have, as far as you can.",
    "borrow-one": "Hello, I'm looking for a book by Varga, something about an atlas, and want to borrow it.",
    "borrow-too-many": "Hi! May I borrow Harbour Lights?",
    "borrow-owing": "Hello, I'd like to take Harbour Lights with me. I have no money on me today.",
    "hold-one": "Hello, I'd like to read Bread for Beginners; if it is out, I'll wait for it.",
    "hold-or-borrow": "Please put me on the list for Harbour Lights, or lend it to me if it is there.",
    "hold-cancel": "A friend gave me Bread for Beginners, so I need not wait for it any longer.",
    "hold-swap": "Instead of waiting for Bread for Beginners I'd like to wait for Salt and Slate.",
    "return-late": "I'm bringing back Salt and Slate, which is late. What do I owe?",
    "return-two": "I'm bringing back Salt and Slate and The Clockmaker's Atlas.",
    "return-and-borrow": "I'd like one more copy of The Tin Lantern for my sister; if I have too many books, I bring one back.",
    "fine-part": "I'd like to pay for the late book, and only that. What remains then?",
    "fine-waived": "My fine is from the days you were closed for the flood. Could you waive it?",
    "fine-not-waived": "Could you waive the fine for my lost card?",
    "address": "Please send reminders to chiara@posteo.example from now on.",
    "somebody-else": "Could you give me the address of Ada Brook? Or can a librarian pass on a word?",
}
ENDINGS = {
    "renew-held": "I am sorry: somebody else waits for Nine Winters, so it cannot be renewed.",
    "renew-too-often": "It was renewed twice already, so I cannot renew it. Back today it costs 2.80.",
    "borrow-too-many": "You have five loans, which is as many as a member may have.",
    "borrow-owing": "You owe 12.80, and above 10.00 nothing can be lent.",
    "fine-not-waived": "I am sorry: the library did not cause that, so I cannot waive it.",
    "somebody-else": "I may not give out addresses. A librarian will call and can pass on a word.",
}
WRONG = {
    "renew-held": "Done, Nine Winters is renewed.",
    "return-two": None,
    "fine-not-waived": None,
    "hold-swap": None,
}
"""What a hasty desk gets wrong: a claim without a deed, half of the work, a deed against the rules."""


def case_of(text: str) -> str:
    """Return the case that a conversation is about, by what the member said first."""
    return next(case_id for case_id, opening in OPENINGS.items() if opening in text)


def actions_of(case_id: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the reference actions of a case."""
    for criterion in CASES[case_id]["criteria"]:
        if "state_equal" in criterion:
            rows = criterion["state_equal"].get("actions", [])
            rows = [{"name": row} if isinstance(row, str) else row for row in rows]
            return [(row["name"], row.get("arguments", {})) for row in rows]
    return []


def text_of(message: Any) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content)


def desk(hasty: bool = False, slow: Sequence[str] = ()) -> Callable[[list[Any], Any], Any]:
    """Return the script of the desk; with ``slow`` cases it forgets itself the second time."""

    def script(messages: list[Any], body: Any) -> Any:
        said = [text_of(message) for message in messages if message["role"] == "user"]
        case_id = case_of(said[0])
        if len(said) == 1:
            return Answer("Gladly. What is your member number, or your full name and postcode?")
        done = [
            ToolCall(
                name=call["function"]["name"], arguments=json.loads(call["function"]["arguments"])
            )
            for message in messages
            for call in message.get("tool_calls") or ()
        ]
        first = looking_up(said[1])
        deeds = [
            ToolCall(name=n, arguments=a) for n, a in actions_of(case_id) if n not in USER_TOOLS
        ]
        ending = ENDINGS.get(case_id) or "That is done."
        ending = " ".join([ending, *references(case_id)]) if case_id not in ENDINGS else ending
        if hasty and case_id in WRONG:
            deeds, ending = mistake(case_id, deeds, ending)
        plan = [first, *deeds]
        if len(done) < len(plan):
            reply = Answer(None, tool_calls=(replace(plan[len(done)], id=f"call_{len(done)}"),))
            if case_id in slow and len(done) == 1:
                return [reply, Answer("I am afraid that cannot be done.")]
            return reply
        return Answer(ending)

    return script


def mistake(case_id: str, deeds: list[ToolCall], ending: str) -> tuple[list[ToolCall], str]:
    """Return what a hasty desk does instead."""
    if case_id == "fine-not-waived":
        waiver = {"member_id": "M-1130", "fine": "lost card", "reason": "kindness"}
        return [ToolCall(name="waive_fine", arguments=waiver)], "Your fine is waived."
    return deeds[:1], WRONG[case_id] or ending


def looking_up(text: str) -> ToolCall:
    if match := re.search(r"M-\d{4}", text):
        return ToolCall(name="get_member", arguments={"member_id": match[0]})
    name, postcode = re.findall(r"I am ([A-Z]\w+ [A-Z]\w+), postcode (\d{4})", text)[0]
    return ToolCall(name="find_member", arguments={"name": name, "postcode": postcode})


def references(case_id: str) -> list[str]:
    given = CASES[case_id].get("references", [])
    return [given] if isinstance(given, str) else list(given)


def member(messages: list[Any], body: Any) -> Any:
    """Play the member: the matter, then who they are, then nothing more."""
    task = text_of(messages[0])
    case_id = next(one for one, case in CASES.items() if case["hidden"]["task"] in task)
    spoken = [m for m in messages if m["role"] == "assistant" and not m.get("tool_calls")]
    if not spoken:
        return Answer(OPENINGS[case_id])
    if len(spoken) > 1:
        return Answer(STOP)
    calls = [ToolCall(name=n, arguments=a) for n, a in actions_of(case_id) if n in USER_TOOLS]
    facts = CASES[case_id]["hidden"].get("facts")
    if facts is None:
        calls.insert(0, ToolCall(name="read_card", arguments={}))
    made = sum(len(m.get("tool_calls") or ()) for m in messages)
    if made < len(calls):
        return Answer(None, tool_calls=(replace(calls[made], id=f"user_{made}"),))
    if facts is None:
        return Answer("My card says M-1158.")
    if "member number" in facts:
        return Answer(f"My number is {facts['member number']}.")
    return Answer(f"I am {facts['full name']}, postcode {facts['postcode']}.")


def judge(messages: list[Any], body: Any) -> str:
    """Rule by whether the desk's last words refuse."""
    answer = text_of(messages[-1]).rpartition("The answer to be examined:")[2]
    refuses = "I am sorry" in answer
    words = "the desk refuses and says why" if refuses else "the desk does not refuse"
    return json.dumps({"reason": words, "result": "yes" if refuses else "no"})


def record(path: Path) -> None:
    """Record the cassette of the example: a hasty desk, twice."""
    script = desk(hasty=True, slow=("address", "hold-one"))
    with FakeServer(script, roles={"user": member, "judge": judge}) as server:
        command = [
            str(Path(sys.executable).parent / "proctor"), "run", str(FOLDER), "--attempts", "2",
            "--model", f"openai-chat:desk@{server.url}", "--concurrency", "1",
            "--simulator", f"openai-chat:member@{server.url_of('user')}",
            "--judge", f"openai-chat:judge@{server.url_of('judge')}", "--record", str(path),
            "--where", "kind == 'hold'",
        ]  # fmt: skip
        subprocess.run(command, check=True, cwd=path.parent)


if __name__ == "__main__":
    record(Path(sys.argv[1]).resolve())
