"""Programs that read standard input and print: what they print is compared out here."""

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.score import Score
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.scorers.programs.language_table import LANGUAGES
from proctor.scorers.programs.languages import named
from proctor.scorers.programs.test_outcome import difference
from proctor.scorers.programs.toolchains import toolchain
from proctor.scorers.programs.unit_tests import UnitTest, UnitTests
from room import ROOM

QUICK = ("python", "c", "bash", "perl")
OTHERS = (pytest.mark.languages, pytest.mark.slow)
# Each reads numbers, one a line, and prints twice each of them.
TWICE = {
    "python": "import sys\nif __name__ == '__main__':\n    for line in sys.stdin:\n        print(2 * int(line))",
    "javascript": "const text = require('fs').readFileSync(0, 'utf8').trim();\ntext.split('\\n').forEach(n => console.log(2 * n));",
    "typescript": "import * as fs from 'fs';\nfor (const n of fs.readFileSync(0, 'utf8').trim().split('\\n')) console.log(2 * Number(n));",
    "java": "import java.util.Scanner;\npublic class Main {\n  public static void main(String[] a) {\n    Scanner s = new Scanner(System.in);\n"
    "    while (s.hasNextInt()) System.out.println(2 * s.nextInt());\n  }\n}",
    "c": '#include <stdio.h>\nint main(void) { int n; while (scanf("%d", &n) == 1) printf("%d\\n", 2 * n); return 0; }',
    "c++": "#include <iostream>\nint main() { int n; while (std::cin >> n) std::cout << 2 * n << std::endl; }",
    "c#": "using System;\nclass P { static void Main() { string s; while ((s = Console.ReadLine()) != null) Console.WriteLine(2 * int.Parse(s)); } }",
    "go": 'package main\n\nimport "fmt"\n\nfunc main() {\n\tvar n int\n\tfor {\n\t\tif _, err := fmt.Scan(&n); err != nil {\n\t\t\tbreak\n\t\t}\n\t\tfmt.Println(2 * n)\n\t}\n}',
    "r": 'for (n in readLines(file("stdin"))) cat(2 * as.integer(n), "\\n")',
    "rust": "use std::io::{self, BufRead};\nfn main() { for l in io::stdin().lock().lines() { let n: i32 = l.unwrap().trim().parse().unwrap(); println!(\"{}\", 2 * n); } }",
    "ruby": "while line = gets\n  puts 2 * line.to_i\nend",
    "php": "<?php\nwhile (($line = fgets(STDIN)) !== false) { echo 2 * (int) $line, \"\\n\"; }",
    "bash": "while read -r n; do echo $((2 * n)); done",
    "perl": "while (<STDIN>) { print 2 * $_, \"\\n\"; }",
    "kotlin": "fun main() {\n    while (true) {\n        val line = readLine() ?: break\n        println(2 * line.trim().toInt())\n    }\n}",
    "lua": "for line in io.lines() do print(2 * math.tointeger(tonumber(line))) end",
    "haskell": "main :: IO ()\nmain = interact (unlines . map (show . (* 2) . (read :: String -> Int)) . lines)",
}  # fmt: skip


def score(lang: str, code: str, *tests: UnitTest) -> Score:
    ctx = ScoreContext.of(f"```{lang}\n{code}\n```")
    ctx = ScoreContext(case=ctx.case, attempt=ctx.attempt, sandbox=ROOM.sandbox(Bubblewrap))
    return ROOM.run(UnitTests(tests=tests, lang=lang).score(ctx))


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "lang",
    [pytest.param(name, marks=() if name in QUICK else OTHERS) for name in sorted(TWICE)],
)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_a_program_of_every_language(lang: str) -> None:
    language = named(lang)
    assert language is not None
    if lacks := toolchain(language).missing:
        pytest.skip(f"{', '.join(lacks)} not installed")
    right = UnitTest(stdin="2\n5\n", stdout="4\n10", weight=2.0)
    wrong = UnitTest(stdin="2\n5\n", stdout="4\n11")
    made = score(lang, TWICE[lang], right, wrong)
    assert made.points == 2.0, made
    assert [row["result"] for row in made.detail["tests"]] == [
        "passed",
        "printed '10' instead of '11' on line 2",
    ]


def test_every_language_but_one_has_such_programs() -> None:
    assert {row.name for row in LANGUAGES if row.script is None} == {"sql"}
    assert set(TWICE) == {row.name for row in LANGUAGES if row.tested} - {"sql"}


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("code", "stdout", "result"),
    [
        ("print('a  ')\nprint()\nprint()", "a", "passed"),
        ("print('a', end='')", "a\n\n", "passed"),
        ("print(' a')", "a", "printed ' a' instead of 'a' on line 1"),
        ("print('a')", "a\nb", "printed 1 lines instead of 2"),
        ("pass", "", "passed"),
        ("pass", "a", "printed 0 lines instead of 1"),
        ("print('a')\nraise SystemExit(3)", "a", "exit status 3"),
        ("print('a')\n1 / 0", "a", "ZeroDivisionError: division by zero"),
        ("print('x' * 300_000)\nprint('end')", "x" * 300_000 + "\nend", "passed"),
        ("import os\nos._exit(0)", "a", "printed 0 lines instead of 1"),
        ("import os\nprint('a', flush=True)\nos._exit(0)", "a", "passed"),
        ("import os\nos.unlink('.stdout')\nos.symlink('/etc/passwd', '.stdout')", "a", "printed 0 lines instead of 1"),
        ("print(input())", "\ud7ff", "EOFError: EOF when reading a line"),
        ("while True: print('x' * 1000)", "x", "OSError: [Errno 27] File too large"),
    ],
)  # fmt: skip
@pytest.mark.sampled(5)
@pytest.mark.slow
def test_what_counts_as_printed(code: str, stdout: str, result: str) -> None:
    made = score("python", code, UnitTest(stdout=stdout, timeout=20))
    (row,) = made.detail["tests"]
    assert (row["result"], row["passed"]) == (result, result == "passed")


@pytest.mark.parametrize(
    ("test", "lang", "problem"),
    [
        (UnitTest(stdout="a", content="x"), "python", "test 1: it has either stdout or content, not both"),
        (UnitTest(stdin="a"), "python", "test 1: stdin without stdout: what must the program print?"),
        (UnitTest(stdout="a"), "sql", "test 1: programs in sql do not read standard input"),
        (UnitTest(stdout="a", isolate=False), "c", "test 1: a program whose output is compared is always isolated"),
        (UnitTest(stdout="a", isolate=True), "c", None),
    ],
)  # fmt: skip
def test_problems(test: UnitTest, lang: str, problem: str | None) -> None:
    found = list(UnitTests(tests=(test,), lang=lang).problems())
    assert found == ([problem] if problem else [])


def test_differences() -> None:
    assert difference("a \nb\n\n", "a\nb") == ""
    assert difference("", "\n \n") == ""
    assert "on line 1" in difference("x" * 99, "y")
