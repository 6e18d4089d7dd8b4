"""Programs as the original's grader finds them: fences, or what looks like a function's body."""

import pytest

from proctor.origins.infibench.programs import RUNS, composed, extracted, graded
from proctor.scorers.programs.language import Language
from proctor.scorers.programs.languages import named


def language(name: str) -> Language:
    found = named(name)
    assert found is not None
    return found


FENCED = "Words.\n```python\na = 1\n```\nMore.\n```\nb = 2\nc = 3\n```\nEnd."


def test_all_fences_or_the_longest_of_them() -> None:
    python = language("python")
    assert extracted(FENCED, python, only_longest=False) == "a = 1\n\nb = 2\nc = 3"
    assert extracted(FENCED, python, only_longest=True) == "b = 2\nc = 3"
    latex = "\\begin{code}\nx = 1\n\\end{code}"
    assert extracted(latex, python, only_longest=False) == "x = 1"


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("python", "    return 1\ndef other(): pass", "    return 1"),
        ("python", "    x = 1\n    return x\nprint(2)", "    x = 1\n    return x"),
        ("python", "    return 1\nSo it is.", "    return 1"),
        ("javascript", " return 1; } and more", " return 1; }"),
        ("javascript", " if (x) { y } rest", " if (x) { y }"),
        ("javascript", "no braces", "no braces"),
        ("c++", "  return 1;\n}\nint main() {}", "  return 1;\n}"),
        ("go", "\treturn 1\n}\nfunc main() {}", "\treturn 1\n}"),
        ("r", "x <- 1\nx", "x <- 1\nx"),
        ("java", " return 1; }\n} trailing", " return 1; }\n}"),
    ],
)
def test_an_answer_without_fences_goes_on_with_a_function_s_body(
    name: str, text: str, code: str
) -> None:
    assert extracted(text, language(name), only_longest=False) == code


def test_a_language_is_built_as_the_grader_builds_it() -> None:
    assert graded(language("c++")).joint == "#undef main"
    assert graded(language("typescript")).build == RUNS["typescript"].build
    other = language("ruby")
    assert graded(other) is other


def test_what_comes_from_the_future_goes_first() -> None:
    python = language("python")
    program = composed("from __future__ import annotations\nx = 1", python, before="", test="x")
    text = str(program)
    assert text.index("__future__") < text.index("x = 1")
