"""Conditions cannot reach anything, and a broken one leaves nothing behind."""

from pathlib import Path

import pytest

from proctor.scorers.text.conditions import ConditionError, condition_problem, holds


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("a > 1", {"a": 2}, True),
        ("a > 1", {"a": 1}, False),
        ("  a  ", {"a": "x"}, True),
        ("'x' in c and len(c) == 2", {"c": ["x", "y"]}, True),
        ("c.count('match') >= 2", {"c": ["match", "match"]}, True),
        ("any(s == 'm' for s in c)", {"c": ["m"]}, True),
        ("r.lower().startswith('yes')", {"r": "Yes."}, True),
        ("None", {}, False),
    ],
)
def test_values(text: str, names: dict[str, object], expected: bool) -> None:
    assert holds(text, names) is expected


HOSTILE = [
    "[0 for _ in range(10**9)]",
    "'x' * 10**10",
    "[list(range(10**6)) for _ in range(10**4)]",
    "open('/etc/passwd').read()",
    "__import__('os').system('true')",
    "__import__('os').getcwd()",
    "().__class__.__bases__[0].__subclasses__()",
    "exec('while True: pass')",
    "eval('open')('x')",
    "globals()",
    "1 / 0",
    "no_such_name",
    "9 ** 9 ** 9",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.sampled(2)
def test_hostile_conditions_fail_and_the_next_one_works(text: str) -> None:
    with pytest.raises(ConditionError):
        holds(text, {"a": 1})
    assert holds("a == 1", {"a": 1})


def test_conditions_leave_no_state_behind() -> None:
    names = {"c": ["x"]}
    assert not holds("c.append('y')", names)
    assert names == {"c": ["x"]}
    assert holds("c == ['x']", names)
    assert not holds("exec('leftover = 1')", {})
    with pytest.raises(ConditionError):
        holds("leftover", {})
    assert holds("seen", {"seen": True})
    with pytest.raises(ConditionError):
        holds("seen", {})


def test_conditions_write_no_file(tmp_path: Path) -> None:
    target = tmp_path / "made"
    with pytest.raises(ConditionError):
        holds(f"open({str(target)!r}, 'w').write('x')", {})
    assert not target.exists()


@pytest.mark.parametrize(
    "text", ["", "x = 1", "import os", "(", "x; y", "(y := 1)", "\0", "a" * 5000]
)
def test_problems_are_found_before_running(text: str) -> None:
    assert condition_problem(text)
    with pytest.raises(ConditionError):
        holds(text, {})
