"""What a judge of a battle is shown, and how the two marks are read out of its reply."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel, Field

from proctor import prompts
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import digest
from proctor.core.suite import Case, Json, Message
from proctor.errors import UsageError

LOW, HIGH = 1.0, 10.0
NAMES = ("system_prompt", "prompt_template", "prompt")
"""What a prompt file of ColossalAI's pipeline has, besides its id."""
_NONE = {"zh": "（无）"}
_PLACE = re.compile(r"\{\{|\}\}|\{(question|answer_1|answer_2|prompt)\}")
_ORIGINAL = tuple(
    re.compile(pattern)
    for pattern in (r"([0-9]|10) out of 10", r"a score of ([0-9]|10)", r"([0-9]|10)/10")
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\d)")
_OF_TEN = re.compile(
    r"(?<![\d.-])(\d+(?:\.\d+)?)\s*(?:/\s*10|out\s+of\s+(?:10|ten))(?!\d|\.\d)", re.I
)
_LABEL = re.compile(r"(?:assistant|answer|model|助手|回答|答案|模型)\s*#?[12]\b|[12]\s*号", re.I)


class Marks(BaseModel):
    """Hold the marks of two answers, in the order in which they were shown."""

    reason: str = ""
    score_1: float = Field(ge=LOW, le=HIGH)
    score_2: float = Field(ge=LOW, le=HIGH)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Say how the judge of a battle is asked: in which words, and showing what."""

    file: Mapping[str, Json] | None = None
    """A prompt file of ColossalAI's pipeline; none means Proctor's own words."""
    compat: str = ""
    references: bool = False
    language: str = "en"

    def __post_init__(self) -> None:
        if self.file is None:
            if self.compat == "original":
                raise UsageError(
                    "a battle as the original held it needs its words (fix: name the prompt file)"
                )
            return
        for name in NAMES:
            if not isinstance(self.file.get(name), str):
                raise UsageError(f"the battle prompt has no text {name!r}")
        found = {match[1] for match in _PLACE.finditer(self.file["prompt_template"])}
        if missing := {"question", "answer_1", "answer_2"} - found:
            shown = ", ".join(f"{{{name}}}" for name in sorted(missing))
            raise UsageError(f"the battle prompt's prompt_template lacks {shown}")

    @property
    def original(self) -> bool:
        """Tell whether all is as the original did it."""
        return self.compat == "original"

    @property
    def tries(self) -> int:
        """Return how often an unreadable reply is asked for again, and once more."""
        return 1 if self.original else 3

    @cached_property
    def key(self) -> str:
        """Return the hash of the words."""
        words = [prompts.load(name, self.language).key for name in ("battle", "battle_marks")]
        texts = words if self.file is None else [*words, *(self.file[name] for name in NAMES)]
        return digest(texts, self.compat, self.references)

    @property
    def reader(self) -> Callable[[str], Marks] | None:
        """Return what reads the marks out of a text; none where the verdict is JSON."""
        if self.original:
            return read_original
        return None if self.file is None else read_marks

    def messages(self, case: Case, first: Attempt, second: Attempt) -> tuple[Message, ...]:
        """Return what the judge is shown."""
        values = {
            "question": self.question(case),
            "answer_1": self.answer(first),
            "answer_2": self.answer(second),
        }
        if self.file is not None:
            return self._filled(self.file, values)
        none = _NONE.get(self.language[:2], "(none)")
        known = "\n".join(case.references) if self.references else ""
        strange = {**values, "references": known or none}
        return prompts.load("battle", self.language).message({}, strange)

    def question(self, case: Case) -> str:
        """Return the question as the judge reads it."""
        if self.original:
            asked, given = case.hidden.get("instruction"), case.hidden.get("input")
            if isinstance(asked, str):
                return f"{asked} {given}" if given else asked
            return case.prompt
        return _written(case.messages, alone="user")

    def answer(self, attempt: Attempt) -> str:
        """Return an answer as the judge reads it: a whole dialogue where there was one."""
        return attempt.output if self.original else _written(attempt.messages, alone="assistant")

    def _filled(self, file: Mapping[str, Json], values: Mapping[str, str]) -> tuple[Message, ...]:
        marks = ""
        if not self.original:
            nonce = prompts.nonce_of([*values.values(), file["prompt"]])
            values = {name: prompts.fence(name, text, nonce) for name, text in values.items()}
            marks = "\n" + prompts.load("battle_marks", self.language).text.replace(
                "{{nonce}}", nonce
            )
        shown = {**values, "prompt": file["prompt"]}
        text = _PLACE.sub(
            lambda found: shown[found[1]] if found[1] else found[0][0], file["prompt_template"]
        )
        asked = Message(role="user", content=text + marks)
        if not file["system_prompt"]:
            return (asked,)
        return Message(role="system", content=file["system_prompt"]), asked


def original_scores(text: str) -> tuple[float, float]:
    """Read two marks as the original did, with all its mistakes; two times -1 where it failed."""
    for pattern in _ORIGINAL:
        found = pattern.findall(text)
        if len(found) == 2:
            return float(found[0]), float(found[1])
    parts = text.partition("\n")[0].replace(",", " ").split(" ")
    try:
        first, second = (float(part) for part in parts)
    except ValueError:
        return -1.0, -1.0
    return first, second


def read_original(text: str) -> Marks:
    """Read marks as the original did; what it took for a failure is one."""
    first, second = original_scores(text)
    if first == second == -1:
        raise Unmarked("the original finds no two marks in the reply", final=True)
    return Marks.model_construct(reason=text, score_1=first, score_2=second)


def read_marks(text: str) -> Marks:
    """Read the two marks that a reply in free text begins with, or say why that cannot be done."""
    plain = unicodedata.normalize("NFKC", text).strip()
    line, _, rest = plain.partition("\n")
    bare = re.sub(r"[*_`#]", " ", _LABEL.sub(" ", line))
    found = [float(number) for number in _NUMBER.findall(_OF_TEN.sub(r" \1 ", bare))]
    if len(found) != 2:
        found = [float(number) for number in _OF_TEN.findall(plain)]
    if len(found) != 2:
        raise Unmarked("the first line does not hold two marks, and nothing more")
    if not all(0 <= mark <= HIGH for mark in found):
        raise Unmarked(f"marks go up to {HIGH:g}, not {max(found, key=abs):g}")
    return Marks.model_construct(reason=rest.strip(), score_1=found[0], score_2=found[1])


class Unmarked(ValueError):
    """Say why a reply holds no two marks, and whether asking again is of no use."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


def _written(messages: Sequence[Message], *, alone: str) -> str:
    """Write messages as one text: the words alone, or each between marks that none can forge."""
    if len(messages) == 1 and messages[0].role == alone:
        return _said(messages[0])
    nonce = prompts.nonce_of([message.content for message in messages])
    return "\n".join(
        prompts.fence(f"message {number} by {message.role}", _said(message), nonce)
        for number, message in enumerate(messages, 1)
    )


def _said(message: Message) -> str:
    pictures = f"\n[{len(message.images)} pictures, not shown here]" if message.images else ""
    return message.content + pictures
