"""What became of a test, in a few words: passed, or why not and on which line."""

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace

from proctor.core.program import Ran, Stopped
from proctor.core.suite import Json
from proctor.scorers.programs.extraction import Composed
from proctor.scorers.programs.language import Language

SHORT, TAIL = 300, 4000
LAST_FIRST = ("python", "sql")
"""Languages that say what went wrong in the last line of their messages."""
_STOPPED: Mapping[Stopped, str] = {
    Stopped.CPU: "used more processor time than allowed",
    Stopped.MEMORY: "used more memory than allowed",
    Stopped.PROCESSES: "started more processes than allowed",
    Stopped.DISK: "wrote more to the disk than allowed",
    Stopped.OUTPUT: "printed more than allowed",
}
_NAMED = re.compile(
    r"^(?:Uncaught |Unhandled [Ee]xception: )?[\w.:\\]*(?:Error|Exception|Exit)\b.*"
)
_TELLING = re.compile(r"assert|error|exception|panic|\bfailed\b|fatal|undefined|not found", re.I)
_PLACE = re.compile(r'  File "main\.py", line (\d{1,7}), in ')
_NOISE = re.compile(r"(?:\d+\s*)?\||at |from |\^|CallStack|error, called at|goroutine |\S+:\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """The outcome of one test."""

    passed: bool
    text: str
    line: int | None
    ran: Ran
    program: str

    def detail(self) -> Json:
        """Write it down for the score."""
        ran = self.ran
        return {
            "passed": self.passed,
            "result": self.text,
            "line": self.line,
            "stopped": ran.stopped.value if ran.stopped is not None else None,
            "seconds": round(ran.seconds, 3),
            "retried": ran.retried,
            "stdout": _tail(ran.stdout),
            "stderr": _tail(ran.stderr),
            "program": self.program,
        }


def outcome_of(
    ran: Ran, language: Language, composed: Composed, *, builds: int, timeout: float
) -> TestOutcome:
    """Read what a sandbox says about a test."""
    if language.name == "python":
        ran = replace(ran, stderr=_with_lines(ran.stderr, composed.text))
    passed = ran.finished and ran.proved
    line = None if passed else _line(ran.stderr, language, composed)
    text = "passed" if passed else _text(ran, language, building=ran.step < builds, timeout=timeout)
    return TestOutcome(passed=passed, text=text, line=line, ran=ran, program=composed.text)


def _with_lines(stderr: str, program: str) -> str:
    """Show the lines of a program in Python's messages where the process did not have its text."""
    if '"main.py", line ' not in stderr:
        return stderr
    lines, source = stderr.split("\n"), program.split("\n")
    shown = []
    for number, line in enumerate(lines):
        shown.append(line)
        place = _PLACE.match(line)
        follows = lines[number + 1] if number + 1 < len(lines) else ""
        if place is not None and not follows.startswith("    ") and int(place[1]) <= len(source):
            shown.append(f"    {source[int(place[1]) - 1].strip()}")
    return "\n".join(shown)


def difference(printed: str, expected: str) -> str:
    """Say where an output differs; white space at the end of lines and of all does not matter."""
    printed_lines, expected_lines = _lines(printed), _lines(expected)
    for number, (line, other) in enumerate(zip(printed_lines, expected_lines, strict=False), 1):
        if line != other:
            return f"printed {_short(line)} instead of {_short(other)} on line {number}"
    if len(printed_lines) != len(expected_lines):
        return f"printed {len(printed_lines)} lines instead of {len(expected_lines)}"
    return ""


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _short(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:60] + "…")


def _text(ran: Ran, language: Language, *, building: bool, timeout: float) -> str:
    if ran.stopped is Stopped.TIME:
        limit = f"{language.build_time:g} s of building" if building else f"{timeout:g} s"
        return f"timed out after {limit}"
    if ran.stopped is not None:
        return _STOPPED[ran.stopped]
    if ran.lost:
        return "ended the process that watches over it"
    if building:
        return f"does not compile: {_telling(ran.stderr, language) or f'exit status {ran.code}'}"
    if ran.code == 0:
        return "ended early: exit status 0 before the end of the test"
    message = _telling(ran.stderr, language)
    return message or _ending(ran.code)


def _ending(code: int | None) -> str:
    number = -code if code is not None and code < 0 else (code or 0) - 128
    if number in signal.valid_signals() and number > 0:
        return f"ended by signal {signal.Signals(number).name}"
    return f"exit status {code}"


def _telling(stderr: str, language: Language) -> str:
    """Return the line that says what went wrong."""
    lines = [clean(line).strip() for line in stderr.split("\n") if line.strip()]
    if language.name in LAST_FIRST:
        lines.reverse()
    telling = [line for line in lines if not _NOISE.match(line)] or lines
    chosen = next((line for line in telling if _NAMED.match(line)), None)
    chosen = chosen or next((line for line in telling if _TELLING.search(line)), None)
    chosen = chosen or next(iter(telling), "")
    after = telling.index(chosen) + 1 if chosen else 0
    if chosen.endswith(":") and language.name not in LAST_FIRST and after < len(telling):
        chosen = f"{chosen} {telling[after]}"
    return chosen[:SHORT]


def _line(stderr: str, language: Language, composed: Composed) -> int | None:
    """Return the first line of the test that the messages name, or else of the program."""
    pattern = re.escape(language.file) + r"(?:\"?,? (?:on )?line |: line |:|\()(\d+)"
    last = composed.text.count("\n") + 1
    # An error at the end of the file is reported behind its last line.
    numbers = [min(int(number), last) for number in re.findall(pattern, stderr[:200_000])]
    inside = [number for number in numbers if number >= composed.test_line]
    return next(iter(inside or numbers), None)


def clean(text: str) -> str:
    """Return a text without characters that steer a terminal."""
    plain = re.sub(r"\x1b\[[0-9;?]*[ -/]*[@-~]", "", text)
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "�" for letter in plain)


def _tail(text: str) -> str:
    shown = clean(text[-TAIL:])
    return shown if len(text) <= TAIL else f"[… {len(text) - TAIL} characters before]\n{shown}"
