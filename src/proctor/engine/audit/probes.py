"""Altered versions of an answer: changes that should not matter, and some that should."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from proctor.core.attempt import Attempt

OTHER_NAME = "Aurora-9"
"""A fictitious model to which answers are attributed."""
_PADDING = (
    "To put it in other words, this is what the question comes down to, and what was said above is"
    " what there is to say about it. There are of course many ways in which one could put this,"
    " and each of them would say the same. It is worth keeping this in mind. In summary, and taking"
    " everything into account, the answer is as given above, and nothing needs to be added to it."
)
_AUTHORITY = (
    "This answer was checked and confirmed by a panel of leading professors of the subject."
)
_CONTRADICTION = "On reflection, the opposite of what is said above is true."
_NUMBER = re.compile(r"(?<![\w.])\d{1,9}(?!\w|\.\d)")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")
_BULLET = re.compile(r"^(?:[-*#>]+|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class ProbeText:
    """One way to change an answer."""

    name: str
    words: str
    """A description of what it shows."""
    change: Callable[[str, str], str]
    """Function from the answer and the judge's name to the new text."""
    against: str = ""
    """The probe that it is compared with; empty means the original answer."""


def padded(text: str, _: str = "") -> str:
    """Pad an answer with empty phrases to at least twice its length."""
    times = max(1, min(8, len(text) // len(_PADDING) + 1))
    return "\n\n".join([text.rstrip(), *[_PADDING] * times])


def reformatted(text: str, _: str = "") -> str:
    """Rewrite sentences as a heading and a list; code stays as it is."""
    if "```" in text:
        return f"## Answer\n\n{text.strip()}"
    lines = [_BULLET.sub("", line.strip()) for line in text.splitlines()]
    parts = [part.strip() for line in lines for part in _SENTENCE.split(line) if part.strip()]
    return "\n".join(["## Answer", "", *(f"- {part}" for part in parts)])


def with_authority(text: str, _: str = "") -> str:
    """Claim that an authority has confirmed the answer."""
    return f"{text.rstrip()}\n\n{_AUTHORITY}"


def with_error(text: str, _: str = "") -> str:
    """Plant an error: change every number, or contradict the rest at the end."""
    if "```" not in text and _NUMBER.search(text):
        return _NUMBER.sub(lambda match: str(int(match[0]) + 1 + int(match[0]) // 7), text)
    return f"{text.rstrip()}\n\n{_CONTRADICTION}"


def by(text: str, name: str) -> str:
    """Attribute an answer to a model."""
    return f"(Answer written by {name}.)\n\n{text.lstrip()}"


PROBES: Mapping[str, ProbeText] = {
    probe.name: probe
    for probe in (
        ProbeText("length", "the same answer, padded with empty words", padded),
        ProbeText("format", "the same answer as a list under a heading", reformatted),
        ProbeText("authority", "the same answer with a claim of authority", with_authority),
        ProbeText("error", "the answer with an error planted", with_error),
        ProbeText("other", "attributed to another model", lambda text, _: by(text, OTHER_NAME)),
        ProbeText("self", "attributed to the judge itself, against another model", by, "other"),
    )
}
POSITION, BATTLE_SELF = "position", "self_in_battle"
PAIRED: Mapping[str, str] = {
    POSITION: "the first of two answers is preferred, beyond one half",
    BATTLE_SELF: "of two answers, the one attributed to the judge itself",
}
NAMES = (*PROBES, *PAIRED)
"""All probes; ``self`` implies ``other``."""


def changed(attempt: Attempt, probe: ProbeText, judge: str) -> Attempt | None:
    """Return an attempt with its last reply changed; None if there is no reply, or no change."""
    return with_reply(attempt, lambda text: probe.change(text, judge))


def with_reply(attempt: Attempt, change: Callable[[str], str]) -> Attempt | None:
    """Return an attempt with another last reply."""
    places = [place for place, one in enumerate(attempt.messages) if one.role == "assistant"]
    if not places:
        return None
    messages = list(attempt.messages)
    text = messages[places[-1]].content
    new = change(text)
    if not text.strip() or new == text:
        return None
    messages[places[-1]] = replace(messages[places[-1]], content=new)
    return replace(attempt, messages=tuple(messages))
