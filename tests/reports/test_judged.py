"""Corrected scores in words and as JSON."""

from dataclasses import replace

import pytest

from proctor.core.run import CorrectedScore, Summary, Totals
from proctor.reports.judged import corrected_object, judge_notes

TOTALS = Totals(
    score=1.0, full=1.0, rate=1.0, spread=0.0, interval=None, cases=1, attempts=1, unanswered=0,
    unscored=0, errors=0, cases_unscored=0, bounds=None,
)  # fmt: skip
KIND = CorrectedScore(
    raw=0.8, value=0.65, interval=(0.55, 0.74), bias=0.15, trust=0.7, labelled=50, cases=500,
    unlike=0.5,
)  # fmt: skip


def notes(score: CorrectedScore) -> list[str]:
    return judge_notes(Summary(totals=TOTALS, corrected={"fits": score}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Corrected fits: 65.0% [55.0–74.0%] (the judge alone 80.0%, +15.0 points too kind on"
             " 50 labelled of 500 cases)"),
        ({"bias": -0.05}, "5.0 points too strict"),
        ({"scale": (1.0, 5.0), "raw": 3.2, "value": 2.6, "interval": (2.2, 3.0), "bias": 0.6},
         "Corrected fits: 2.60 [2.20–3.00] (the judge alone 3.20, +0.60 too kind"),
        ({"value": None, "interval": None, "bias": None, "labelled": 1},
         "Corrected fits: – (1 labelled case; at least 2 are needed)"),
    ],
)  # fmt: skip
def test_words(changes: dict[str, object], words: str) -> None:
    assert (
        notes(replace(KIND, **changes))[0].startswith(words)
        or words in notes(replace(KIND, **changes))[0]
    )


def test_a_warning_follows() -> None:
    lines = notes(replace(KIND, unlike=0.001, warning="not like the others"))
    assert lines[1] == "Warning: fits: not like the others"
    assert corrected_object({"fits": KIND})["fits"]["interval"] == (0.55, 0.74)
