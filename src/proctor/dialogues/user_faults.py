"""What a simulated user with a task of its own must not say, found without asking a model.

All of it errs on the side of silence: what could have been known from the task, the facts or the
conversation is never taken for a fault.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proctor.core.suite import Case
from proctor.dialogues.leaks import gives_away, says, unasked

GIVEN_AWAY, UNASKED, INVENTED = "AnswerGivenAway", "UnaskedFact", "InventedDetail"
TOOL_TALK, ENDED_EARLY, ENDED_WITH_MORE = "SpokeOfTools", "EndedEarly", "EndedWithMore"
_DETAIL = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.]+"  # an address
    r"|\b[A-Za-z]{1,8}[-_#]?\d[\w-]*\b"  # M-1042, ORD7781
    r"|\b\d{5,}\b"  # a number that nobody counts up to
)
_CALL = re.compile(r"\[calls?\s|\b\w+_\w+\(\s*[{\"'\w]|\"tool_calls\"|<tool_call>")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFault:
    """One thing that a message of the user should not say."""

    kind: str
    words: str
    """What the user is told about it."""
    what: str = ""
    """The text that is wrong."""
    severe: bool = True
    """Whether it is beyond doubt, so that a message with it cannot stand."""


def facts_of(case: Case) -> dict[str, str]:
    """Return what the user tells only when asked: what each fact is about, and its value."""
    facts = case.hidden.get("facts")
    if isinstance(facts, Mapping):
        return {str(name): str(value) for name, value in facts.items()}
    if isinstance(facts, Sequence) and not isinstance(facts, str):
        return {str(fact): str(fact) for fact in facts}
    return {str(facts): str(facts)} if facts else {}


def faults_of(
    text: str,
    case: Case,
    *,
    candidate_texts: Sequence[str],
    shown: Sequence[str],
    own: Sequence[str],
) -> list[UserFault]:
    """Return what is wrong with a message of the user.

    ``candidate_texts`` is what the candidate said so far, ``shown`` the whole conversation before
    the message, ``own`` what the user's own tools gave.
    """
    task, facts = str(case.hidden.get("task") or ""), facts_of(case)
    told = [task, *shown, *own]
    everything = [*told, *facts, *facts.values()]
    faults = []
    for answer in case.references:
        if gives_away(text, answer, everything):
            words = "it tells the assistant what it is to find out"
            faults.append(UserFault(kind=GIVEN_AWAY, words=words, what=answer))
    faults += _unasked_facts(text, facts, candidate_texts, told)
    for detail in _invented(text, everything):
        words = f"nobody knows of {detail}: it is made up"
        faults.append(UserFault(kind=INVENTED, words=words, what=detail))
    named = [tool.name for tool in case.tools if "_" in tool.name and says(text, tool.name)]
    if named or _CALL.search(text):
        words = "it speaks of the assistant's tools, which a user knows nothing of"
        faults.append(UserFault(kind=TOOL_TALK, words=words, what=", ".join(named)))
    return faults


def _unasked_facts(
    text: str, facts: Mapping[str, str], candidate_texts: Sequence[str], told: Sequence[str]
) -> Iterable[UserFault]:
    """Yield facts that are told without a question; before any question that is beyond doubt."""
    values = {name: value for name, value in facts.items() if len(value) > 1}
    if candidate_texts:
        unasked_facts = [
            one.point
            for one in unasked(
                text, values, asked_points=None, questions=candidate_texts, shown=told
            )
        ]
    else:
        unasked_facts = [
            name
            for name, value in values.items()
            if says(text, value) and not any(says(other, value) for other in told)
        ]
    for name in unasked_facts:
        words = f"nobody asked for it: {name}"
        yield UserFault(kind=UNASKED, words=words, what=name, severe=not candidate_texts)


def _invented(text: str, everything: Sequence[str]) -> Iterable[str]:
    """Yield names, codes and numbers that are in no text that the user may know of."""
    told_before = "\n".join(everything).casefold()
    for match in dict.fromkeys(_DETAIL.findall(text)):
        bare = match.strip(".-_").casefold()
        if bare not in told_before and re.sub(r"[\W_]", "", bare) not in re.sub(
            r"[\W_]", "", told_before
        ):
            yield match.strip(".-_")
