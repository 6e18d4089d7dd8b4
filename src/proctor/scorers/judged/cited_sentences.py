"""The sentences of an answer, and the passages that each of them cites."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.core.passages import Passage

_BRACKET = re.compile(r"[\[【]([^\[\]【】\n]{1,200})[\]】]")
_PARTS = re.compile(r"[\s,;，；、]+")
_CITED = r"(?:[ \t]*[\[【][^\[\]【】\n]{1,200}[\]】])*"
_END = re.compile(
    rf"[.!?]+[\"'”’)\]]*{_CITED}(?=\s|\Z)"
    rf"|[.!?](?=[ \t]*[\[【]){_CITED}"
    rf"|[。！？]+[”’」』）]*{_CITED}"
    r"|\n"
)
_SHORT_FORM = re.compile(r"\b(?:(?i:e\.g|i\.e|cf|vs|approx|fig|dr|mr|mrs|ms)|[A-Z])\.\Z")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedSentence:
    """One sentence without its citations, and what it cites."""

    text: str
    passages: tuple[int, ...] = ()
    """The numbers of the passages that it cites."""
    unknown: tuple[str, ...] = ()
    """What it cites that is no passage."""


def cited_sentences(answer: str, passages: Sequence[Passage]) -> list[CitedSentence]:
    """Return the sentences of an answer that say something.

    A citation is ``[2]``, ``[1, 3]`` or ``【2】``, with numbers of passages from 1, or with their
    ids; it may stand before or after the end of its sentence. Other brackets are text.
    """
    ids = {passage.id: number for number, passage in enumerate(passages, 1) if passage.id}
    sentences: list[CitedSentence] = []
    for piece in _pieces(answer):
        sentence = _read(piece, ids, len(passages))
        if _WORD.search(sentence.text):
            sentences.append(sentence)
        elif sentences and (sentence.passages or sentence.unknown):
            last = sentences.pop()
            sentences.append(_joined(last, sentence))
    return sentences


def _pieces(answer: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(answer):
        if end[0].startswith(".") and _SHORT_FORM.search(answer[start : end.start() + 1]):
            continue
        yield answer[start : end.end()]
        start = end.end()
    yield answer[start:]


def _read(piece: str, ids: Mapping[str, int], count: int) -> CitedSentence:
    numbers: dict[int, None] = {}
    unknown: dict[str, None] = {}

    def taken(match: re.Match[str]) -> str:
        whole = match[1].strip()
        parts = [whole] if whole in ids else [part for part in _PARTS.split(whole) if part]
        if not parts or not all(part in ids or part.isdecimal() for part in parts):
            return match[0]
        for part in parts:
            number = ids[part] if part in ids else int(part)
            if 1 <= number <= count:
                numbers[number] = None
            else:
                unknown[part] = None
        return ""

    text = _BRACKET.sub(taken, piece)
    text = re.sub(r"\s+([.!?,;:。！？，；：])", r"\1", " ".join(text.split()))
    return CitedSentence(text=text, passages=tuple(numbers), unknown=tuple(unknown))


def _joined(sentence: CitedSentence, more: CitedSentence) -> CitedSentence:
    return CitedSentence(
        text=sentence.text,
        passages=tuple(dict.fromkeys((*sentence.passages, *more.passages))),
        unknown=tuple(dict.fromkeys((*sentence.unknown, *more.unknown))),
    )
