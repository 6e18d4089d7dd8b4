"""What programs that run tests write about each of them."""

import re
from collections.abc import Callable, Sequence
from re import Match

PASSED, FAILED = "passed", "failed"
_WORDS = {
    "passed": PASSED, "ok": PASSED, "pass": PASSED, "xpass": PASSED, "xfail": PASSED, "✓": PASSED,
    "✔": PASSED, "√": PASSED, "failed": FAILED, "fail": FAILED, "error": FAILED, "not ok": FAILED,
    "✕": FAILED, "✖": FAILED, "×": FAILED, "✗": FAILED,
}  # fmt: skip

_Row = tuple[str, Callable[[Match[str]], tuple[str, str]]]
_FORMS: Sequence[_Row] = (
    # pytest -rA: the short summary at its end; pytest -v: a line for each.
    (
        r"^(PASSED|FAILED|ERROR|XFAIL|XPASS) (\S+\.py(?:::.+?)?)(?: - .*)?$",
        lambda match: (match[2], match[1]),
    ),
    (r"^(\S+\.py::.+?) (PASSED|FAILED|ERROR|XFAIL|XPASS)\b", lambda match: (match[1], match[2])),
    # unittest -v
    (
        r"^(\w+) \(([\w.]+)\)(?:.*?) \.\.\. (ok|FAIL|ERROR)$",
        lambda match: (f"{match[2]}.{match[1]}", match[3]),
    ),
    # cargo test
    (r"^test (.+?) \.\.\. (ok|FAILED)$", lambda match: (match[1], match[2])),
    # go test -v
    (r"^\s*--- (PASS|FAIL): (\S+)", lambda match: (match[2], match[1])),
    # Test Anything Protocol, as node --test writes it
    (
        r"^\s*(ok|not ok) \d+(?: - | )(.+?)(?: # .*)?$",
        lambda match: (match[2], match[1]),
    ),
    # jest, vitest, mocha
    (
        r"^\s*([✓✔√✕✖×✗]) (.+?)(?: \(?\d+(?:\.\d+)? ?m?s\)?)?$",
        lambda match: (match[2], match[1]),
    ),
)
_COMPILED = [(re.compile(pattern), read) for pattern, read in _FORMS]


def read_tests(output: str) -> dict[str, str]:
    """Return how each test ended that a report names; one that failed once has failed."""
    tests: dict[str, str] = {}
    for line in output.splitlines():
        for pattern, read in _COMPILED:
            if (match := pattern.match(line[:1000])) is not None:
                name, word = read(match)
                if tests.get(name) != FAILED:
                    tests[name] = _WORDS[word.lower()]
                break
    return tests
