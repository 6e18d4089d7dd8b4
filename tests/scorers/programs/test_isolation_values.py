"""What a test does with values of the answer: objects beside plain data, and very many calls."""

import ast

import pytest

from proctor.scorers.programs.isolation_values import loops_too_often, mixed_comparison

OWN = {"Point", "Colour", "solve", "LIMIT"}


@pytest.mark.parametrize(
    ("test", "mixed"),
    [
        ("assert Point(1) == Point(2)", False),
        ("assert Point(1) == (1, 2)", True),
        ("p = Point(1)\nassert p != 3", True),
        ("p = q = Point(1)\nassert p == q", False),
        ("assert Point(1) is not None", False),
        ("assert Point(1) == None", False),
        ("assert Point(1) in [1]", False),
        ("assert solve(1) == 2", False),
        ("assert LIMIT == 3", False),
        ("assert Colour.RED == 1", True),
        ("assert -Point(1) == 1", True),
        ("assert (not Point(1)) == False", False),
        ("assert Point(1) + Point(2) == 3", True),
        ("self.p = Point(1)\nself.assertEqual(self.p, 3)", True),
        ("self.p = Point(1)\nself.assertEqual(self.p, Point(1))", False),
        ("self.assertTrue(Point(1), 3)", False),
    ],
)
def test_an_object_beside_plain_data_is_told(test: str, mixed: bool) -> None:
    assert bool(mixed_comparison(ast.parse(test), OWN)) is mixed
    assert mixed_comparison(ast.parse(test), {"solve"}) == ""


@pytest.mark.parametrize(
    ("test", "often"),
    [
        ("for i in range(5000):\n    solve(i)", False),
        ("for i in range(5001):\n    solve(i)", True),
        ("for i in range(10 ** 6):\n    pass\nsolve(1)", False),
        ("for i in range(100):\n    for j in range(100):\n        solve(i)", True),
        ("[solve(i) for i in range(80) for j in range(80)]", True),
        ("for i in range(3 * 2000):\n    solve(i)", True),
        ("for i in range(10 ** 9 ** 9):\n    other(i)", False),
        ("while True:\n    solve(1)", False),
        ("for i in items:\n    solve(i)", False),
    ],
)
def test_a_loop_that_calls_the_answer_too_often_is_told(test: str, often: bool) -> None:
    assert bool(loops_too_often(ast.parse(test), {"solve"})) is often
