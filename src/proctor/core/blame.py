"""Whose doing it is that a score could not be made: the answer's, or that of what judges it.

What an answer brings about counts against it, or else a candidate could take out of the sum what
it would fail. What happens without it as well is the suite's doing, and leaves the case unscored.
"""

from collections.abc import Iterator

from proctor.core.score import Score
from proctor.core.suite import Case

LIMIT = "limit"
"""Where a score's detail says which limit the answer passed."""
HARMLESS = (
    "This is an ordinary answer of ordinary length. It says a few things one after the other, as"
    " people do: that 2 + 2 = 4, that Paris is a city, and that nothing else is the matter.\n\n"
    "1. First point: see section 3.1 (page 42).\n2. Second point: an e-mail to a.b@example.org.\n\n"
    "```python\ndef double(x):\n    return 2 * x  # nothing special\n```\n\n"
    "这是一个普通的回答。It ends here, with a full stop."
)
_REFERENCES = 3


def innocent_answers(case: Case) -> Iterator[tuple[str, str]]:
    """Yield answers on which no criterion may fail, each with what it is."""
    for reference in case.references[:_REFERENCES]:
        yield "the reference", reference
    yield "an ordinary text", HARMLESS
    yield "an empty answer", ""


def missed(reason: str, out_of: float, *, weight: float = 1.0) -> Score:
    """Make the score of an answer that passed a limit: nothing won, and every penalty incurred."""
    points = out_of if weight < 0 else 0.0
    return Score(
        points=points,
        out_of=out_of,
        reason=f"a miss: on this answer, and on no harmless one, it {reason}",
        detail={LIMIT: reason},
    )


def passed_a_limit(score: Score) -> bool:
    """Tell whether a score is what it is because the answer passed a limit."""
    return isinstance(score.detail, dict) and LIMIT in score.detail


def suites_doing(reason: str, what: str, out_of: float | None = None) -> Score:
    """Make the score of a criterion that fails without the answer, too."""
    return Score.failed(f"{reason}; {what} fares no better: the suite's own doing", out_of=out_of)
