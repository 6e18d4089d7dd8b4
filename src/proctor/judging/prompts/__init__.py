"""Prompts for judges and simulated users, in English and Chinese, as data files beside this one."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files

from proctor.core.prompt_fences import MARKS, Mark, Marks, addressed, fence
from proctor.core.suite import Message
from proctor.core.tool_calls import said_and_called
from proctor.judging.prompts.harmless import harmless

LANGUAGES = ("en", "zh")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Transcript:
    """Messages of strangers, each of which is put between marks that say whose it is."""

    entries: tuple[tuple[str, str], ...]
    """The name that a message's marks carry, and its text."""
    contents: tuple[str, ...] = ()
    """What the marks are made of, where that is not the texts."""
    between: str = "\n"
    nothing: str = ""
    """What is written where there is no message."""


@dataclass(frozen=True, slots=True)
class NumberOf:
    """The number that the marks of a transcript carry."""

    transcript: Transcript


Words = str | Transcript
"""What strangers said."""


@dataclass
class Pen:
    """What writes strangers' words into one prompt: the only way in for any of them."""

    marks: Marks
    used: dict[Mark, None] = field(default_factory=dict)
    _drawn: dict[Transcript, Mark] = field(default_factory=dict)

    def mark(self, values: Iterable[Words | NumberOf]) -> Mark:
        """Draw the mark of a prompt that is made of these values."""
        return self._draw([addressed(self._plain(value), self.used) for value in values])

    def quote(self, name: str, words: Words, mark: Mark) -> str:
        """Put a stranger's words between marks, and make what looks like a mark in them plain."""
        inner = self.transcript(words) if isinstance(words, Transcript) else harmless(words)
        return fence(name, inner, mark.number)

    def transcript(self, transcript: Transcript) -> str:
        """Write messages, each between marks of its own."""
        number = self.number(transcript)
        texts = [fence(name, harmless(text), number) for name, text in transcript.entries]
        return transcript.between.join(texts) or transcript.nothing

    def number(self, transcript: Transcript) -> str:
        """Return the number of a transcript's marks."""
        if transcript not in self._drawn:
            texts = transcript.contents or [text for _, text in transcript.entries]
            self._drawn[transcript] = self._draw(texts)
        return self._drawn[transcript].number

    def message(self, text: str, role: str = "user") -> Message:
        """Return a message that knows which marks stand in it."""
        return Message(role=role, content=text, marks=tuple(self.used))

    def _draw(self, texts: Iterable[str]) -> Mark:
        mark = self.marks.of(texts)
        self.used[mark] = None
        return mark

    def _plain(self, value: Words | NumberOf) -> str:
        if isinstance(value, NumberOf):
            return self.number(value.transcript)
        return self.transcript(value) if isinstance(value, Transcript) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt with the hash that says which wording it is."""

    name: str
    language: str
    text: str
    key: str

    def fill(self, own: Mapping[str, str]) -> str:
        """Put words of our own into the places ``{{name}}``, all in one pass."""
        return _PLACE.sub(lambda match: own[match[1]], self.text)

    def message(
        self,
        own: Mapping[str, Words | NumberOf],
        strange: Mapping[str, Words],
        marks: Marks,
        *,
        role: str = "user",
    ) -> Message:
        """Put our own words and those of strangers into their places, as one message.

        Strangers' words (answers, references, hidden facts, transcripts) stand between marks that
        carry a number which no text can contain, so that none can end there and speak as somebody
        else. A transcript among our own words has the marks of its messages alone.
        """
        pen = Pen(marks)
        mark = pen.mark([*own.values(), *strange.values()])

        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name == "nonce":
                return mark.number
            if name in strange:
                return pen.quote(name, strange[name], mark)
            content = own[name]
            if isinstance(content, NumberOf):
                return pen.number(content.transcript)
            return pen.transcript(content) if isinstance(content, Transcript) else content

        return pen.message(_PLACE.sub(value, self.text), role)

    @property
    def places(self) -> frozenset[str]:
        """Return the names of the places to be filled."""
        return frozenset(_PLACE.findall(self.text)) - {"nonce"}


def spoken(messages: Sequence[Message], *, nothing: str = "") -> Transcript:
    """Return a conversation as judges are shown it; pictures are only counted."""
    return Transcript(
        entries=tuple(
            (f"message {number} by {message.role}", words_of(message))
            for number, message in enumerate(messages, 1)
        ),
        contents=tuple(said_and_called(message) for message in messages),
        nothing=nothing,
    )


def words_of(message: Message) -> str:
    """Return the words of a message, the tools it calls, and how many pictures came with it."""
    pictures = f"\n[{len(message.images)} pictures, not shown here]" if message.images else ""
    return said_and_called(message) + pictures


def addressed_words(words: Words) -> str:
    """Return strangers' words as they enter keys: with the same marks in every store."""
    pen = Pen(MARKS)
    text = pen.transcript(words) if isinstance(words, Transcript) else words
    return addressed(text, pen.used)


def load(name: str, language: str = "en", *, passages: bool = False) -> Prompt:
    """Return the prompt of a name in a language, in English where that language has none.

    With ``passages`` it has a place ``{{context}}`` before the answer, whose words are those of
    the prompt ``judge_passages``.
    """
    short = language.replace("_", "-").partition("-")[0].lower()
    prompt_language = short if short in LANGUAGES else LANGUAGES[0]
    prompt = _read(name, prompt_language)
    return _with_passages(prompt, _read("judge_passages", prompt_language)) if passages else prompt


def keys_of(names: Iterable[str], language: str, *, passages: bool = False) -> str:
    """Return one short hash of several prompts."""
    keys = "|".join(load(name, language, passages=passages).key for name in sorted(names))
    return hashlib.blake2b(keys.encode(), digest_size=6).hexdigest()


def numbered(name: str, texts: Iterable[str], *, nothing: str = "") -> Transcript:
    """Return texts of strangers that a judge speaks of by number: each between its own marks."""
    entries = tuple((f"{name} {number}", text) for number, text in enumerate(texts, 1))
    return Transcript(entries=entries, nothing=nothing)


@cache
def _read(name: str, language: str) -> Prompt:
    text = files(__name__).joinpath(language, f"{name}.txt").read_text(encoding="utf-8").strip()
    key = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return Prompt(name=name, language=language, text=text, key=key)


@cache
def _with_passages(prompt: Prompt, passages: Prompt) -> Prompt:
    """Put the passages before the paragraph that shows the answer."""
    paragraphs = prompt.text.split("\n\n")
    place = next(i for i, words in enumerate(paragraphs) if "{{answer}}" in words)
    paragraphs.insert(place, passages.text)
    key = hashlib.blake2b(f"{prompt.key}+{passages.key}".encode(), digest_size=6).hexdigest()
    return replace(prompt, text="\n\n".join(paragraphs), key=key)
