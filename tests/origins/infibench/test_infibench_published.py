"""The part of the published suite that lies beside the repository is read in both modes."""

from collections import Counter
from pathlib import Path

import pytest

from proctor import registry
from proctor.origins.infibench.dialect import InfiBench

DEV = Path(__file__).resolve().parents[3] / ".." / "shared" / "infibench_dev"

pytestmark = pytest.mark.skipif(not DEV.is_dir(), reason="the published cases are not here")


@pytest.mark.parametrize("compat", ["", "original"])
def test_all_cases_are_read(compat: str) -> None:
    reading = InfiBench().read(DEV / "suite_dev.yaml", compat=compat)
    suite = reading.suite
    assert (suite.reduce, suite.compat, len(suite.cases)) == ("avg_max_10", compat, 26)
    kinds = Counter(criterion.id for case in suite.cases for criterion in case.criteria)
    assert kinds == {"keywords": 12, "blank_filling": 6, "unit_test": 7, "similarity": 2}
    for case in suite.cases:
        assert case.prompt
        assert set(case.tags) == {"type", "lang"}
        for criterion in case.criteria:
            scorer = registry.build("scorer", criterion.scorer)
            assert list(scorer.problems()) == []


def test_every_oddity_is_warned_of_in_both_modes() -> None:
    found = []
    for compat in ("", "original"):
        warnings = InfiBench().read(DEV / "suite_dev.yaml", compat=compat).warnings
        found.append(sorted((Path(w.file or "").name, w.line or 0) for w in warnings))
    assert found[0] == found[1]
    assert Counter(name for name, _ in found[0]) == {
        "eval_0-1-137.yaml": 1,
        "eval_2-10-497.yaml": 1,
        "eval_3-12-534.yaml": 1,
        "eval_3-12-556.yaml": 11,
    }


@pytest.mark.parametrize("model", ["gpt-4", "gpt-3.5-turbo"])
def test_all_responses_are_read(model: str) -> None:
    suite = InfiBench().read(DEV / "suite_dev.yaml").suite
    attempts = list(InfiBench().answers(DEV / "responses" / model, suite))
    by_case = Counter(attempt.case_id for attempt in attempts)
    assert by_case == {case.id: 30 for case in suite.cases}
    assert [attempt.index for attempt in attempts if attempt.case_id == "0-0-4"] == list(range(30))
    first = next(attempt for attempt in attempts if attempt.case_id == "0-0-4")
    file = DEV / "responses" / model / "eval_0-0-4_0.txt"
    assert first.output == file.read_text(encoding="utf-8")
