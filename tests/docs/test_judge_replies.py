"""The replies of judges on the page about testing: each scorer's own, and of every judged one."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from proctor import registry
from proctor.scorers.judged.against_context import Correct, Supported
from proctor.scorers.judged.asking_judge import Correctness
from proctor.scorers.judged.criteria import YesNo, _rated
from proctor.scorers.judged.numbered_rulings import ListedClaims, rulings_on
from proctor.scorers.judged.rating_metric import Rated
from proctor.scorers.judged.rubric import Met
from proctor.scorers.judged.scoring_point import Hit
from proctor.scorers.judged.summary_quality import Better

PAGE = Path(__file__).resolve().parents[2] / "docs" / "testing.md"
SECTION = (
    PAGE.read_text(encoding="utf-8").partition("## What a judge replies")[2].partition("## ")[0]
)
ROWS = [
    (cells[1].strip(), cells[2].strip())
    for line in SECTION.splitlines()
    if len(cells := line.split("|")) > 3 and "{" in line
]
VERDICTS: dict[str, Any] = {
    "judged": YesNo,
    "judged_correct": Correctness,
    "qa_correctness": Correct,
    "hallucination": Supported,
    "rubric": Met,
    "scoring_point": Hit,
    "rating": _rated(1, 5),
    "rating_metric": Rated,
    "summary_quality": Better,
}
RULINGS = {
    "faithfulness": ("supported", "contradicted", "not said"),
    "answer_relevance": ("relevant", "irrelevant"),
    "context_precision": ("useful", "useless"),
    "citations": ("supports", "in part", "no"),
    "noise_sensitivity": ("agrees", "contradicts", "not said"),
}


def verdict_of(what: str) -> Any:
    name = re.findall(r"`(\w+)`", what)[0]
    if what.startswith("claims"):
        return ListedClaims
    if what.startswith("rulings"):
        return rulings_on(1, RULINGS[name], passages=name == "faithfulness")
    return VERDICTS[name]


@pytest.mark.parametrize(("what", "reply"), ROWS, ids=[what for what, _ in ROWS])
def test_a_reply_on_the_page_is_a_verdict(what: str, reply: str) -> None:
    written = re.findall(r"`(\{.*?\})`", reply)
    assert len(written) == 1
    verdict = verdict_of(what)
    fields = json.loads(written[0])
    assert fields.keys() <= verdict.model_fields.keys()
    verdict.model_validate(fields)
    with pytest.raises(ValueError, match="validation error"):
        verdict.model_validate({"reason": "nothing else"})


def test_every_judged_scorer_is_on_the_page() -> None:
    for name in registry.BUILT_IN["scorer"]:
        if registry.find("scorer", name).needs_judge is not False:
            assert f"`{name}`" in SECTION, name


@pytest.mark.parametrize("name", sorted(RULINGS))
def test_every_ruling_of_a_scorer_is_on_the_page(name: str) -> None:
    row = next(reply for what, reply in ROWS if what.startswith(f"rulings of `{name}`"))
    for choice in RULINGS[name]:
        assert choice in row
