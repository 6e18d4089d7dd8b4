"""What in a judge's reply is not its own ruling: copies of the material, quotations, refusals."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from proctor.core.suite import Json
from proctor.judging.json_objects import ParsedJson, objects, plainly
from proctor.judging.phrases import EXPLAINS, FAREWELL, INTRODUCES, LABEL, REFUSES

_ESCAPED = re.compile(r'\\(["\\/nt])')
_UNESCAPED = {"n": "\n", "t": "\t"}
_SPACE = re.compile(r"\s+")
_FEW_WORDS = 3
_SHORT = 12
_QUOTED_TEXT = re.compile(r"the text (['\"])(.*?)\1…?")

_FENCE = re.compile(r"`{3,12}[ \t]*(?:json[c5]?|javascript|js|python|py)?\s*\Z", re.IGNORECASE)
_FOREIGN_FENCE = re.compile(
    r"(?:`{3,12}|~{3,12})[ \t]*(?:te?xt|plain(?:text)?|markdown|md|quot\w*|answer|candidate|reply"
    r"|response|user|assistant|email|html|xml)[ \t]*\s*\Z",
    re.IGNORECASE,
)
_WRAPPING = re.compile(
    r"`{3,12}|~{3,12}|</?(?:answer|verdict|output|result|json|response|final|final_answer)>"
    r"|<\|[^|<>]*\|>|</s>",
    re.IGNORECASE,
)
_BLOCK_QUOTE = re.compile(r"\s*(?:[-*]\s*)?(?:>|&gt;|\|)")
_OPEN_QUOTE = re.compile(r"[\"“”„'‘’«»「『《]\s*\Z")
_CLOSE_QUOTE = re.compile(r"\s*[\"“”'‘’«»」』》]")
_PAIRS = (("“", "”"), ("「", "」"), ("『", "』"), ("«", "»"))
_TAGS = re.compile(
    r"<(?P<end>/)?(?:quote|blockquote|q|cite|candidate|untrusted|material|injected|document)\b[^>]*>",
    re.IGNORECASE,
)
_LONG_FENCE = re.compile(r"^[ \t>]*(?:`{4,12}|~{3,12})", re.MULTILINE)
_ECHOED = re.compile(r"<<(end of )?[^<>\n]{1,80} [0-9a-f]{8,64}>>")


@dataclass(frozen=True)
class Material:
    """The strangers' words that a judge was shown; what it repeats of them is not its ruling."""

    texts: Sequence[str] = ()

    def holds(self, text: str, value: Json) -> bool:
        """Tell whether an object of a reply stands in the material, in the same or other layout."""
        if not self.texts:
            return False
        return _squeezed(text) in self._squeezed or _comparable(value) in self._values

    def speaks(self, text: str) -> bool:
        """Tell whether a reply in words is one of the texts, or a passage of one."""
        spoken = plainly(text)
        texts = [plainly(one) for one in self.texts]
        return spoken in texts or (
            len(spoken.split()) > _FEW_WORDS and any(spoken in one for one in texts)
        )

    def says(self, text: str) -> bool:
        """Tell whether a passage stands in the texts, in the same or other layout."""
        return bool(self.texts) and _squeezed(text) in self._squeezed

    def holds_words(self, text: str) -> bool:
        """Tell whether words stand in the material, as words of their own."""
        pattern = re.compile(rf"(?<!\w){re.escape(plainly(text))}(?!\w)")
        return any(pattern.search(plainly(one)) for one in self.texts)

    @cached_property
    def _squeezed(self) -> str:
        return "\0".join(_squeezed(text) for text in self._readings)

    @cached_property
    def _values(self) -> frozenset[str]:
        return frozenset(
            _comparable(part)
            for text in self._readings
            for item in objects(text)
            for part in _objects_in(item.value)
        )

    @cached_property
    def _readings(self) -> tuple[str, ...]:
        """Return the texts as they are, and as they read where quotation marks are escaped."""
        readings = []
        for text in self.texts:
            once = _unescaped(text)
            readings += [text, once, _unescaped(once), html.unescape(text)]
        return tuple(dict.fromkeys(readings))


@dataclass(frozen=True)
class QuotedStanding:
    """Where an object stands in a reply: alone, among words, or inside a quotation."""

    text: str
    item: ParsedJson
    others: Sequence[ParsedJson] = field(default=(), repr=False)
    """All objects of the reply, whose quotation marks are their own."""

    @property
    def fenced(self) -> bool:
        """Tell whether the object is the content of a code block."""
        return _FENCE.search(self._before) is not None

    @cached_property
    def problem(self) -> str:
        """Say why the object cannot be the judge's last word; nothing where it can."""
        if self._quoted or self._introduced:
            return "the verdict in the reply stands inside a quotation"
        after = _WRAPPING.sub("", self._after)
        if not _has_words(after) or FAREWELL.fullmatch(after.strip()):
            return ""
        goes_on_elsewhere = after.lstrip(" \t`}*_.")[:1] == "\n" or EXPLAINS.match(after)
        if self._has_lead or not goes_on_elsewhere:
            return "the reply goes on after its verdict"
        return refusal_in(after)

    @property
    def _before(self) -> str:
        return self.text[: self.item.start]

    @property
    def _after(self) -> str:
        return self.text[self.item.end :]

    @property
    def _bare_before(self) -> str:
        """Return what stands before, without the opening of a code block."""
        return _WRAPPING.sub("", _FENCE.sub("", self._before))

    @property
    def _has_lead(self) -> bool:
        return _has_words(LABEL.sub("", self._bare_before))

    @property
    def _introduced(self) -> bool:
        """Tell whether the words before say that somebody else's words follow."""
        before = self._bare_before
        return not LABEL.search(before) and bool(INTRODUCES.search(before.rstrip("`*_ ")))

    @property
    def _quoted(self) -> bool:
        before, after = self._before, self._after
        own = _cut(before, self.others)
        return bool(
            _BLOCK_QUOTE.match(before[before.rfind("\n") + 1 :])
            or (_OPEN_QUOTE.search(before) and _CLOSE_QUOTE.match(after))
            or own[own.rfind("\n") + 1 :].count('"') % 2
            or _FOREIGN_FENCE.search(before)
            or _is_open(own)
        )


def refusal_in(text: str) -> str:
    """Say that a text takes back or disowns a verdict; nothing where it does not."""
    return "the reply takes its verdict back" if REFUSES.search(text) else ""


def tame(problem: str, material: Material) -> str:
    """Leave out of a problem, which a judge is told, what it would repeat of strangers' words."""

    def shown(match: re.Match[str]) -> str:
        inner = match[2].rstrip("…")
        return "another text" if len(inner) > _SHORT and material.holds_words(inner) else match[0]

    return _QUOTED_TEXT.sub(shown, problem)


def _is_open(before: str) -> bool:
    """Tell whether a quotation is open at the end of a text."""
    if any(before.rfind(opening) > before.rfind(closing) for opening, closing in _PAIRS):
        return True
    depth = 0
    for tag in _TAGS.finditer(before):
        depth = max(0, depth + (-1 if tag["end"] else 1))
    marks = [-1 if match[1] else 1 for match in _ECHOED.finditer(before)]
    return bool(
        depth
        or len(_LONG_FENCE.findall(before)) % 2
        or before.rfind("<!--") > before.rfind("-->")
        or sum(marks) > 0
    )


def _cut(text: str, others: Iterable[ParsedJson]) -> str:
    """Return a text without the objects in it."""
    parts, done = [], 0
    for other in others:
        if other.end <= len(text):
            parts.append(text[done : other.start])
            done = other.end
    return "".join([*parts, text[done:]])


def _has_words(text: str) -> bool:
    return re.search(r"\w", text) is not None


def _objects_in(value: Json) -> Iterator[Json]:
    """Yield an object with all that are inside it."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _comparable(value: Json) -> str:
    return json.dumps(plainly(value), sort_keys=True, ensure_ascii=False)


def _squeezed(text: str) -> str:
    return _SPACE.sub("", text).casefold()


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _UNESCAPED.get(match[1], match[1]), text)
