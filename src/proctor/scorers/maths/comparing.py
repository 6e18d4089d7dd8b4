"""Mathematical equality by math-verify, with the ways of writing that it does not know."""

import importlib
import logging
import re
import threading
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from proctor.core.score import Score
from proctor.scorers.maths import forms
from proctor.scorers.text.final_answer import boxed, extracted, phrased

PARSE_SECONDS, COMPARE_SECONDS = 2, 3
MOST = 4000
"""Characters of an expression; a longer one is not read as mathematics."""
_TOWER = re.compile(
    r"\^[^+\-=,]{0,12}\^[^+\-=,]{0,12}\^|\^\s*[{(]*\s*\d{5,}|\d{5,}[)}\s]*!|!\s*[)}]*\s*!"
)
_POWER = re.compile(r"\^\s*[{(]*\s*(\d+)\s*\^\s*[{(]*\s*(\d+)")
_IS = re.compile(r"\b(?:is|are|was|equals?|be|gives?|get|have|has|total(?:s|ing)?)\b\s*:?|=")
_MATH = re.compile(r"(?<!\\)\$\$?([^$]+?)(?<!\\)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.S)
_COMMAND = re.compile(r"\\[A-Za-z]+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_VERB = re.compile(r"\b(?:is|are|was|equals?|thus|therefore|hence|so|gives?|get)\b", re.I)
_BOTH_SIGNS = r"\pm"
_ASIDE = re.compile(r"\s+\((?:since|because|as|which|where|i\.e\.|e\.g\.|approx\w*|about)\b.*\)?\Z")


def missing_library() -> Iterable[str]:
    """Say how to get math-verify where it is not installed."""
    if find_spec("math_verify") is None:
        yield "mathematics needs math-verify (fix: pip install 'proctor[maths]')"


def score_of(output: str, references: Sequence[str], *, extract: bool = True) -> Score:
    """Score an answer; the detail says whether both sides could be read as mathematics."""
    if not references:
        return Score.failed("the case has no reference to compare with", out_of=1.0)
    answer = final_expression(output) if extract else output
    verdicts = [equal(answer, reference) for reference in references]
    hit = True in verdicts
    readable = hit or None not in verdicts
    shown = answer if len(answer) <= 80 else answer[:79] + "…"
    if hit:
        reason = f"{shown!r} equals a reference"
    elif readable:
        reason = f"{shown!r} does not equal {references[0]!r}"
    else:
        reason = f"{shown!r} could not be compared with {references[0]!r} as mathematics"
    detail = {"answer": answer, "readable": readable}
    return Score(points=float(hit), out_of=1.0, reason=reason, detail=detail)


def final_expression(text: str) -> str:
    """Return the expression that an answer ends with; a bare expression is returned whole."""
    marked = boxed(text) or phrased(text)
    if marked:
        return _ASIDE.sub("", forms.bare(marked))
    if _is_expression(text):
        return forms.bare(text)
    sentence = [part for part in _SENTENCE.split(text.strip()) if part.strip()][-1:]
    stated = _stated(sentence[0]) if sentence else ""
    if stated:
        return stated
    spans = [next(filter(None, match.groups())) for match in _MATH.finditer(text)]
    if spans:
        return forms.bare(spans[-1])
    return forms.bare(extracted(text) or text)


def _stated(sentence: str) -> str:
    """Return the expression that a sentence says something is; the last of several."""
    verbs = list(_IS.finditer(sentence))
    words = [verb for verb in reversed(verbs) if verb[0] != "="]
    for verb in [*words, *verbs[:1]]:
        rest = forms.bare(sentence[verb.end() :])
        if rest and _is_expression(rest) and (_has_value(rest) or not _has_value(sentence)):
            return _ASIDE.sub("", rest)
    return ""


def equal(answer: str, reference: str) -> bool | None:
    """Tell whether two expressions are equal; none where one cannot be read as mathematics."""
    left, right = forms.bare(answer), forms.bare(reference)
    if not left or not right:
        return False
    if forms.close(left) == forms.close(right):
        return True
    if max(len(left), len(right)) > MOST:
        return None
    for compare in (_as_numbers, _as_words, _as_quantities):
        verdict = compare(left, right)
        if verdict is not None:
            return verdict
    left, right = forms.written(left, right), forms.written(right, left)
    if _too_large(left) or _too_large(right):
        return None
    if _BOTH_SIGNS in left and _BOTH_SIGNS in right:
        signs = (("+", "-"), ("-", "+"))
        verdicts = [_verified(_signed(left, *pair), _signed(right, *pair)) for pair in signs]
        return verdicts[0] if verdicts[0] == verdicts[1] else False
    return _verified(left, right)


def _signed(text: str, upper: str, lower: str) -> str:
    return text.replace(_BOTH_SIGNS, upper).replace(r"\mp", lower)


def _too_large(text: str) -> bool:
    """Tell whether calculating this would fill the memory before anyone could interrupt it."""
    if _TOWER.search(text):
        return True
    return any(
        len(power[2]) > 4 or int(power[2]) * len(power[1]) > 5 for power in _POWER.finditer(text)
    )


def _as_numbers(left: str, right: str) -> bool | None:
    """Compare plain numbers exactly; with one percent sign, 50% is both 0.5 and 50."""
    shares = forms.percent(left), forms.percent(right)
    values = forms.plain_number(left), forms.plain_number(right)
    if shares[0] is not None and shares[1] is not None:
        return shares[0] == shares[1]
    if None not in values:
        return values[0] == values[1]
    share = shares[0] if shares[0] is not None else shares[1]
    value = values[0] if values[0] is not None else values[1]
    if value is None:
        return None
    if share is not None:
        return value in (share, share / 100)
    things = forms.counted_things(right if values[0] is not None else left)
    return None if things is None else things == value


def _as_words(left: str, right: str) -> bool | None:
    """Compare names and the letters of choices, neither of which is mathematics."""
    letters = forms.choice_letter(left), forms.choice_letter(right)
    if all(letters):
        return letters[0] == letters[1]
    words = forms.words_alone(left), forms.words_alone(right)
    return True if all(words) and words[0] == words[1] else None


def _as_quantities(left: str, right: str) -> bool | None:
    """Compare numbers of which both have a known unit."""
    one, other = forms.quantity(left), forms.quantity(right)
    if one is None or other is None:
        return None
    if one.kind != other.kind:
        return False
    if one.size == other.size:
        return equal(one.number, other.number)
    values = forms.plain_number(one.number), forms.plain_number(other.number)
    if values[0] is None or values[1] is None:
        return None
    scaled: tuple[Fraction, Fraction] = (values[0] * one.size, values[1] * other.size)
    return scaled[0] == scaled[1]


def _verified(left: str, right: str) -> bool | None:
    """Let math-verify compare, each step within seconds where the process can be interrupted."""
    library = _library()
    main = threading.current_thread() is threading.main_thread()
    patience = (PARSE_SECONDS, COMPARE_SECONDS) if main else (None, None)
    try:
        parsed = [
            library.parse(f"${side}$", parsing_timeout=patience[0], raise_on_error=True)
            for side in (right, left)
        ]
    except library.TimeoutException:
        return None
    except Exception:  # noqa: BLE001 - a parser of other people's expressions raises anything
        return None
    pairs = [(gold, target) for gold in parsed[0] for target in parsed[1]]
    read = [not isinstance(gold, str) and not isinstance(target, str) for gold, target in pairs]
    verdicts = []
    for gold, target in pairs:
        verdicts.append(_same(gold, target, patience[1]))
        if verdicts[-1]:
            return True
    # Texts that math-verify falls back to may show that two sides are equal, never that not.
    sure = [verdict is False for verdict, both in zip(verdicts, read, strict=True) if both]
    return False if sure and all(sure) else None


def _same(gold: Any, target: Any, seconds: int | None) -> bool | None:
    library = _library()
    try:
        verdict = library.verify(
            gold,
            target,
            timeout_seconds=seconds,
            raise_on_error=True,
            allow_set_relation_comp=True,
        )
    except library.TimeoutException:
        return None
    except Exception:  # noqa: BLE001 - SymPy raises anything on expressions it cannot compare
        return None
    return bool(verdict)


class _Library:
    """The parts of math-verify, imported when first used."""

    def __init__(self) -> None:
        library = importlib.import_module("math_verify")
        errors = importlib.import_module("math_verify.errors")
        logging.getLogger("math_verify").setLevel(logging.CRITICAL)
        self.parse, self.verify = library.parse, library.verify
        self.TimeoutException: type[BaseException] = errors.TimeoutException


@cache
def _library() -> _Library:
    return _Library()


@cache
def library_versions() -> str:
    """Return the versions of what compares formulas."""
    versions = []
    for name in ("math-verify", "sympy", "latex2sympy2-extended"):
        try:
            versions.append(f"{name}-{version(name)}")
        except PackageNotFoundError:
            continue
    return " ".join(versions)


def _has_value(text: str) -> bool:
    return re.search(r"[\d\\$]", text) is not None or forms.number_words(text) is not None


def _is_expression(text: str) -> bool:
    """Tell an expression, perhaps with a unit or a name, from a sentence."""
    if "\n" in text.strip() or len(text) > 400:
        return "\\begin" in text and len(_WORD.findall(_COMMAND.sub(" ", text))) <= 6
    words = _WORD.findall(_COMMAND.sub(" ", re.sub(r"\\(?:begin|end)\{\w+\}", " ", text)))
    few = len(words) <= 3 and not _VERB.search(text)
    return few or forms.number_words(text) is not None
