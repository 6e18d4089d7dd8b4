"""What the original ignores or mistreats in an InfiBench file is warned of, in both modes."""

from pathlib import Path
from textwrap import dedent

import pytest

from proctor.errors import Problem
from proctor.origins.infibench.dialect import InfiBench

HEAD = "id: c1\nprompt_path: prompt.txt\ntype: t\nlang: python\ngrading:\n"
ONE_BLANK = "  blank_filling: {template: 'a [blank] b', targets: "


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def case(folder: Path, grading: str, head: str = HEAD) -> Path:
    write(folder, "prompt.txt", "Say it.")
    return write(folder, "case.yaml", head + grading)


def said(problem: Problem) -> str:
    return f"{Path(problem.file or '').name}:{problem.line}:{problem.column}: {problem.message}"


WARNINGS = [
    (
        "  keywords:\n    - content: {content: a, to_lower: true}\n",
        "7:29: 'to_lower' inside 'content': the original ignores it",
    ),
    (
        "  keywords:\n    - {content: a, regex: true}\n",
        "7:20: 'regex' beside 'content': the original ignores it",
    ),
    (
        "  keywords:\n    - {content: a, cond: ans}\n",
        "7:20: 'cond' beside 'content': the original ignores it",
    ),
    (
        "  keywords:\n    - content: {content: 'a\\Sb', regex: true}\n      to_lower: true\n",
        "7:17: 'to_lower' with the regular expression 'a\\\\Sb': the original writes the pattern",
    ),
    (
        "  keywords:\n    - content: {content: '[A-Z]x', regex: true}\n      to_lower: true\n",
        "7:17: 'to_lower' with the regular expression '[A-Z]x'",
    ),
    (
        "  keywords:\n    - content: {content: a, weight: 2}\n",
        "7:29: 'weight' inside 'content' has no effect, here as in the original",
    ),
    (
        "  keywords:\n    - content: {content: a, neg: true}\n",
        "7:29: 'neg' inside 'content' has no effect",
    ),
    (
        "  keywords:\n    - content: {or: [a], content: b}\n",
        "7:26: 'content' has no effect, here as in the original: 'or' comes first",
    ),
    (
        "  keywords:\n    - content: {or: [a], and: [b]}\n",
        "7:26: 'and' has no effect, here as in the original: 'or' comes first",
    ),
    ("  keywords:\n    - or: [a]\n", "7:7: a rule without 'content': the original loses the case"),
    ("  keywords: [1.10]\n", "6:14: 1.10 is not a text but a number: the original loses the case"),
    ("  keywords: [true]\n", "6:14: true is not a text but a truth value"),
    (
        "  max_score: 4\n  keywords: [a]\n",
        "6:3: max_score is 4, but the criteria give 1 at most: the original divides by 4",
    ),
    (
        "  keywords:\n    - {content: a, neg: true}\n",
        "5:1: no points can be won here: the case can never be scored",
    ),
    (
        ONE_BLANK + "[{content: {or: [x]}}]}\n",
        "6:55: a mapping as the content of a blank: the original takes its keys ('or')",
    ),
    (
        ONE_BLANK + "[{content: [{content: x, to_lower: true}]}]}\n",
        "6:78: 'to_lower' inside 'content': the original ignores it",
    ),
    (
        ONE_BLANK + "[{content: [{content: x, weight: 2}]}]}\n",
        "6:78: 'weight' inside 'content' has no effect",
    ),
    (
        ONE_BLANK + "[{content: [{or: [x]}]}]}\n",
        "6:65: an alternative that is not one text: the original never matches it",
    ),
    (
        ONE_BLANK + "[{content: x, or: [y]}]}\n",
        "6:67: 'or' has no effect",
    ),
    (
        ONE_BLANK + "[{or: [y]}]}\n",
        "6:54: a target without 'content': the original loses the case",
    ),
    (
        ONE_BLANK + "[{content: x, regex: true}]}\n",
        "6:67: 'regex' beside 'content': the original ignores it",
    ),
    (
        "  blank_filling: {template: '[blank] b', targets: [x]}\n",
        "6:19: a blank at the start: the original loses the filling's first character",
    ),
    (
        "  blank_filling: {template: 'b [blank]', targets: [x]}\n",
        "6:19: a blank at the end: the original loses the case",
    ),
    (
        "  blank_filling: {template: 'a [blank][blank] b', targets: [x, y]}\n",
        "6:19: two blanks side by side: the original reads the first of them as empty",
    ),
    (
        "  unit_test: {tests: [{content: a, prefix: b}]}\n",
        "6:36: 'prefix' before the answer: the original loses it when",
    ),
    (
        "  unit_test: {tests: [{content: a, path: prompt.txt}]}\n",
        "6:24: 'content' has no effect, here as in the original: 'path' comes first",
    ),
    ("  keywords: [a]\n  keywords: [b]\n", "7:3: the key 'keywords' occurs twice"),
    (
        "  keywords: [a]\nfull_score: 2\n",
        "7:1: full_score is 2: the original grades it, but its table stops",
    ),
    ("  keywords: [a]\nnull_score: 0.5\n", "7:1: null_score is 0.5: the original never applies it"),
]


@pytest.mark.parametrize(("grading", "expected"), WARNINGS)
@pytest.mark.parametrize("compat", ["", "original"])
def test_warnings(tmp_path: Path, grading: str, expected: str, compat: str) -> None:
    reading = InfiBench().read(case(tmp_path, grading), compat=compat)
    (warning,) = reading.warnings
    assert warning.severity == "warning"
    assert said(warning).startswith(f"case.yaml:{expected}")


@pytest.mark.parametrize(
    "grading",
    [
        "  keywords:\n    - a\n    - {content: {content: 'a\\sb', regex: true}, to_lower: true}\n",
        "  max_score: 1\n  min_score: 0\n  keywords: [a, b]\n",
        "  keywords:\n    - {content: {content: '\\S', regex: true}}\n",
        ONE_BLANK + "[{content: [x, {content: y, regex: true}]}]}\n",
        "  similarity: [{metric: rougeL, references: [a]}]\n",
        "  unit_test: {tests: [a]}\n",
    ],
)
@pytest.mark.parametrize("compat", ["", "original"])
def test_plain_cases_have_no_warnings(tmp_path: Path, grading: str, compat: str) -> None:
    assert InfiBench().read(case(tmp_path, grading), compat=compat).warnings == ()


def test_the_modes_say_what_they_do(tmp_path: Path) -> None:
    path = case(tmp_path, "  keywords:\n    - content: {content: a, to_lower: true}\n")
    (default,) = InfiBench().read(path).warnings
    (original,) = InfiBench().read(path, compat="original").warnings
    assert default.message.endswith("Proctor ignores case from here downward")
    assert original.message.endswith("this is kept (compat original)")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("prompt_path: prompt.txt\ntype: t\nlang: l\n", ["called 'case', after its file"]),
        ("id: a\nprompt_path: prompt.txt\n", ["no 'type'", "no 'lang'"]),
        ("id: a\nprompt_path: prompt.txt\ntype: t\ndomain: web\n", []),
    ],
)
def test_missing_heads_are_warned_of(tmp_path: Path, head: str, expected: list[str]) -> None:
    path = case(tmp_path, "  keywords: [a]\n", head + "grading:\n")
    warnings = InfiBench().read(path).warnings
    assert len(warnings) == len(expected)
    found = sorted(warning.message for warning in warnings)
    assert all(part in text for part, text in zip(sorted(expected), found, strict=True))


def test_suite_entries_that_the_original_mistreats(tmp_path: Path) -> None:
    case(tmp_path, "  keywords: [a]\n")
    text = dedent(
        """\
        full_score_per_question: 2
        null_score_per_question: 0.5
        cases:
          - path: case.yaml
            weight: 3
        """
    )
    warnings = InfiBench().read(write(tmp_path, "s.yaml", text)).warnings
    assert [said(warning).split(": the original")[0] for warning in warnings] == [
        "s.yaml:1:1: full_score_per_question is 2",
        "s.yaml:2:1: null_score_per_question is 0.5",
        "s.yaml:5:5: a case of weight 3",
    ]
    plain = write(tmp_path, "p.yaml", "cases: [{path: case.yaml, weight: 1}]\n")
    assert InfiBench().read(plain).warnings == ()
    bare = write(tmp_path, "b.yaml", "cases: [{path: case.yaml}]\n")
    (warning,) = InfiBench().read(bare).warnings
    assert "an entry without weight" in warning.message
