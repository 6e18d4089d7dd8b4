"""The prompt of a battle's judge, and the parsing of the two marks in its reply."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from pydantic import BaseModel, Field

from proctor.contracts.judge import ReadingError
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import digest
from proctor.core.prompt_fences import MARKS
from proctor.core.prompt_fences import Marks as MarkSource
from proctor.core.suite import Case, Json, Message
from proctor.errors import UsageError
from proctor.judging import prompts
from proctor.judging.quoting import Material, refusal_in

LOW, HIGH = 1.0, 10.0
NAMES = ("system_prompt", "prompt_template", "prompt")
"""The keys of a prompt file of ColossalAI's pipeline, besides its id."""
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


# The docstring is part of the request, and so of the keys of stored calls.
class BattleMarks(BaseModel):
    """Hold the marks of two answers, in the order in which they were shown."""

    reason: str = ""
    score_1: float = Field(ge=LOW, le=HIGH)
    score_2: float = Field(ge=LOW, le=HIGH)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How the judge of a battle is asked: the prompt, and what it shows."""

    file: Mapping[str, Json] | None = None
    """A prompt file of ColossalAI's pipeline; None means Proctor's own prompt."""
    variant: str = ""
    references: bool = False
    language: str = "en"
    marks: MarkSource = MARKS
    """Marks around untrusted text."""

    def __post_init__(self) -> None:
        if self.file is None:
            if self.variant == "original":
                raise UsageError(
                    "a battle as in the original needs its prompt (fix: name the prompt file)"
                )
            return
        for name in NAMES:
            if not isinstance(self.file.get(name), str):
                raise UsageError(f"the battle prompt has no text {name!r}")
        placeholders = {match[1] for match in _PLACE.finditer(self.file["prompt_template"])}
        if missing := {"question", "answer_1", "answer_2"} - placeholders:
            shown = ", ".join(f"{{{name}}}" for name in sorted(missing))
            raise UsageError(f"the battle prompt's prompt_template lacks {shown}")

    @property
    def original(self) -> bool:
        """Tell whether everything is done as in the original."""
        return self.variant == "original"

    @property
    def tries(self) -> int:
        """Return the number of tries for a readable reply."""
        return 1 if self.original else 3

    @cached_property
    def key(self) -> str:
        """Return the hash of the prompt."""
        words = [prompts.load(name, self.language).key for name in ("battle", "battle_marks")]
        texts = words if self.file is None else [*words, *(self.file[name] for name in NAMES)]
        return digest(texts, self.variant, self.references)

    def reader(self, case: Case, *attempts: Attempt) -> Callable[[str], BattleMarks] | None:
        """Return the parser of marks in free text; None if the verdict is JSON."""
        if self.original:
            return read_original
        if self.file is None:
            return None
        words = [self.question(case), *map(self.answer, attempts)]
        return partial(read_marks, material=Material(tuple(map(prompts.addressed_words, words))))

    def messages(self, case: Case, first: Attempt, second: Attempt) -> tuple[Message, ...]:
        """Return the messages for the judge."""
        values: dict[str, prompts.Words] = {
            "question": self.question(case),
            "answer_1": self.answer(first),
            "answer_2": self.answer(second),
        }
        if self.file is not None:
            return self._filled(self.file, values)
        none = _NONE.get(self.language[:2], "(none)")
        reference_text = "\n".join(case.references) if self.references else ""
        strange = {**values, "references": reference_text or none}
        return (prompts.load("battle", self.language).message({}, strange, self.marks),)

    def question(self, case: Case) -> prompts.Words:
        """Return the question as the judge reads it."""
        if self.original:
            instruction, input_text = case.hidden.get("instruction"), case.hidden.get("input")
            if isinstance(instruction, str):
                return f"{instruction} {input_text}" if input_text else instruction
            return case.prompt
        return _written(case.messages, alone="user")

    def answer(self, attempt: Attempt) -> prompts.Words:
        """Return an answer as the judge reads it: a whole dialogue where there was one."""
        return attempt.output if self.original else _written(attempt.messages, alone="assistant")

    def _filled(
        self, file: Mapping[str, Json], values: Mapping[str, prompts.Words]
    ) -> tuple[Message, ...]:
        pen, note = prompts.Pen(self.marks), ""
        shown = {name: prompts.addressed_words(words) for name, words in values.items()}
        if not self.original:
            mark = pen.mark([*values.values(), file["prompt"]])
            shown = {name: pen.quote(name, words, mark) for name, words in values.items()}
            words = prompts.load("battle_marks", self.language)
            note = "\n" + words.fill({"nonce": mark.number})
        shown["prompt"] = file["prompt"]
        text = _PLACE.sub(
            lambda match: shown[match[1]] if match[1] else match[0][0], file["prompt_template"]
        )
        user_message = pen.message(text + note)
        if not file["system_prompt"]:
            return (user_message,)
        return Message(role="system", content=file["system_prompt"]), user_message


def original_scores(text: str) -> tuple[float, float]:
    """Parse two marks exactly as the original did; -1 twice where it failed."""
    for pattern in _ORIGINAL:
        numbers = pattern.findall(text)
        if len(numbers) == 2:
            return float(numbers[0]), float(numbers[1])
    parts = text.partition("\n")[0].replace(",", " ").split(" ")
    try:
        first, second = (float(part) for part in parts)
    except ValueError:
        return -1.0, -1.0
    return first, second


def read_original(text: str) -> BattleMarks:
    """Parse marks as the original did; what it took for a failure is one."""
    first, second = original_scores(text)
    if first == second == -1:
        raise Unmarked("the original finds no two marks in the reply", final=True)
    return BattleMarks.model_construct(reason=text, score_1=first, score_2=second)


def read_marks(text: str, material: Material | None = None) -> BattleMarks:
    """Parse the two marks that a free-text reply begins with, or say why it is impossible.

    Marks that occur in the answers are the answers' own claims, not the judge's.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    line, _, rest = plain.partition("\n")
    places = list(_NUMBER.finditer(_OF_TEN.sub(r" \1 ", _bare(line))))
    source = _bare(line)
    if len(places) != 2:
        places, source = list(_OF_TEN.finditer(plain)), plain
    if len(places) != 2:
        raise Unmarked("the first line does not hold two marks, and nothing more")
    if material is not None and _is_copied(source, material):
        raise Unmarked("the marks stand in what was to be judged")
    if refused := refusal_in(line):
        raise Unmarked(refused)
    marks = [float(place[place.re.groups]) for place in places]
    if not all(0 <= mark <= HIGH for mark in marks):
        raise Unmarked(f"marks go up to {HIGH:g}, not {max(marks, key=abs):g}")
    return BattleMarks.model_construct(reason=rest.strip(), score_1=marks[0], score_2=marks[1])


def _bare(line: str) -> str:
    return re.sub(r"[*_`#]", " ", _LABEL.sub(" ", line))


def _is_copied(source: str, material: Material) -> bool:
    """Tell whether the passage from the first number to the last is copied from an answer."""
    numbers = list(_NUMBER.finditer(source))
    if len(numbers) >= 2 and material.holds_words(source[numbers[0].start() : numbers[-1].end()]):
        return True
    return any(material.holds_words(passage[0]) for passage in _OF_TEN.finditer(source))


class Unmarked(ReadingError):
    """Reason why a reply has no two marks, and whether asking again is useless."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


def _written(messages: Sequence[Message], *, alone: str) -> prompts.Words:
    """Return messages as the judge sees them: the text alone, or with roles."""
    if len(messages) == 1 and messages[0].role == alone:
        return prompts.words_of(messages[0])
    return prompts.spoken(messages)
