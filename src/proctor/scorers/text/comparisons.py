"""Plain comparisons of the answer with a text, a pattern or a number."""

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from math import isclose
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from proctor.contracts.plain_params import Before
from proctor.contracts.scorer import Probe, TextScorer
from proctor.core.score import ABSENT, CONTAINED, EQUAL, REFERENCE, Score
from proctor.core.suite import Case, Json
from proctor.late_patterns import late_pattern
from proctor.records import dataclass
from proctor.scorers.text.patterns import (
    MOST_FOLDED,
    example_of,
    find_pattern,
    find_text,
    pattern_problem,
)

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_ALIKE = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"',
        "\u2212": "-",  # a minus sign in typography
        "\u200b": " ", "\ufeff": " ",
    }
)  # fmt: skip
_PAIRS = (
    ("**", "**"), ("*", "*"), ("```", "```"), ("`", "`"), ('"', '"'), ("'", "'"),
    ("«", "»"), ("‹", "›"), ("„", '"'), ("「", "」"), ("『", "』"), ("《", "》"), ("〈", "〉"),
)  # fmt: skip
_CLOSING = ".,;:…。、，；："
_LOUD = "!?"
_THOUSANDS = late_pattern(r"(?<![\w.,])[-+]?[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_WHOLE_FLOAT = late_pattern(r"([-+]?\d+)\.0+")
_ARTICLE = late_pattern(r"(?:the |an? (?=\S*[^\W\d_]))(\S.+)", re.DOTALL)
_ARTICLES = frozenset({"a", "an", "the"})
_SIGNS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = late_pattern(
    rf"(?<!\w)[-+]?\d+(?:[.,]\d+)*(?!\w)|(?<!\w)\.\d+|[{_SIGNS}]|[^\W_{_SIGNS}]+[+#]*"
)
_WORD_BEGINS = late_pattern(r"(?<![^\W_])(?<!\d[.,])(?<![-+.](?=\d))")
_WORD_ENDS = late_pattern(r"(?![^\W_])(?![.,]\d)(?![+#])")
_NO_ARTICLE = late_pattern(
    r"a (?:major|minor|sharp|flat|priori|posteriori|cappella|la|level|levels|star)\b"
)


def normalised(text: str) -> str:
    """Return the form in which short answers are compared."""
    return _without_article(_numbers(_bare(_alike(text))))


def alike(text: str) -> str:
    """Return a text in one case and width, white space folded, its punctuation kept."""
    return _THOUSANDS.sub(_without_commas, _alike(text))


def has_reference(text: str, reference: str) -> bool:
    """Tell whether an answer has a reference in it, as words of its own."""
    return _has_words(alike(text), reference)


def _has_words(text: str, reference: str) -> bool:
    needle = _numbers(_bare(_alike(reference)))
    opens = needle[:1].isalnum() and needle[:1].isascii()
    closes = needle[-1:].isalnum() and needle[-1:].isascii()
    start = text.find(needle)
    while start >= 0:
        if (not opens or _WORD_BEGINS.match(text, start)) and (
            not closes or _WORD_ENDS.match(text, start + len(needle))
        ):
            return True
        start = text.find(needle, start + 1)
    return False


def tokens_of(text: str) -> Counter[str]:
    """Count the words of a text, without articles."""
    tokens = _TOKEN.findall(_numbers(_bare(_alike(text))))
    return Counter(token for token in tokens if token not in _ARTICLES) or Counter(tokens)


def _alike(text: str) -> str:
    plain = unicodedata.normalize("NFC", text).translate(_FULL_WIDTH).translate(_ALIKE)
    return " ".join(plain.split()).lower()


def _bare(text: str) -> str:
    """Take away quotes around a text and punctuation behind it, as long as something is left."""
    sayable = any(map(str.isalnum, text))
    while True:
        if (inner := _unquoted(text)) is not None:
            text = inner
            continue
        end = _end_without_marks(text) if sayable else len(text)
        if end == len(text):
            return text
        text = text[:end]


def _unquoted(text: str) -> str | None:
    for opening, closing in _PAIRS:
        if (
            text.startswith(opening)
            and text.endswith(closing)
            and len(text) > len(opening) + len(closing)
        ):
            inner = text[len(opening) : -len(closing)].strip()
            if inner and closing not in inner:
                return inner
    return None


def _end_without_marks(text: str) -> int:
    """Return where a text with a letter or digit ends without the punctuation behind it."""
    end = len(text)
    while True:
        for marks in (_CLOSING, _LOUD):
            shorter = _stripped_end(text, end, marks)
            if shorter != end and not (marks == _LOUD and _is_formula(text, shorter)):
                end = shorter
                break
        else:
            return end


def _stripped_end(text: str, end: int, marks: str) -> int:
    while end and text[end - 1] in marks:
        end -= 1
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _is_formula(text: str, end: int) -> bool:
    """Tell whether a mark behind a text that ends there would be a factorial or the like."""
    return not text[end - 1].isalpha() or end == 1 or text[end - 2].isspace()


def _numbers(text: str) -> str:
    text = _THOUSANDS.sub(_without_commas, text)
    whole = _WHOLE_FLOAT.fullmatch(text)
    return whole[1] if whole else text


def _without_commas(match: re.Match[str]) -> str:
    return match[0].replace(",", "")


def _without_article(text: str) -> str:
    match = _ARTICLE.fullmatch(text)
    return match[1] if match and not _NO_ARTICLE.match(text) else text


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


@dataclass(frozen=True)
class ExactMatch(TextScorer):
    """Pass when the answer equals one of the case's references.

    Case, white space, full-width forms, surrounding quotes, closing punctuation and a leading
    article do not count, nor do commas between thousands (``1,000``) and zeros behind the point
    (``3.0``). Signs, decimal points and the symbols of names do: ``C++`` is not ``C``.
    """

    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    version: ClassVar[str] = "2"
    fixed_marks: ClassVar[bool] = True
    lower_case_only: ClassVar[bool] = False
    """Whether texts are compared as they are, but for capitals (ß is not ss) and white space."""

    ignore_case: bool = False
    strip: bool = True
    """Whether white space around the answer is excused; without, every character counts."""
    strict: bool = False
    """Whether every character counts, but for what ``ignore_case`` and ``strip`` excuse."""

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        if not references:
            return Score.failed("the case has no reference to compare with", out_of=1.0)
        if self._normal(output) in [self._normal(reference) for reference in references]:
            return self._scored(1.0, "equals a reference", EQUAL)
        missed = f"is not {_or(references)}"
        text = alike(output)
        if any(_has_words(text, reference) for reference in references):
            return self._scored(0.0, f"{missed}, but contains it", CONTAINED)
        return self._scored(0.0, missed, ABSENT)

    def probes(self, case: Case) -> Iterable[Probe]:
        return [Probe(kind="reference", answer=reference) for reference in case.references]

    @staticmethod
    def _scored(points: float, reason: str, relation: str) -> Score:
        return Score(points=points, out_of=1.0, reason=reason, detail={REFERENCE: relation})

    def _normal(self, text: str) -> str:
        if self.strip and not self.strict and not self.lower_case_only:
            same = normalised(text)
            return same.casefold() if self.ignore_case else same
        text = text.strip() if self.strip else text
        if self.lower_case_only and self.ignore_case:
            return text.lower()
        return text.casefold() if self.ignore_case else text


if TYPE_CHECKING:  # what people write
    Texts = str | Sequence[str]
else:
    Texts = Annotated[tuple[str, ...], Before(_listed)]


@dataclass(frozen=True)
class Contains(TextScorer):
    """Pass when the answer contains all of the texts, or any of them, and ``none`` of others.

    ``any: references`` (or ``all: references``, or just ``references``) looks for the case's
    references, as words of their own, whatever their case and width. Any of some texts is
    ``{texts: [Paris, Lutetia], all: false}``, to which ``none: sorry`` may be added.
    """

    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True

    texts: Texts = ()
    all: bool | Literal["references"] = True
    any: Literal["references"] | None = None
    ignore_case: bool = False
    none: Texts = ()
    """Texts that the answer may not contain."""

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        unwanted = [text for text in self._none if self._finds(output, text)]
        if unwanted:
            return Score(points=0.0, out_of=1.0, reason=f"contains {_or(unwanted[:1])}")
        if self._none and not self._texts and not self._by_references:
            return Score(points=1.0, out_of=1.0, reason=f"does not contain {_or(self._none)}")
        if self._by_references:
            return self._among_references(output, references)
        spans = [find_text(output, text, ignore_case=self.ignore_case) for text in self._texts]
        matched = [span is not None for span in spans]
        hit = all(matched) if self.all else any(matched)
        missing = [text for text, ok in zip(self._texts, matched, strict=True) if not ok]
        reason = "contains what is wanted" if hit else f"does not contain {_or(missing)}"
        rows = [
            {"text": text, "span": None if span is None else list(span)}
            for text, span in zip(self._texts, spans, strict=True)
        ]
        return Score(points=float(hit), out_of=1.0, reason=reason, detail={"texts": rows})

    def takes_long(self, output: str, references: tuple[str, ...]) -> bool:
        folded = sum(map(len, (*self._texts, *self._none))) if self.ignore_case else 0
        return super().takes_long(output, references) or folded * len(output) > MOST_FOLDED

    def problems(self) -> Iterable[str]:
        if self._by_references and self._texts:
            yield "either texts or references are looked for, not both"
        if not (self._texts or self._none or self._by_references):
            yield "no text is given"
        if "" in self._texts or "" in self._none:
            yield "an empty text is contained in every answer"

    @classmethod
    def meant_by(cls, params: Mapping[str, Json]) -> str:
        """Say where texts stand that are written under ``any`` or ``all``."""
        for name in ("any", "all"):
            texts = params.get(name)
            if isinstance(texts, str | list) and texts != "references" and "texts" not in params:
                from proctor.scorers.structured.json_schemas import flow_text

                wanted: dict[str, Json] = {"texts": [texts] if isinstance(texts, str) else texts}
                rest = {key: value for key, value in params.items() if key not in ("any", "all")}
                choice: dict[str, Json] = {"all": False} if name == "any" else {}
                return f"write 'contains: {flow_text({**wanted, **choice, **rest})}'"
        return ""

    def probes(self, case: Case) -> Iterable[Probe]:
        texts = case.references if self._by_references else self._texts
        return [Probe(kind="stuffing", answer="\n".join(texts))] if texts else []

    @property
    def _texts(self) -> tuple[str, ...]:
        return (self.texts,) if isinstance(self.texts, str) else tuple(self.texts)

    @property
    def _none(self) -> tuple[str, ...]:
        return (self.none,) if isinstance(self.none, str) else tuple(self.none)

    def _finds(self, output: str, text: str) -> bool:
        return find_text(output, text, ignore_case=self.ignore_case) is not None

    @property
    def _by_references(self) -> bool:
        return self.any is not None or self.all == "references"

    def _among_references(self, output: str, references: tuple[str, ...]) -> Score:
        if not references:
            return Score.failed("the case has no reference to look for", out_of=1.0)
        text = alike(output)
        missing = [reference for reference in references if not _has_words(text, reference)]
        hit = not missing if self.any is None else len(missing) < len(references)
        reason = "contains what is wanted" if hit else f"does not contain {_or(missing)}"
        return Score(points=float(hit), out_of=1.0, reason=reason)


@dataclass(frozen=True)
class TokenF1(TextScorer):
    """Give the F1 of the words that the answer shares with a reference, the best one counting.

    Words are compared in one case and width, without punctuation and articles; Chinese and
    Japanese by the sign; a number with its sign and its decimals is one word.
    """

    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        if not references:
            return Score.failed("the case has no reference to compare with", out_of=1.0)
        answer = tokens_of(output)
        pairs = [(_f1(answer, tokens_of(reference)), reference) for reference in references]
        best, reference = max(pairs, key=lambda pair: pair[0])
        return Score(points=best, out_of=1.0, reason=f"F1 {best:.2f} with {_or([reference])}")

    def probes(self, case: Case) -> Iterable[Probe]:
        return [Probe(kind="reference", answer=reference) for reference in case.references]


def _f1(answer: "Counter[str]", reference: "Counter[str]") -> float:
    if not answer or not reference:
        return float(answer == reference)
    shared = (answer & reference).total()
    return 2 * shared / (answer.total() + reference.total())


@dataclass(frozen=True)
class Matches(TextScorer):
    """Pass when a regular expression matches somewhere in the answer, or all of it."""

    time_limit: ClassVar[float] = 3.0
    fixed_marks: ClassVar[bool] = True

    pattern: str
    ignore_case: bool = False
    full: bool = False

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        pattern = rf"\A(?:{self.pattern})\Z" if self.full else self.pattern
        span = find_pattern(output, pattern, ignore_case=self.ignore_case)
        reason = f"/{self.pattern}/ {'matches' if span else 'does not match'}"
        detail = {"span": None if span is None else list(span)}
        return Score(points=float(span is not None), out_of=1.0, reason=reason, detail=detail)

    def problems(self) -> Iterable[str]:
        if (problem := pattern_problem(self.pattern)) is not None:
            yield problem

    def probes(self, case: Case) -> Iterable[Probe]:
        try:
            return [Probe(kind="stuffing", answer=example_of(self.pattern))]
        except ValueError:
            return []


_NUMBER = late_pattern(
    r"[-+−]?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII
)


@dataclass(frozen=True)
class Number(TextScorer):
    """Pass when the last number in the answer equals a value."""

    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True

    value: float
    tolerance: float = 1e-9

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        last = last_number(output)
        if last is None:
            return Score(points=0.0, out_of=1.0, reason="the answer contains no number")
        number, span = last
        hit = isclose(number, self.value, rel_tol=self.tolerance, abs_tol=self.tolerance)
        comparison = "as wanted" if hit else f"not {self.value:g}"
        reason = f"the last number is {number:g}, {comparison}"
        return Score(points=float(hit), out_of=1.0, reason=reason, detail={"span": list(span)})

    def probes(self, case: Case) -> Iterable[Probe]:
        return [Probe(kind="reference", answer=repr(self.value))]


def last_number(text: str) -> tuple[float, tuple[int, int]] | None:
    """Return the last number of a text with its place; thousands may be grouped by commas."""
    matches = deque(_NUMBER.finditer(text), maxlen=1)
    if not matches:
        return None
    last = matches[0]
    return float(last[0].replace(",", "").replace("−", "-")), last.span()


def _or(texts: Iterable[str]) -> str:
    shown = [repr(text if len(text) <= 40 else text[:39] + "…") for text in texts]
    return " or ".join(shown[:5]) + (" …" if len(shown) > 5 else "")
