"""Code out of answers: the original's rules, and the repaired ones."""

import pytest

from proctor.origins.infibench import programs
from proctor.scorers.programs.extraction import compose, extract
from proctor.scorers.programs.language import Language
from proctor.scorers.programs.languages import named

FENCED = "Text\n```python\na = 1\n```\nmore\n```\nb = 2\nc = 3\n```\nend\n```\nd"
DEF = "def f(x):\n    return x"


def language(name: str) -> Language:
    found = named(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("lang", "answer", "only_longest", "expected"),
    [
        ("python", FENCED, False, "a = 1\n\nb = 2\nc = 3"),
        ("python", FENCED, True, "b = 2\nc = 3"),
        ("python", "```\na = 1\n```\n```\nb = 2\n```", True, "a = 1"),
        ("python", "x ```a = 1``` y", False, ""),
        ("python", "\\begin{code}\na = 1\n\\end{code}", False, "a = 1"),
        ("python", "```js\nvar a;\n```\n```python\na = 1\n```", False, "var a;\n\na = 1"),
        ("python", DEF, False, ""),
        ("python", "    return 1\n\nx = 2\n    y", False, "\n    return 1\n"),
        ("python", "    y = 1\n# note\n    z", False, "\n    y = 1"),
        ("javascript", "return 1;\n}\nlater", False, "\nreturn 1;\n}"),
        ("javascript", "if (a) { b }\nc", False, "\nif (a) { b }"),
        ("javascript", "no brace", False, "\nno brace"),
        ("java", "a { b } } } c", False, "\na { b } } }"),
        ("java", "a { b } public static void main(x) {", False, "\na { b } }"),
        ("java", "a { b { c }", False, "\na { b { c }\n}"),
        ("go", "x := 1\n// note\n}", False, "\nx := 1"),
        ("c++", "return 1; } int main() {", False, "\nreturn 1; }"),
        ("typescript", "a } } } b", False, "\na } } } b"),
        ("r", "f <- 1", False, "\nf <- 1"),
    ],
)
def test_the_original_rules(lang: str, answer: str, only_longest: bool, expected: str) -> None:
    made = programs.extracted(f"\n{answer}", language(lang), only_longest=only_longest)
    assert made == expected


def test_the_original_loses_the_prefix_of_a_fenced_answer_and_python_cuts_it_off() -> None:
    python = language("python")
    fenced = programs.extracted("p = 0\n```\na = 1\n```", python, only_longest=False)
    assert fenced == "a = 1"
    assert programs.extracted("def f():\n    a = 1", python, only_longest=False) == ""
    script = language("javascript")
    assert programs.extracted("f {\na }", script, only_longest=False) == "f {\na }"


@pytest.mark.parametrize(
    ("lang", "answer", "options", "expected"),
    [
        ("python", DEF, {}, DEF),
        ("python", "    return 2 * x", {"prefix": "def f(x):"}, "def f(x):\n    return 2 * x"),
        ("python", "```python\na = p\n```", {"prefix": "p = 0"}, "p = 0\na = p"),
        ("python", f"```python\n{DEF}\n```", {"prefix": "def f(x):"}, DEF),
        ("python", f"Sure, here it is.\n\n{DEF}\n\nIt returns x.", {}, DEF),
        ("python", "```js\nvar a;\n```\n```python\na = 1\n```", {}, "a = 1"),
        ("python", "```bash\npip install x\n```\n```py\na = 1\n```\n```\nout\n```", {}, "a = 1"),
        ("python", "```Python\na = 1\n```\n```python3\nb = 2\n```", {}, "a = 1\n\nb = 2"),
        ("python", "```\na = 1\n```\n```\nb = 2\n```", {}, "a = 1\n\nb = 2"),
        ("python", "```python\na = 1\nb = 2", {}, "a = 1\nb = 2"),
        ("python", "```a = 1```", {}, "a = 1"),
        ("python", "  ```python\n  a = 1\n  ```", {}, "  a = 1"),
        ("python", "~~~python\na = '```'\n~~~", {}, "a = '```'"),
        ("python", "```{.python}\na = 1\n```\n```text\nb\n```", {}, "a = 1"),
        ("python", "```python\na = 1\n```\n```python\nb = 2\nc = 3\n```", {"only_longest": True},
         "b = 2\nc = 3"),
        ("python", "```js\n1\n2\n3\n```\n```py\na = 1\n```", {"only_longest": True}, "a = 1"),
        ("python", "I do not know.", {}, "I do not know."),
        ("python", "", {}, ""),
        ("c++", "```c\nint f();\n```\n```sh\nmake\n```", {}, "int f();"),
        ("javascript", "Use this:\nfunction f() {\n  return 1;\n}\nIt returns one.", {},
         "function f() {\n  return 1;\n}"),
        ("r", "f <- function(x) {\n  x\n}", {}, "f <- function(x) {\n  x\n}"),
        ("javascript", "```html\n<b>\n```", {}, "<b>"),
    ],
)  # fmt: skip
def test_the_repaired_rules(
    lang: str, answer: str, options: dict[str, object], expected: str
) -> None:
    assert extract(answer, language(lang), **options) == expected  # type: ignore[arg-type]


CUT = f"```python\n{DEF}\n```\nOr, shorter:\n```python\nf = lambda x:"
OUTPUT = f"```python\n{DEF}\n```\nIt prints:\n```\nThe result is: 3\n```"


@pytest.mark.parametrize(
    ("lang", "answer", "expected"),
    [
        ("python", CUT, DEF),
        ("python", CUT.replace("shorter:\n```python", "shorter:\n```"), DEF),
        ("python", CUT.replace("```python", "```"), DEF),
        ("python", CUT.replace("```python\ndef", "```\ndef"), DEF),
        ("python", f"```\na = 1\n```\n{CUT}", f"a = 1\n\n{DEF}"),
        ("python", CUT.replace("```python\ndef", "```py\ndef"), DEF),
        ("javascript", "```js\nlet a = 1;\n```\n```js\nlet b =", "let a = 1;"),
        ("java", "```\nclass A {}\n```\n```\nclass B {", "class A {}"),
        # Nothing before it is the program: what there is of it counts.
        ("python", f"```bash\npip install x\n```\n```python\n{DEF}", DEF),
        ("python", f"```\n42\n```\nThis gives it:\n```python\n{DEF}", DEF),
        ("python", f"\\begin{{code}}\n{DEF}", DEF),
    ],
)
def test_an_answer_that_is_cut_off_inside_a_fence_keeps_the_program_before_it(
    lang: str, answer: str, expected: str
) -> None:
    assert extract(answer, language(lang)) == expected


@pytest.mark.parametrize(
    ("lang", "answer", "expected"),
    [
        ("python", "```python\nimport math\n```\nthen\n```\nr = math.pi\n```",
         "import math\n\nr = math.pi"),
        ("python", "```\nimport math\n```\nthen\n```python\nr = math.pi\n```",
         "import math\n\nr = math.pi"),
        ("python", "```python\na = 1\n```\n```\nprint(a)\n```", "a = 1\n\nprint(a)"),
        ("javascript", "```js\nlet a = 1;\n```\n```\nf(a)\n```", "let a = 1;\n\nf(a)"),
        # What a program prints is no program.
        ("python", OUTPUT, DEF),
        ("python", OUTPUT.replace("The result is: 3", "[1, 2]"), DEF),
        ("java", "```java\nclass A {}\n```\n```\nHello\n```", "class A {}"),
        # Who tags other languages tags this one, too.
        ("python", "```python\na = 1\n```\n```sh\nls\n```\n```\nb = 2\n```", "a = 1"),
        ("python", "```sh\nls\n```\n```\nb = 2\n```", "b = 2"),
    ],
)  # fmt: skip
def test_a_block_without_a_tag_belongs_to_the_program(
    lang: str, answer: str, expected: str
) -> None:
    assert extract(answer, language(lang)) == expected


def test_the_parts_stand_in_the_order_in_which_they_run() -> None:
    made = compose("code", language("ruby"), before="before", test="test")
    assert (made.text, made.test_line) == ("before\ncode\ntest", 3)


@pytest.mark.parametrize("compat", ["", "original"])
def test_python_preamble_future_lines_and_unused_packages(compat: str) -> None:
    code = "from __future__ import annotations\nx = np.zeros(1)"
    put = programs.composed if compat else compose
    made = put(code, language("python"), before="", test="assert x")
    lines = made.text.split("\n")
    assert lines[0] == "from __future__ import annotations"
    assert lines.count("from __future__ import annotations") == 1
    assert "try: import numpy as np" in lines
    assert "pandas" not in made.text
    assert lines[made.test_line - 1] == "assert x"


@pytest.mark.parametrize(
    ("lang", "code", "test", "expected"),
    [
        (
            "java", "package a;\nimport java.util.List;\nclass A {}",
            "import java.util.List;\nclass Main {}",
            "import java.util.List;\n\n\nclass A {}\n\nclass Main {}",
        ),
        (
            "java", "class Character {}", "class Error {}\nclass Main { Error e; Math m; Object c = new Character(1); }",
            "import java.lang.Math;\nimport java.lang.Object;\n"
            "class Character {}\nclass Error {}\nclass Main { Error e; Math m; Object c = new Character(1); }",
        ),
        (
            "go", 'package main\nimport (\n\t"fmt"\n\t"os" // exit\n)\nfunc f() {}',
            'package main\nimport "fmt"\nfunc main() {}',
            'package main\nimport "fmt"\nimport "os"\n\n\n\nfunc f() {}\n\n\nfunc main() {}',
        ),
        ("php", "<?php\nf();\n?>", "g();", f"<?php\n\nf();\n\n{named('php').joint}\ng();"),
        ("c", "int f();", "int main() {}", 'int f();\n#include "joint.h"\nint main() {}'),
    ],
)  # fmt: skip
def test_what_must_stand_first_is_put_first_once(
    lang: str, code: str, test: str, expected: str
) -> None:
    made = compose(code, language(lang), before="", test=test)
    assert made.text == expected
    assert made.text.split("\n")[made.test_line - 1 :] == expected.split("\n")[made.test_line - 1 :]


def test_the_original_hoists_nothing() -> None:
    java = programs.graded(language("java"))
    made = programs.composed("import a;", java, before="b", test="import c;")
    assert made.text == "b\nimport a;\nimport c;"
