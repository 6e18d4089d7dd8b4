"""Every language for real: right and wrong programs, early exits, faked success, endless loops."""

import asyncio
import re
from dataclasses import dataclass

import pytest

from level import LEVEL
from needs import problem, unmet
from proctor.contracts.scorer import ScoreContext
from proctor.core.program import Program
from proctor.core.score import Score, ScoreStatus
from proctor.sandboxes import prebuilt
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.scorers.programs.language_table import LANGUAGES
from proctor.scorers.programs.languages import languages, named, suggestion
from proctor.scorers.programs.toolchains import lacking, toolchain
from proctor.scorers.programs.unit_tests import UnitTest, UnitTests


@dataclass(frozen=True)
class Sample:
    """Hold programs of one language; the test wants ``twice`` to double a number."""

    right: str
    wrong: str
    broken: str
    exits: tuple[str, ...]
    fakes: str
    endless: str
    test: str
    tag: str = ""


def c_like(name: str, extra: str = "") -> Sample:
    includes = "#include <stdlib.h>\n#include <stdio.h>\n#include <unistd.h>\n" + extra
    body = includes + "int twice(int x) {{ {0} }}"
    return Sample(
        right=body.format("return 2 * x;"),
        wrong=body.format("return x;"),
        broken=body.format("return 2 * x"),
        exits=(
            body.format("exit(0);"),
            body.format("_exit(0);"),
            body.format("quick_exit(0);"),
            body.format("_Exit(0);"),
            includes + "int main(void) { return 0; }\n#define main unused\nint twice(int x);",
            includes + "int twice(int x) { return x; }\n__attribute__((constructor)) void f()"
            "{ char b[99]; int n = read(0, b, 99); if (n > 0) write(1, b, n); _exit(0); }",
        ),
        fakes=body.format('puts("passed"); exit(0);'),
        endless=body.format("for (volatile int i = 0;; i++) {}"),
        test="#include <assert.h>\nint main(void) {\n  assert(twice(2) == 4);\n"
        "  assert(twice(5) == 10);\n}",
        tag=name,
    )


SAMPLES = {
    "python": Sample(
        right="def twice(x):\n    return 2 * x",
        wrong="def twice(x):\n    return x",
        broken="def twice(x)\n    return 2 * x",
        exits=(
            "raise SystemExit",
            "import os\nos._exit(0)",
            "def twice(x):\n    exit(0)",
            "import sys\nsys.exit(0)",
            "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
            "import atexit, os\natexit.register(os._exit, 0)\nraise ValueError",
        ),
        fakes="import os\nprint('passed')\nfor line in open(0):\n    print(line)\nos._exit(0)",
        endless="def twice(x):\n    while True: pass",
        test="assert twice(2) == 4\nassert twice(5) == 10",
    ),
    "javascript": Sample(
        right="function twice(x) { return 2 * x; }",
        wrong="function twice(x) { return x; }",
        broken="function twice(x) { return 2 * x;",
        exits=(
            "process.exit(0);",
            "return;",
            "process.reallyExit(0);",
            "function twice(x) { process.kill(process.pid); }",
            "__proctorEnd(); return;",
            "process.emit('beforeExit', 0); process.exit(0);",
        ),
        fakes="console.log('passed'); console.log(require('fs').readFileSync(0, 'utf8'));"
        " process.exit(0);",
        endless="function twice(x) { for (;;) {} }",
        test="const assert = require('assert');\nassert.strictEqual(twice(2), 4);\n"
        "assert.strictEqual(twice(5), 10);",
    ),
    "typescript": Sample(
        right="function twice(x: number): number { return 2 * x; }",
        wrong="function twice(x: number): number { return x; }",
        broken="function twice(x: number): number { return 2 * x;",
        exits=("process.exit(0);", "if (1) { (process as any).reallyExit(0); }"),
        fakes="console.log('passed'); process.exit(0);",
        endless="function twice(x: number): number { for (;;) {} }",
        test="import * as assert from 'assert';\nassert.strictEqual(twice(2), 4);\n"
        "assert.strictEqual(twice(5), 10);",
    ),
    "java": Sample(
        right="class Doubler { static int twice(int x) { return 2 * x; } }",
        wrong="class Doubler { static int twice(int x) { return x; } }",
        broken="class Doubler { static int twice(int x) { return 2 * x } }",
        exits=(
            "class Doubler { static int twice(int x) { System.exit(0); return 0; } }",
            "class Doubler { static int twice(int x) { Runtime.getRuntime().halt(0); return 0; } }",
        ),
        fakes='class Doubler { static int twice(int x) { System.out.println("passed");'
        " System.exit(0); return 0; } }",
        endless="class Doubler { static int twice(int x) { while (x < 9) {} return x; } }",
        test="public class Main {\n  public static void main(String[] args) {\n"
        "    assert Doubler.twice(2) == 4;\n    assert Doubler.twice(5) == 10;\n  }\n}",
    ),
    "c": c_like("c"),
    "c++": c_like("cpp", extra="using namespace std;\n"),
    "c#": Sample(
        right="class Doubler { public static int Twice(int x) { return 2 * x; } }",
        wrong="class Doubler { public static int Twice(int x) { return x; } }",
        broken="class Doubler { public static int Twice(int x) { return 2 * x } }",
        exits=(
            "class Doubler { public static int Twice(int x) { Environment.Exit(0); return 0; } }",
        ),
        fakes='class Doubler { public static int Twice(int x) { Console.WriteLine("passed");'
        " Environment.Exit(0); return 0; } }",
        endless="class Doubler { public static int Twice(int x) { while (x < 9) {} return x; } }",
        test="using System;\nclass Test {\n  static void Main() {\n"
        '    if (Doubler.Twice(2) != 4) throw new Exception("wrong");\n'
        '    if (Doubler.Twice(5) != 10) throw new Exception("wrong");\n  }\n}',
    ),
    "go": Sample(
        right='package main\n\nimport "fmt"\n\nfunc twice(x int) int { fmt.Print(); return 2 * x }',
        wrong="package main\n\nfunc twice(x int) int { return x }",
        broken="package main\n\nfunc twice(x int) int { return 2 * }",
        exits=(
            'package main\n\nimport "os"\n\nfunc twice(x int) int { os.Exit(0); return 0 }',
            'package main\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n'
            "func twice(x int) int { return x }",
        ),
        fakes='package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc twice(x int) int {'
        ' fmt.Println("passed"); os.Exit(0); return 0 }',
        endless="package main\n\nfunc twice(x int) int { for { x++ } }",
        test='package main\n\nimport "fmt"\n\nfunc main() {\n\tif twice(2) != 4 {\n'
        '\t\tpanic(fmt.Sprint("wrong"))\n\t}\n\tif twice(5) != 10 { panic("wrong") }\n}',
    ),
    "r": Sample(
        right="twice <- function(x) 2 * x",
        wrong="twice <- function(x) x",
        broken="twice <- function(x) { 2 * x",
        exits=("quit(status = 0)", "twice <- function(x) q('no', 0)"),
        fakes="cat('passed\\n'); cat(readLines(file('stdin')), sep = '\\n'); quit(status = 0)",
        endless="twice <- function(x) while (TRUE) x <- x + 1",
        test="library(assert)\nassert(twice(2) == 4)\nassert(twice(5) == 10, twice(1) == 2)",
    ),
    "rust": Sample(
        right="fn twice(x: i32) -> i32 { 2 * x }",
        wrong="fn twice(x: i32) -> i32 { x }",
        broken="fn twice(x: i32) -> i32 { 2 * }",
        exits=("fn twice(_: i32) -> i32 { std::process::exit(0) }",),
        fakes='fn twice(_: i32) -> i32 { println!("passed"); std::process::exit(0) }',
        endless="fn twice(_: i32) -> i32 { let mut n = 0u64; loop { n += 1; "
        "std::hint::black_box(n); } }",
        test="fn main() {\n    assert_eq!(twice(2), 4);\n    assert_eq!(twice(5), 10);\n}",
    ),
    "ruby": Sample(
        right="def twice(x)\n  2 * x\nend",
        wrong="def twice(x)\n  x\nend",
        broken="def twice(x)\n  2 * x",
        exits=("exit 0", "exit!(0)", "return", "__END__", "Thread.current.kill",
               "__proctor_end__; exit"),
        fakes="puts 'passed'\nputs $stdin.read\nexit 0",
        endless="def twice(x)\n  loop {}\nend",
        test="raise 'wrong' unless twice(2) == 4\nraise 'wrong' unless twice(5) == 10",
    ),
    "php": Sample(
        right="<?php\nfunction twice($x) { return 2 * $x; }\n?>",
        wrong="<?php\nfunction twice($x) { return $x; }",
        broken="<?php\nfunction twice($x) { return 2 * $x;",
        exits=("<?php\nexit(0);", "return;", "__halt_compiler();",
               "ProctorLaunch::end(); exit(0);"),
        fakes="<?php\necho \"passed\\n\" . stream_get_contents(STDIN); exit(0);",
        endless="function twice($x) { while (true) {} }",
        test="assert(twice(2) === 4);\nassert(twice(5) === 10);",
    ),
    "bash": Sample(
        right="twice() { false; echo $((2 * $1)); }",
        wrong="twice() { echo $1; }",
        broken="twice() { echo $((2 * $1));",
        exits=("exit 0", "return 0", "kill -TERM $$", "__proctor_end__; exit 0", ": <<'X'",
               "exec true"),
        fakes="echo passed; cat; exit 0",
        endless="twice() { while :; do :; done; }",
        test='[ "$(twice 2)" = 4 ]\n[ "$(twice 5)" = 10 ]',
    ),
    "perl": Sample(
        right="use strict;\nsub twice { return 2 * $_[0]; }",
        wrong="sub twice { return $_[0]; }",
        broken="sub twice { return 2 * $_[0];",
        exits=("exit 0;", "__END__", "=pod", "return 1;", "use POSIX; POSIX::_exit(0);"),
        fakes='print "passed\\n", <STDIN>; exit 0;',
        endless="sub twice { while (1) {} }",
        test="twice(2) == 4 or die 'wrong';\ntwice(5) == 10 or die 'wrong';",
    ),
    "kotlin": Sample(
        right="fun twice(x: Int): Int { return 2 * x }",
        wrong="fun twice(x: Int): Int { return x }",
        broken="fun twice(x: Int): Int { return 2 * }",
        exits=("fun twice(x: Int): Int { System.exit(0); return 0 }",),
        fakes='fun twice(x: Int): Int { println("passed"); System.exit(0); return 0 }',
        endless="fun twice(x: Int): Int { while (true) {} }",
        test='fun main() {\n    check(twice(2) == 4) { "wrong" }\n'
        '    check(twice(5) == 10) { "wrong" }\n}',
    ),
    "sql": Sample(
        right="SELECT 2 * n AS m FROM numbers ORDER BY n",
        wrong="SELECT n AS m FROM numbers;",
        broken="SELEC 2 * n AS m FROM numbers;",
        exits=(".quit\n", "SELECT '", "/* "),
        fakes="SELECT 'passed' AS m;",
        endless="WITH RECURSIVE c(m) AS (SELECT 1 UNION ALL SELECT m + 1 FROM c) SELECT m FROM c;",
        test="SELECT count(*) = 2 FROM answer;\nSELECT min(m) = 4, max(m) = 10 FROM answer;",
    ),
    "lua": Sample(
        right="function twice(x) return 2 * x end",
        wrong="function twice(x) return x end",
        broken="function twice(x) return 2 * x",
        exits=("os.exit(0)", "do return end", "__proctor_end__() os.exit(0)"),
        fakes='print("passed") print(io.read("a")) os.exit(0)',
        endless="function twice(x) while true do end end",
        test="assert(twice(2) == 4)\nassert(twice(5) == 10)",
    ),
    "haskell": Sample(
        right="import Data.List (sort)\n\ntwice :: Int -> Int\ntwice x = head (sort [2 * x])",
        wrong="twice :: Int -> Int\ntwice x = x",
        broken="twice :: Int -> Int\ntwice x = 2 *",
        exits=(
            "import System.Exit\nimport System.IO.Unsafe\n\ntwice :: Int -> Int\n"
            "twice _ = unsafePerformIO exitSuccess",
        ),
        fakes='import System.Exit\nimport System.IO.Unsafe\n\ntwice :: Int -> Int\n'
        'twice _ = unsafePerformIO (putStrLn "passed" >> exitSuccess)',
        endless="twice :: Int -> Int\ntwice x = twice (x + 1)",
        test="import Control.Monad (when)\n\nmain :: IO ()\nmain = do\n"
        '  when (twice 2 /= 4) (error "wrong")\n  when (twice 5 /= 10) (error "wrong")',
    ),
}  # fmt: skip
BEFORE = {"sql": "CREATE TABLE numbers (n INTEGER);\nINSERT INTO numbers VALUES (2), (5);"}
SLOW = {"kotlin"}


def score(lang: str, code: str, *, timeout: float | None = None, before: str = "") -> Score:
    sample = SAMPLES[lang]
    before = BEFORE.get(lang, before)
    test = UnitTest(content=sample.test, before=before, timeout=timeout)
    answer = f"Here it is:\n\n```{sample.tag or lang}\n{code}\n```\n"

    async def run() -> Score:
        sandbox = Bubblewrap()
        try:
            ctx = ScoreContext.of(answer)
            ctx = ScoreContext(case=ctx.case, attempt=ctx.attempt, sandbox=sandbox)
            return await UnitTests(tests=(test,), lang=lang).score(ctx)
        finally:
            await sandbox.close()

    return asyncio.run(run())


def only(made: Score) -> dict[str, object]:
    assert made.status is ScoreStatus.SCORED, made.reason
    (row,) = made.detail["tests"]
    return row


QUICK = ("python", "javascript", "c", "bash", "perl", "sql")
"""What a plain test run tries; the other languages take minutes together."""
OTHERS = (pytest.mark.languages, pytest.mark.slow)


@pytest.fixture(
    params=[
        pytest.param(language.name, marks=() if language.name in QUICK else OTHERS)
        for language in LANGUAGES
    ]
)
def lang(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    language = named(name)
    assert language is not None
    if reason := problem("sandbox"):
        unmet("sandbox", reason)
    if lacks := toolchain(language).missing:
        pytest.skip(f"{', '.join(lacks)} not installed")
    if name not in SAMPLES:
        pytest.skip("no toolchain to be had for the tests")
    return name


@pytest.mark.sampled(5)
def test_a_right_program_passes(lang: str) -> None:
    row = only(score(lang, SAMPLES[lang].right))
    assert row["passed"], row
    assert row["result"] == "passed"
    assert SAMPLES[lang].test.splitlines()[-1] in str(row["program"])


@pytest.mark.sampled(3)
@pytest.mark.slow
def test_a_wrong_program_fails_with_the_line_of_the_test(lang: str) -> None:
    made = score(lang, SAMPLES[lang].wrong)
    row = only(made)
    assert made.points == 0
    assert not row["passed"]
    assert isinstance(row["line"], int), row
    line = str(row["program"]).split("\n")[row["line"] - 1]
    assert re.search(r"[Tt]wice|answer|panic", line), (row["line"], line, row)
    assert re.search(r"assert|wrong|failed", str(row["result"]), re.I), row["result"]
    assert "0 of 1 tests passed; test 1:" in made.reason


@pytest.mark.sampled(2)
@pytest.mark.slow
def test_a_program_with_an_error_of_syntax_fails_and_says_so(lang: str) -> None:
    row = only(score(lang, SAMPLES[lang].broken))
    assert not row["passed"]
    assert row["result"] not in ("", "exit status 1"), row
    assert row["line"] is not None, row


@pytest.mark.slow
@pytest.mark.sampled(12)
def test_an_early_end_is_no_pass(lang: str) -> None:
    for code in SAMPLES[lang].exits[: 1 if lang in SLOW else None]:
        row = only(score(lang, code))
        assert not row["passed"], (code, row)


@pytest.mark.sampled(2)
@pytest.mark.slow
def test_faked_success_is_no_pass(lang: str) -> None:
    row = only(score(lang, SAMPLES[lang].fakes))
    assert not row["passed"], row
    assert "proctor-secret" not in str(row)


@pytest.mark.slow
def test_an_endless_program_is_stopped(lang: str) -> None:
    row = only(score(lang, SAMPLES[lang].endless, timeout=2.0))
    assert not row["passed"]
    assert (row["stopped"], row["result"]) == ("time", "timed out after 2 s"), row


@pytest.mark.slow
@pytest.mark.scaled
def test_an_aid_changes_nothing_but_the_time(lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    language = named(lang)
    assert language is not None
    if language.aid is None:
        pytest.skip("nothing is made for several programs of this language")
    sample = SAMPLES[lang]
    codes = [sample.right, sample.wrong, sample.broken]
    if LEVEL.full:
        codes += [*sample.exits, sample.fakes]
    without = [only(score(lang, code)) for code in codes]
    given: list[str | None] = []
    find = prebuilt.Aids.folder

    async def folder(held: prebuilt.Aids, aid: Program | None) -> str | None:
        given.append(await find(held, aid))
        return given[-1]

    monkeypatch.setattr(prebuilt, "WORTH", 0)
    monkeypatch.setattr(prebuilt.Aids, "folder", folder)
    helped = [only(score(lang, code)) for code in codes]
    told = ("passed", "result", "line", "stopped", "program")
    assert [[row[name] for name in told] for row in helped] == [
        [row[name] for name in told] for row in without
    ]
    # The samples of JavaScript load no package; the published answers of InfiBench do.
    assert any(given) == (lang != "javascript")


def test_packages_are_the_same_with_an_aid(monkeypatch: pytest.MonkeyPatch) -> None:
    language = named("javascript")
    assert language is not None
    before = "const { JSDOM } = require('jsdom');"
    if problem("sandbox") or lacking(language, [before]) or toolchain(language).missing:
        pytest.skip("needs the sandbox, node and jsdom")
    code = """
        const at = require.resolve("jsdom");
        const found = require.cache[at];
        const { window } = new JSDOM("<p id=a>caf\u00e9</p>");
        function twice(x) {
            const right = found.loaded && found.exports.JSDOM === JSDOM && found.filename === at
                && require("jsdom") === found.exports && found.children.length > 1
                && window.document.querySelector("#a").textContent === "caf\u00e9"
                && new window.DOMParser().parseFromString("<b>x", "text/html").body.innerHTML
                    === "<b>x</b>";
            return right ? 2 * x : 0;
        }
    """
    for worth in (99, 0):
        monkeypatch.setattr(prebuilt, "WORTH", worth)
        row = only(score("javascript", code, before=before))
        assert row["passed"], row


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_missing_toolchain_leaves_the_criterion_unscored(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    language = named(name)
    assert language is not None
    scorer = UnitTests(tests=(UnitTest(content="", weight=2.0),), lang=name)
    ctx = ScoreContext.of("x")
    ctx = ScoreContext(case=ctx.case, attempt=ctx.attempt, sandbox=Bubblewrap())
    if name in ("python", "sql"):
        assert scorer.missing() == []  # they run in the Python that runs Proctor
        return
    made = asyncio.run(scorer.score(ctx))
    assert (made.status, made.points, made.out_of) == (ScoreStatus.FAILED, None, 2.0)
    assert language.install in made.reason
    assert scorer.missing() == made.reason.split("; ")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("js", "javascript"),
        ("JavaScript", "javascript"),
        ("c", "c"),
        ("c/c++", "c++"),
        ("c++/c", "c++"),
        ("cpp/c", "c++"),
        ("c/cpp", "c++"),
        ("cpp", "c++"),
        ("c-sharp", "c#"),
        ("csharp", "c#"),
        ("cs", "c#"),
        ("ts", "typescript"),
        ("R", "r"),
        ("golang", "go"),
        ("shell", "bash"),
        ("cobol", None),
    ],
)
def test_names_of_languages(name: str, expected: str | None) -> None:
    found = named(name)
    assert (found.name if found else None) == expected


def test_an_unknown_language_is_answered_with_what_was_meant() -> None:
    assert "did you mean 'javascript'?" in suggestion("javascrpt")
    assert "known are: python, javascript" in suggestion("cobol")


@pytest.mark.slow
def test_every_language_is_listed_with_its_version_or_how_to_get_it() -> None:
    rows = {row.name: row for row in languages()}
    assert set(rows) >= {*SAMPLES, "swift", "dart"}
    assert rows["python"].available
    assert re.match(r"3\.\d+", rows["python"].version)
    for row in rows.values():
        assert row.install
        assert bool(row.version) == row.available, row
    assert [row.name for row in rows.values() if not row.tested] == ["swift", "dart"]


def test_no_name_means_two_languages() -> None:
    names = [name for row in LANGUAGES for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))
