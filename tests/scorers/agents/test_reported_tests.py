"""Reports of programs that run tests, each as its program writes it."""

import pytest

from proctor.scorers.agents.reported_tests import read_tests

PYTEST = """\
=========================== short test summary info ============================
PASSED test_a.py::test_one
FAILED test_a.py::test_two[x y] - assert 1 == 2
ERROR test_b.py - ImportError: no
"""
UNITTEST = """\
test_one (test_a.Ours.test_one) ... ok
test_two (test_a.Ours) ... FAIL
Ran 2 tests in 0.001s
"""
TAP = "TAP version 13\n# Subtest: adds\nok 1 - adds\n  not ok 2 - takes # time=1ms\n"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (PYTEST, {"test_a.py::test_one": "passed", "test_a.py::test_two[x y]": "failed", "test_b.py": "failed"}),
        ("a/test_a.py::test_one PASSED   [ 50%]", {"a/test_a.py::test_one": "passed"}),
        (UNITTEST, {"test_a.Ours.test_one.test_one": "passed", "test_a.Ours.test_two": "failed"}),
        (TAP, {"adds": "passed", "takes": "failed"}),
        ("test tests::adds ... ok\ntest tests::takes ... FAILED", {"tests::adds": "passed", "tests::takes": "failed"}),
        ("--- PASS: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)", {"TestA": "passed", "TestA/b": "failed"}),
        ("  ✓ adds (3 ms)\n  ✕ takes", {"adds": "passed", "takes": "failed"}),
        ("ok 1 - adds\nnot ok 1 - adds\nok 1 - adds", {"adds": "failed"}),
        ("2 passed in 0.1s\nall is well", {}),
    ],
)  # fmt: skip
def test_reports(output: str, expected: dict[str, str]) -> None:
    assert read_tests(output) == expected
