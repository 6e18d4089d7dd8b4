"""The final answer in replies of many shapes."""

import pytest

from proctor.scorers.text.final_answer import boxed, extracted, phrased


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"so \boxed{5}", "5"),
        (r"\boxed{3} then \boxed{4}", "4"),
        (r"\boxed{\frac{\sqrt{\frac{1}{2}}}{2}}", r"\frac{\sqrt{\frac{1}{2}}}{2}"),
        ("The correct answer is boxed{0}.", "0"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{3} and \boxed{4", "3"),
        (r"The answer is 7, that is \boxed{8}.", "8"),
        ("The answer is C.", "C"),
        ("The answer is (C).", "C"),
        ("The answer is $\\frac{1}{2}$.", r"\frac{1}{2}"),
        ("The answer is 3/4 and also Answer: 5", "5"),
        ("**Answer:** 42", "42"),
        ("Answer: **B**", "B"),
        ("Answer: B) 12 apples", "B) 12 apples"),
        ("answer: 7", "7"),
        ("The final answer is: 3.5. I hope it is correct.", "3.5"),
        ("The answer to the second part is 9.", "9"),
        ("First the answer is 4.\nWait.\nThe answer is 6.", "6"),
        ("答案：42", "42"),
        ("所以答案是 B。因为……", "B"),
        ("The tallest is Ann.\n\nB", "B"),
        ("reasons\n(C)", "C"),
        ("reasons\n**D**.", "D"),
        ("B", "B"),
        ("42", "42"),
        ("Paris", "Paris"),
        ("It follows that there are 12 apples", "12"),
        ("We get 1,234 and then -5.5 in all of it", "-5.5"),
        ("From 3/4 of it", "From 3/4 of it"[5:8]),
        ("about 50% of them do so", "50%"),
        ("I do not know what this is about", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_extracted(text: str, expected: str) -> None:
    assert extracted(text) == expected


@pytest.mark.parametrize(
    "text",
    [r"\boxed{" * 20_000, "answer: " * 20_000, "answer" + " " * 50_000, "1," * 50_000],
)
def test_replies_without_end_are_searched_quickly(text: str) -> None:
    assert len(extracted(text)) <= 20_000


def test_parts() -> None:
    assert boxed("nothing") == ""
    assert phrased("nothing") == ""
