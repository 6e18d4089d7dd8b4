"""Expressions of the command line: what they can say, and all they cannot."""

import pytest

from proctor.core.expression import Expression, Several
from proctor.errors import UsageError

NAMES = {
    "rate": {"value": 0.6, "low": 0.5, "high": 0.7},
    "score": 12,
    "lang": "python",
    "topics": Several(["a", "b"]),
    "nothing": None,
    "unknown": {"value": None, "low": None, "high": None},
    "group": {"easy": {"value": 1.0}},
    "flag": True,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rate >= 0.6", True),
        ("rate > 0.6", False),
        ("rate.low >= 0.5", True),
        ("rate.high < 0.5", False),
        ("0.5 < rate < 0.7", True),
        ("0.5 < rate < 0.55", False),
        ("score == 12 and rate > 0.1", True),
        ("score != 12 or rate > 0.9", False),
        ("not score == 12", False),
        ("score * 2 - 4 == 20", True),
        ("score / 5 > 2", True),
        ("rate * 100 >= 60", True),
        ("-rate < 0", True),
        ("rate.high - rate.low < 0.3", True),
        ("-score < 0", True),
        ("lang == 'python'", True),
        ("lang != 'python'", False),
        ("lang in ['java', 'python']", True),
        ("lang not in ('java', 'r')", True),
        ("'th' in lang", True),
        ("topics == 'a'", True),
        ("topics == 'c'", False),
        ("topics != 'a'", False),
        ("topics != 'c'", True),
        ("'b' in topics", True),
        ("group.easy >= 1", True),
        ("group.easy.value >= 1", True),
        ("flag", True),
        # what is not known fulfils nothing
        ("nothing > 1", False),
        ("nothing < 1", False),
        ("nothing == 1", False),
        ("nothing != 1", True),
        ("unknown >= 0", False),
        ("unknown.low >= 0", False),
        ("unknown * 2 >= 0", False),
        ("-unknown <= 0", False),
        ("score.inner == 1", False),
    ],
)
def test_values(text: str, expected: bool) -> None:
    assert Expression(text).holds(NAMES) is expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rate >=",
        "rate = 1",
        "a; b",
        "print(1)",
        "().__class__.__bases__[0]",
        "lang[0]",
        "lambda: 1",
        "[x for x in lang]",
        "{1: 2}",
        "f'{rate}'",
        "rate if score else 1",
        "(rate := 1)",
        "await rate",
        "*rate",
        "(" * 300 + "1" + ")" * 300,
        "1 +" * 5000 + "1",
        "\0",
        "import os",
    ],
)
def test_unreadable(text: str) -> None:
    with pytest.raises(UsageError):
        Expression(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rtae > 1", "did you mean 'rate'"),
        ("rate.lwo > 1", "did you mean 'low'"),
        ("zzz > 1", "known are"),
        ("lang > 1", "cannot compare"),
        ("1 in score", "cannot compare"),
        ("lang + 1 > 1", "only numbers"),
        ("lang * 1000000000 == 'x'", "only numbers"),
        ("9 ** 9 ** 9 ** 9 > 1", "only numbers"),
        ("score // 2 == 6", "only numbers"),
        ("1 << 99999999999 > 1", "only numbers"),
        ("score / 0 > 1", "cannot compute"),
        ("~score == 1", "cannot compute"),
        ("-lang == 1", "cannot compute"),
        ("lang is 'python'", "cannot compute"),
        ("-" * 1500 + "1 == 1", "nested"),
        ("not " * 490 + "flag", "nested"),
        ("+".join(["1"] * 900) + " > 1", "nested"),
    ],
)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_not_computable(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Expression(text).holds(NAMES)


@pytest.mark.parametrize("text", ["lang.__class__", "'x'.upper", "score.real", "topics.count"])
def test_attributes_lead_into_mappings_only(text: str) -> None:
    assert Expression(text).value(NAMES) is None


@pytest.mark.parametrize(
    ("text", "unknown", "sure"),
    [
        ("a.low > 1", ["a.low"], False),
        ("not a.low > 1", ["a.low"], False),
        ("not a > 1 and b == 2", ["a"], False),
        ("b == 2 or not a.low > 1", ["a.low"], True),
        ("not b > 2", [], True),
    ],
)
def test_what_is_not_known_decides_nothing(text: str, unknown: list[str], sure: bool) -> None:
    names = {"a": {"value": None, "low": None}, "b": 2}
    expression = Expression(text)
    assert expression.unknown(names) == unknown
    assert expression.surely_holds(names) is sure
