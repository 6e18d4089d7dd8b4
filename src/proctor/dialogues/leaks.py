"""What a simulated user must not say: the expected answer, and points that nobody asked for.

Nothing here asks a model. All of it errs on the side of silence: what could have been known from
the question, the private knowledge or the conversation is never taken for a leak.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_LEAD = re.compile(
    r"^(?:(?:so|thus|hence|therefore)\W+)?(?:the\s+)?(?:correct\s+|final\s+|right\s+)?answer"
    r"(?:\s+is|\s*:)\s*:?\s*|^(?:正确|标准|最终)?答案(?:是|为|：|:)\s*",
    re.IGNORECASE,
)
_EDGES = " \t\r\n.,;:!?。，；：！？\"'`$*"
_COMMON = re.compile(
    r"yes|no|true|false|none|all|both|neither|(?:in)?valid|(?:im)?possible|(?:im)?plausible"
    r"|(?:in)?correct|right|wrong|是|否|对|错|有|无"
)
_DEFINITION = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*=\s*([-+]?\$?\d[\d.,]*|[A-Za-z][\w-]*)")
_WORD = re.compile(r"[a-z0-9]{3,}|[\u4e00-\u9fff]{2}")
_CJK = re.compile(r"[\u4e00-\u9fff]")
_STOP = re.compile(
    r"the|and|for|with|that|this|what|which|values?|exact|numbers?|type|kind|name|specific"
    r"|preferred|user|amount|details?|information|required|any|your|you|its|are|how|many|much"
    r"|between|from|into|whether"
)
_OPEN = re.compile(
    r"anything else|everything|any(?:thing)? (?:other|more|further|additional)|details|all (?:of )?"
    r"the|more (?:about|info|detail)|missing|complete|full (?:question|problem)|context"
    r"|provide (?:more|additional|further)|其他|所有|更多|完整|缺少|补充|全部|详细",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unasked:
    """A point that the user revealed without being asked, and the evidence for it."""

    point: str
    evidence: str
    """``judge`` where the judge said what was asked for, ``words`` where only words tell."""


def gives_away(text: str, answer: str, shown: Iterable[str]) -> bool:
    """Tell whether a text contains the answer where none of the known texts does."""
    core = _LEAD.sub("", answer.strip()).strip(_EDGES)
    if (boxed := re.fullmatch(r"\\boxed\s*\{(.*)\}", core, re.DOTALL)) is not None:
        core = boxed[1].strip(_EDGES)
    if not core:
        return False
    if _is_common(core):
        pattern = _stated(core)
        return pattern.search(text) is not None and not any(pattern.search(t) for t in shown)
    return says(text, core) and not any(says(other, core) for other in shown)


def says(text: str, what: str) -> bool:
    """Tell whether a text contains another as a token of its own."""
    pattern = r"\s+".join(re.escape(part) for part in what.split())
    if not pattern:
        return False
    before = r"(?<![A-Za-z0-9_])(?<!\d[.,])" if re.match(r"\w", what, re.ASCII) else ""
    after = r"(?![A-Za-z0-9_]|[.,]\d)" if re.search(r"\w$", what, re.ASCII) else ""
    return re.search(before + pattern + after, text, re.IGNORECASE) is not None


def values_of(points: Sequence[str], answers: Sequence[str] | None, info: str) -> Mapping[str, str]:
    """Return the values of those points whose value can be told apart from all others.

    A value is the answer on file for a point, or what ``info`` defines as ``NAME = value`` where
    exactly one point speaks of that name.
    """
    by_point: dict[str, str] = {}
    if answers is not None:
        by_point = {point: str(value) for point, value in zip(points, answers, strict=False)}
    for name, value in _DEFINITION.findall(info):
        speaking = [point for point in points if re.search(rf"\b{re.escape(name)}\b", point)]
        if len(speaking) == 1:
            by_point.setdefault(speaking[0], value)
    stripped = {point: value.strip(_EDGES) for point, value in by_point.items()}
    values = list(stripped.values())
    return {
        point: value
        for point, value in stripped.items()
        if value and not _is_common(value) and values.count(value) == 1
    }


def unasked(
    text: str,
    values: Mapping[str, str],
    *,
    asked_points: Sequence[str] | None,
    questions: Sequence[str],
    shown: Sequence[str],
) -> list[Unasked]:
    """Return the points whose value a text tells though nobody asked for them.

    Where the judge said what was asked for, that decides. Otherwise words do, and only where the
    last question is plainly about some point and not a general one.
    """
    new = [
        point
        for point, value in values.items()
        if says(text, value) and not any(says(other, value) for other in shown)
    ]
    if asked_points is not None:
        return [
            Unasked(point=point, evidence="judge") for point in new if point not in asked_points
        ]
    last = questions[-1] if questions else ""
    if _OPEN.search(last) or not any(_is_about(last, point) for point in values):
        return []
    return [
        Unasked(point=point, evidence="words")
        for point in new
        if not any(_is_about(question, point) for question in questions)
    ]


def _is_common(text: str) -> bool:
    """Tell whether a text is so short or common that its mere presence says nothing."""
    bare = text.strip("()[] ").casefold()
    return (len(bare) < 2 and not bare.isdigit()) or _COMMON.fullmatch(bare) is not None


def _stated(core: str) -> re.Pattern[str]:
    bare = re.escape(core.strip("()[] "))
    return re.compile(
        rf"(?:answer|option|choice|result|答案|选项|应选|选择)[^.\n。]{{0,24}}?"
        rf"(?<![A-Za-z0-9_]){bare}(?![A-Za-z0-9_])",
        re.IGNORECASE,
    )


def _is_about(question: str, point: str) -> bool:
    """Tell whether a question shares a telling word with a point, endings apart."""
    words = {word for word in _WORD.findall(point.casefold()) if not _STOP.fullmatch(word)}
    question_words = _WORD.findall(question.casefold())
    if _CJK.search(point):
        return any(word in question for word in words)
    return any(word[:5] == other[:5] for word in words for other in question_words)
