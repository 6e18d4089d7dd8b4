"""Programs that candidates write, scored by unit tests."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict

from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import LanguageSupport, ScoreContext, Scorer
from proctor.core.case_value import in_turn
from proctor.core.program import MIB, SECRET, Limits, Program, Step
from proctor.core.score import Score
from proctor.scorers.programs.extraction import Composed, compose, compose_script, extract
from proctor.scorers.programs.language import Language, Script
from proctor.scorers.programs.languages import named, suggestion
from proctor.scorers.programs.python_test_programs import (
    in_one_process,
    in_two_processes,
    isolation_of,
    modules,
    parts_of,
)
from proctor.scorers.programs.test_outcome import TestOutcome, difference, outcome_of
from proctor.scorers.programs.toolchains import (
    Toolchain,
    lacking,
    listed,
    loaded,
    package_versions_of,
    toolchain,
    version,
)

LAUNCHERS = Path(__file__).with_name("launchers")
CLEANUP = "proctor_cleanup.py"
CLEANUP_TIME = 10.0
AID_TIME = 60.0
OPEN_FILES = 1024
OUTPUT = ".stdout"
"""The file in which a program's output is kept that is compared."""
MOST_OUTPUT = 16 * MIB


@dataclass(frozen=True, kw_only=True)
class UnitTest:
    """One test: code that is put after the candidate's, or what its program must print."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    content: str = ""
    prefix: str = ""
    before: str = ""
    cleanup: str = ""
    weight: float = 1.0
    timeout: float | None = None
    only_longest: bool = False
    isolate: bool | None = None
    """Whether the test runs in another process than the answer; by default where it can."""
    stdin: str = ""
    """What a program gets on standard input, where its output is compared."""
    stdout: str | None = None
    """What the answer must print, as a program that stands by itself."""


class _NotRun(Exception):
    """The reason why a test could not be run at all."""


@dataclass(frozen=True)
class UnitTests(Scorer):
    """Give points for each unit test that the candidate's program passes.

    The code of the answer is put between ``before`` and the test's ``content`` and run in a
    sandbox, each test by itself. A test passes when the program runs to its very end. Python tests
    run in another process than the answer where they only call it (``isolate``). With ``stdout`` a
    test passes when the answer, run by itself on ``stdin``, prints that.
    """

    version: ClassVar[str] = "3"
    fixed_marks: ClassVar[bool] = True
    tests_apart: ClassVar[bool] = True
    """Whether a Python test may run in another process than the answer."""

    tests: tuple[UnitTest, ...]
    lang: str = "python"
    imports: bool = True
    """Whether the imports and headers that programs usually want are put before them."""

    async def score(self, ctx: ScoreContext) -> Score:
        language = self._language
        if language is None:
            return self._failed(suggestion(self.lang))
        if ctx.sandbox is None:
            return self._failed("not run: unit tests need a sandbox (fix: pass --sandbox)")
        tools = toolchain(language)
        lacks = [*_tools_missing(language, tools)]
        if not lacks and self._needs_packages(language):
            lacks = self._packages_missing(language)
        if lacks:
            return self._failed("; ".join(lacks))
        outcomes = []
        for test in self.tests:
            try:
                outcomes.append(await self._run(test, ctx.output, language, ctx.sandbox))
            except _NotRun as error:
                return self._failed(f"test {len(outcomes) + 1} could not be run: {error}")
        return self._scored(outcomes)

    @property
    def full_marks(self) -> float:
        return in_turn(test.weight for test in self.tests)

    def problems(self) -> Iterable[str]:
        if not self.tests:
            yield "no tests are given"
        if self._named is None:
            yield suggestion(self.lang)
        for number, test in enumerate(self.tests, 1):
            for problem in self._problems_of(test):
                yield f"test {number}: {problem}"

    def _problems_of(self, test: UnitTest) -> Iterator[str]:
        if test.timeout is not None and test.timeout <= 0:
            yield f"the timeout must be more than 0 s, not {test.timeout:g} s"
        language = self._named
        if language is None:
            return
        if test.stdout is not None:
            if test.content or test.cleanup:
                yield "it has either stdout or content, not both"
            if language.script is None:
                yield f"programs in {language.name} do not read standard input"
            if test.isolate is False:
                yield "a program whose output is compared is always isolated"
        elif test.stdin:
            yield "stdin without stdout: what must the program print?"
        elif test.isolate and (reason := _shared_because(test, language)):
            yield f"it cannot be isolated: {reason}"

    @property
    def needs_sandbox(self) -> bool:
        return True

    @staticmethod
    def languages() -> list[LanguageSupport]:
        return listed()

    def toolchain(self) -> str:
        """Return the language and the packages that tests load: other versions may differ."""
        return self._runs_on

    @cached_property
    def _runs_on(self) -> str:
        language = self._named
        if language is None:
            return ""
        packages = package_versions_of(language, self._texts())
        return " ".join([f"{language.name} {version(language)}", *packages])

    def missing(self) -> list[str]:
        language = self._named
        if language is None:
            return []
        problems = [*_tools_missing(language, toolchain(language))]
        return problems or self._packages_missing(language)

    @property
    def _named(self) -> Language | None:
        return named(self.lang)

    @property
    def _language(self) -> Language | None:
        """Return the language of the tests, with what stands before its programs."""
        language = self._named
        if language is None or self.imports:
            return language
        return replace(language, preamble=(), optional={})

    def _packages_missing(self, language: Language) -> list[str]:
        texts = self._texts()
        how = _INSTALL.get(language.name, "")
        left_out = toolchain(language).left_out
        return [
            f"{language.name}: the tests need the package {name}, which is not installed{left_out}"
            f" (fix: {how.format(name=name)})"
            for name in lacking(language, texts)
        ]

    def _texts(self) -> list[str]:
        return [text for test in self.tests for text in (test.before, test.prefix, test.content)]

    def _failed(self, reason: str) -> Score:
        return Score.failed(reason, out_of=self.full_marks)

    def _needs_packages(self, language: Language) -> bool:
        """Tell whether tests are not even tried where a package is missing that they load."""
        return True

    def _extracted(self, answer: str, test: UnitTest, language: Language) -> str:
        return extract(answer, language, prefix=test.prefix, only_longest=test.only_longest)

    def _composed(self, code: str, test: UnitTest, language: Language) -> Composed:
        return compose(code, language, before=test.before, test=test.content)

    async def _run(
        self, test: UnitTest, answer: str, language: Language, sandbox: Sandbox
    ) -> TestOutcome:
        code = self._extracted(answer, test, language)
        timeout = language.timeout if test.timeout is None else test.timeout
        if test.stdout is not None:
            return await self._printed(test, code, language, sandbox)
        composed = self._composed(code, test, language)
        program = program_of(composed, language, timeout=timeout)
        program = replace(program, aid=aid_of(language, self._texts()), toolchain=self._runs_on)
        if language.name == "python":
            where = sandbox if self.tests_apart else None
            program = _python(program, composed, test, language, where)
        if test.cleanup:
            program = _with_cleanup(program, test.cleanup)
        ran = None
        if language.name == "python" and not test.cleanup:
            ran = await sandbox.run_python(program)
        if ran is None:
            ran = await sandbox.run(program)
        if ran.not_started:
            raise _NotRun(ran.not_started)
        builds = len(language.build)
        return outcome_of(ran, language, composed, builds=builds, timeout=timeout)

    async def _printed(
        self, test: UnitTest, code: str, language: Language, sandbox: Sandbox
    ) -> TestOutcome:
        """Run the answer as a program of its own, and compare what it printed out here."""
        script = language.script
        if script is None:
            raise _NotRun(f"programs in {language.name} do not read standard input")
        timeout = language.timeout if test.timeout is None else test.timeout
        composed = compose_script(code, language, before=test.before)
        program = script_of(composed, language, script, test.stdin, timeout=timeout)
        program = replace(program, toolchain=self._runs_on)
        ran = await sandbox.run(program)
        if ran.not_started:
            raise _NotRun(ran.not_started)
        ran = replace(ran, stdout=ran.files.get(OUTPUT, b"").decode("utf-8", "replace"))
        builds = len(script.build)
        outcome = outcome_of(ran, language, composed, builds=builds, timeout=timeout)
        if not ran.finished:
            return replace(outcome, passed=False)
        problem = difference(ran.stdout, test.stdout or "")
        return replace(outcome, passed=not problem, text=problem or "passed", line=None)

    def _scored(self, outcomes: list[TestOutcome]) -> Score:
        rows = list(zip(self.tests, outcomes, strict=True))
        passed = sum(outcome.passed for outcome in outcomes)
        reason = f"{passed} of {len(rows)} tests passed"
        for number, outcome in enumerate(outcomes, 1):
            if not outcome.passed:
                at = f" at line {outcome.line}" if outcome.line is not None else ""
                reason += f"; test {number}: {outcome.text[:160]}{at}"
                break
        return Score(
            points=in_turn(test.weight for test, outcome in rows if outcome.passed),
            out_of=self.full_marks,
            reason=reason,
            detail={"tests": [outcome.detail() for outcome in outcomes]},
        )


_INSTALL = {
    "python": "pip install {name}",
    "javascript": "npm install -g {name}",
    "typescript": "npm install -g {name}",
    "r": "Rscript -e 'install.packages(\"{name}\")', or apt install r-cran-{name}",
}


def program_of(composed: Composed, language: Language, *, timeout: float) -> Program:
    """Make the program that a sandbox runs; its secret comes by standard input."""
    tools = toolchain(language)
    # Standard input is for the launcher alone, not for what a program does while it is built.
    steps = [
        Step(argv=tools.command(argv), wall=language.build_time, stdin=False)
        for argv in language.build
    ]
    text, later = composed.text, b""
    late = language.late is not None
    if late:
        text, later = parts_of(composed)
    return Program(
        steps=(*steps, Step(argv=tools.command(language.run), wall=timeout, hide=language.sources)),
        files={
            **{name: _launcher(name) for name in language.launchers},
            language.file: language.source(text, late=late),
        },
        stdin=f"{SECRET}\n".encode() + later,
        env=_environment(language, tools),
        needs=tools.needs,
        limits=Limits(
            wall=timeout + language.build_time * len(steps),
            memory=language.memory,
            open_files=OPEN_FILES,
        ),
        tools=tools.command(names[0] for names in language.tools),
        toolchain=f"{language.name} {version(language)}",
    )


def script_of(
    composed: Composed, language: Language, script: Script, stdin: str, *, timeout: float
) -> Program:
    """Make a program that stands by itself; what it prints comes back as a file, all of it."""
    tools = toolchain(language)
    steps = [
        Step(argv=tools.command(argv), wall=language.build_time, stdin=False)
        for argv in script.build
    ]
    redirect = ("sh", "-c", f'exec "$@" >{OUTPUT}', "sh")
    return Program(
        steps=(*steps, Step(argv=(*redirect, *tools.command(script.run)), wall=timeout)),
        files={
            **{name: _launcher(name) for name in script.launchers},
            language.file: composed.text.encode("utf-8", "surrogatepass"),
        },
        stdin=stdin.encode("utf-8", "surrogatepass"),
        env=_environment(language, tools),
        needs=tools.needs,
        limits=Limits(
            wall=timeout + language.build_time * len(steps),
            memory=language.memory,
            open_files=OPEN_FILES,
            file_size=MOST_OUTPUT,
        ),
        keep=(OUTPUT,),
        toolchain=f"{language.name} {version(language)}",
    )


def _python(
    program: Program,
    composed: Composed,
    test: UnitTest,
    language: Language,
    sandbox: Sandbox | None,
) -> Program:
    """Make a Python program; without a sandbox, one that is run whole."""
    if sandbox is None:
        return replace(program, modules=modules())
    isolated = test.isolate is not False and not test.cleanup
    parts = isolation_of(test.content, test.before, language)
    if not isolated or parts.reason:
        return in_one_process(program, composed)
    if sandbox.joins:
        return in_two_processes(program, composed, parts)
    if test.isolate:
        raise _NotRun("this sandbox cannot run a test apart from the answer (isolate: true)")
    return in_one_process(program, composed)


def _shared_because(test: UnitTest, language: Language) -> str:
    """Say why a test must share a process with the answer."""
    if language.name != "python":
        return f"tests in {language.name} run in the process of the answer"
    if test.cleanup:
        return "it has a cleanup"
    return isolation_of(test.content, test.before, language).reason


def aid_of(language: Language, texts: Iterable[str]) -> Program | None:
    """Make what is run once for all programs of a language whose tests load the same packages.

    Of the tests it takes no more than names of packages that are installed on this machine.
    """
    aid = language.aid
    if aid is None:
        return None
    tools = toolchain(language)
    packages = [*aid.packages, *loaded(language, texts)] if aid.packages is not None else []
    if aid.packages is not None and not packages:
        return None
    files = {name: _launcher(name) for name in aid.files}
    if aid.preamble:
        files[aid.preamble] = "\n".join((*language.preamble, "")).encode()
    return Program(
        steps=tuple(Step(argv=(*tools.command(argv), *packages)) for argv in aid.steps),
        files=files,
        env=_environment(language, tools),
        needs=tools.needs,
        limits=Limits(wall=AID_TIME, memory=language.memory, open_files=OPEN_FILES),
        keep=aid.keep,
    )


def _environment(language: Language, tools: Toolchain) -> dict[str, str]:
    modules = {"NODE_PATH": ":".join(tools.modules)} if tools.modules else {}
    return {**language.env, "PATH": tools.path, **modules}


@cache
def _launcher(name: str) -> bytes:
    return (LAUNCHERS / name).read_bytes()


def _with_cleanup(program: Program, text: str) -> Program:
    """Add what the suite wants done after the test; whether it works does not matter."""
    step = Step(argv=("sh", "-c", f"python3 -I {CLEANUP} </dev/null; exit 0"), wall=CLEANUP_TIME)
    return replace(
        program,
        steps=(*program.steps, step),
        files={**program.files, CLEANUP: text.encode("utf-8", "surrogatepass")},
        limits=replace(program.limits, wall=program.limits.wall + CLEANUP_TIME),
    )


def _tools_missing(language: Language, tools: Toolchain) -> Iterator[str]:
    for tool in tools.missing:
        yield f"{language.name}: {tool} is not installed (fix: {language.install})"
