"""How people write the same mathematics: plain numbers, number words, percent, units."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

_SCIENTIFIC = re.compile(r"(?<![\w.\\])(\d+(?:\.\d+)?|\.\d+)[eE]([-+]?\d{1,3})(?![\w.^])")
_POWER = re.compile(
    r"\A([-+]?(?:\d+(?:\.\d*)?|\.\d+))(?:\\times|\\cdot|[×·*x])10\^\{?([-+]?\d{1,3})\}?\Z"
)
_NUMERAL = re.compile(r"\A[-+]?(?:\d+(?:\.\d*)?|\.\d+)\Z", re.ASCII)
_SLASHED = re.compile(r"\A([-+]?\d+)/(\d+)\Z", re.ASCII)
_FRACTION = re.compile(r"\A([-+]?)\\[dtc]?frac(?:\{(-?\d+)\}\{(-?\d+)\}|(\d)(\d))\Z", re.ASCII)
_GROUPED = re.compile(r"(?<![\d.])(\d{1,3}(?:(?:,|\{,\}|,\\!|\\,|\\!)\d{3})+)(?![\d])")
_IMAGINARY = r"(?<![A-Za-z\\]){}(?![A-Za-z])"
_PERCENT = re.compile(r"\s*(?:\\?%|\\?\bper\s?cent\b)", re.I)
_LAYOUT = re.compile(r"\\(?:left|right|displaystyle|limits|,|;|:|!|quad|qquad)(?![A-Za-z])|~")
_TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox|operatorname)\s*\{([^{}]*)\}"
)
_MAGNITUDE = 400
_SIGNS: Mapping[str, str] = {
    "**": "^", "<=": r"\le ", ">=": r"\ge ", "≤": r"\le ", "≥": r"\ge ", "π": r"\pi ",
    "∞": r"\infty ", "×": r"\times ", "÷": r"\div ", "·": r"\cdot ", "−": "-", "∈": r"\in ",
    "∪": r"\cup ", "∅": r"\emptyset ", r"\varnothing": r"\emptyset", "²": "^2", "³": "^3",
    "½": r"\frac{1}{2}", "±": r"\pm ", "°": r"^\circ",
}  # fmt: skip
_FUNCTION = re.compile(
    r"(?<![\\A-Za-z{])(?:sin|cos|tan|cot|sec|csc|log|ln|exp|pi|infty|infinity)(?![A-Za-z}])"
)
_MIXED = re.compile(r"\A([-+]?)(\d+)\s+(\d+)\s*/\s*(\d+)\Z", re.ASCII)
_SPACED = re.compile(r"(?<![\d.])\d{1,3}(?: \d{3})+(?!\d)")
_THINGS = re.compile(r"\A(.*?[^\s,])\s+((?:[^\W\d_]{2,}[\s,]*)+)\Z")
_NOT_THINGS = {
    "and", "or", "mod", "percent", "hundred", "thousand", "million", "billion", "dozen", "half",
    "squared", "cubed", "factorial", "to", "point", "over", "times", "plus", "minus", "by",
    "divided", "negative",
}  # fmt: skip

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
}
_SCALES: Mapping[str, int] = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_PARTS: Mapping[str, int] = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6,
    "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip

_UNITS: Mapping[str, Mapping[str, Fraction]] = {
    "length": {
        "mm millimeter millimetre": Fraction(1, 1000),
        "cm centimeter centimetre": Fraction(1, 100),
        "dm decimeter decimetre": Fraction(1, 10),
        "m meter metre": Fraction(1),
        "km kilometer kilometre": Fraction(1000),
        "in inch inches": Fraction(254, 10000),
        "ft foot feet": Fraction(3048, 10000),
        "yd yard": Fraction(9144, 10000),
        "mi mile": Fraction(1609344, 1000),
    },
    "mass": {
        "mg milligram": Fraction(1, 1000),
        "g gram": Fraction(1),
        "kg kilogram": Fraction(1000),
        "lb lbs pound": Fraction(45359237, 100000),
        "oz ounce": Fraction(45359237, 1600000),
    },
    "time": {
        "ms millisecond": Fraction(1, 1000),
        "s sec second": Fraction(1),
        "min minute": Fraction(60),
        "h hr hour": Fraction(3600),
        "day": Fraction(86400),
        "week": Fraction(604800),
    },
    "volume": {
        "ml millilitre milliliter": Fraction(1, 1000),
        "l litre liter": Fraction(1),
    },
    "money": {"cent": Fraction(1, 100), "dollar": Fraction(1)},
    "angle": {"degree": Fraction(1)},
}
_UNIT_BY_NAME: Mapping[str, tuple[str, Fraction]] = {
    word: (kind, size)
    for kind, rows in _UNITS.items()
    for words, size in rows.items()
    for name in words.split()
    for word in (name, f"{name}s" if len(name) > 2 else name)
}
_QUANTITY = re.compile(
    r"\A(?P<number>.*?[\d)}])\s*(?P<power>square|sq\.?|cubic)?\s*(?P<unit>[A-Za-z]+)\.?"
    r"\s*(?:\^?\{?(?P<raised>[23])\}?|(?P<sign>[²³]))?\Z"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number with a known unit."""

    number: str
    kind: str
    size: Fraction


def bare(text: str) -> str:
    """Take off what surrounds an expression: math signs, layout, a full stop."""
    text = " ".join(text.split())
    text = re.sub(r"(?<!\\)\$|\\[()](?![A-Za-z])|\\[\[\]]", "", text)
    text = re.sub(r"\A(?:\*\*|__)|(?:\*\*|__)\Z", "", text.strip())
    return text.strip().rstrip(".。").strip()


def close(text: str) -> str:
    """Take out the spaces that separate nothing."""
    return re.sub(r"(?<!\w)\s+|\s+(?!\w)", "", text)


def written(text: str, other: str) -> str:
    """Write an expression as math-verify reads it; the other side may settle what is meant."""
    text = _SCIENTIFIC.sub(lambda m: rf"{m[1]}\times10^{{{int(m[2])}}}", text)
    text = typed(_PERCENT.sub(r"\\%", text))
    words = number_words(text)
    if words is not None:
        return str(words)
    j, i = (re.compile(_IMAGINARY.format(letter)) for letter in "ji")
    if j.search(text) and not i.search(text) and i.search(other) and not j.search(other):
        text = j.sub("i", text)
    member = re.match(r"\A[A-Za-z]\s*\\in\s*(.+)\Z", text)
    if member and r"\in" not in other.replace(r"\infty", ""):
        text = member[1]
    return text


def typed(text: str) -> str:
    """Write in LaTeX what was typed as plain text: signs, functions, powers."""
    for sign, command in _SIGNS.items():
        text = text.replace(sign, command)
    text = re.sub(r"(?<![\\A-Za-z])sqrt\s*\(([^()]*)\)", r"\\sqrt{\1}", text)
    return _FUNCTION.sub(r"\\\g<0> ", text)


def plain_number(text: str) -> Fraction | None:
    """Return the exact value of a plain number: digits, a fraction, a power of ten, words."""
    text = (
        _LAYOUT.sub("", ungrouped(text)).replace("−", "-").strip().lstrip("$").removeprefix(r"\$")
    )
    words = number_words(text)
    if words is not None:
        return words
    if match := _MIXED.match(text):
        return _mixed(match) if len(text) <= _MAGNITUDE else None
    text = _SPACED.sub(lambda m: m[0].replace(" ", ""), text)
    text = _SCIENTIFIC.sub(r"\1*10^\2", text)
    text = re.sub(r"\s+(?!\d)|(?<!\d)\s+", "", text)
    if _NUMERAL.match(text):
        return Fraction(text.rstrip(".")) if len(text) <= _MAGNITUDE else None
    if (match := _SLASHED.match(text)) and len(text) <= _MAGNITUDE and int(match[2]):
        return Fraction(int(match[1]), int(match[2]))
    if (match := _POWER.match(text)) and len(text) <= _MAGNITUDE:
        return Fraction(match[1].rstrip(".")) * Fraction(10) ** int(match[2])
    return _fraction(text)


def counted_things(text: str) -> Fraction | None:
    """Return the number in a text that goes on with words for what is counted."""
    match = _THINGS.match(_TEXT.sub(r" \1 ", text).strip())
    if match is None or _NOT_THINGS & set(match[2].lower().replace(",", " ").split()):
        return None
    return plain_number(match[1])


def _mixed(match: re.Match[str]) -> Fraction | None:
    whole, above, below = int(match[2]), int(match[3]), int(match[4])
    if not below:
        return None
    return (whole + Fraction(above, below)) * (-1 if match[1] == "-" else 1)


def _fraction(text: str) -> Fraction | None:
    match = _FRACTION.match(text) if len(text) <= _MAGNITUDE else None
    if match is None:
        return None
    above, below = int(match[2] or match[4]), int(match[3] or match[5])
    if below == 0:
        return None
    return Fraction(-above if match[1] == "-" else above, below)


def percent(text: str) -> Fraction | None:
    """Return the number before a percent sign or word at the end of a text."""
    match = re.search(_PERCENT.pattern + r"\Z", text.strip(), re.I)
    return plain_number(text.strip()[: match.start()]) if match else None


def ungrouped(text: str) -> str:
    """Take the commas out of numbers like 1,234,567; a list like 1,234,5 is left alone."""
    return _GROUPED.sub(lambda m: re.sub(r"\D", "", m[1]), text)


def quantity(text: str) -> Quantity | None:
    """Split a text into its number and a unit that is known."""
    match = _QUANTITY.match(_LAYOUT.sub(" ", _TEXT.sub(r" \1", text)).strip())
    if match is None:
        return None
    unit = match["unit"]
    kind_and_size = _UNIT_BY_NAME.get(unit if len(unit) == 1 else unit.lower())
    number = match["number"].strip()
    if kind_and_size is None or (len(unit) == 1 and plain_number(number) is None):
        return None
    kind, size = kind_and_size
    raised = _raised(match)
    return Quantity(number=number, kind=f"{kind}^{raised}", size=size**raised)


def words_alone(text: str) -> str:
    """Return a text of words without its layout, in one case; empty where it is mathematics."""
    text = _TEXT.sub(r"\1", text).strip()
    letters = re.fullmatch(r"[^\W\d_][^\W\d_ '-]+(?:[ '-][^\W\d_]+)*", text)
    return " ".join(text.casefold().split()) if letters else ""


def choice_letter(text: str) -> str:
    """Return the letter of a choice, with or without parentheses."""
    match = re.fullmatch(r"\(?\s*([A-J])\s*[).]?", _TEXT.sub(r"\1", text).strip())
    return match[1] if match else ""


def number_words(text: str) -> Fraction | None:
    """Return the value of a number in English words."""
    words = re.sub(r"[-,]", " ", _TEXT.sub(r"\1", text).lower()).split()
    sign = 1
    if words and words[0] in ("minus", "negative"):
        sign, words = -1, words[1:]
    part = 1
    if words and (below := _PARTS.get(words[-1]) or _PARTS.get(words[-1].removesuffix("s"))):
        part, words = below, [word for word in words[:-1] if word not in ("a", "an")] or ["one"]
    value = _counted(words)
    return None if value is None else sign * Fraction(value, part)


def _counted(words: list[str]) -> int | None:
    total = group = 0
    last = ""
    for word in words:
        if word in _WORDS:
            small = _WORDS[word] < 10 and last in _TENS
            if last in _WORDS and not small:
                return None
            group += _WORDS[word]
        elif word == "hundred" and 0 < group < 100:
            group *= 100
        elif word in _SCALES and group:
            total, group = total + group * _SCALES[word], 0
        elif word != "and" or last in ("", "and") or last in _WORDS:
            return None
        last = word
    return total + group if last in _WORDS or last in _SCALES or last == "hundred" else None


def _raised(match: re.Match[str]) -> int:
    if match["raised"]:
        return int(match["raised"])
    if match["sign"]:
        return "²³".index(match["sign"]) + 2
    before = (match["power"] or "").lower()
    return 3 if before == "cubic" else 2 if before else 1
