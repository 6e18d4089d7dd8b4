"""Random suites of all scorers that a large run may have: both homes say the same of them."""

import random
from pathlib import Path

import pytest
from tests.engine.bulk.conftest import Run, assert_same
from tests.engine.bulk.random_suites import KINDS, as_jsonl, random_suite

from level import LEVEL
from proctor import registry
from proctor.core.suite import Spec
from proctor.errors import SuiteError

pytestmark = pytest.mark.usefixtures("here")

ELSEWHERE = {
    "sandbox": {
        *("eval_code", "no_new_failures", "python_check", "sql_equal", "state_equal"),
        *("task_tests", "unit_tests"),
    },
    "weights": {"bert_score", "bert_similarity", "hedging_language", "similar", "unieval"},
}
"""Scorers without a kind here, besides those that ask a judge."""
MANY = 200


def test_every_scorer_without_judge_sandbox_or_weights_is_drawn() -> None:
    rest = set(registry.names("scorer")) - set(KINDS) - set().union(*ELSEWHERE.values())
    classes = {name: registry.class_of("scorer", Spec(name=name)) for name in rest}
    assert [name for name, kind in classes.items() if kind.needs_judge is not True] == []


@pytest.mark.scaled
@pytest.mark.parametrize("seed", range(LEVEL.of(quick=3, ci=12, full=MANY)))
def test_random_suites_have_the_same_numbers_in_both_homes(
    tmp_path: Path, run: Run, seed: int
) -> None:
    made = random_suite(seed)
    draw = random.Random(seed)
    head = [{"suite": made.header}] if made.header else []
    suite, answers = tmp_path / "suite.jsonl", tmp_path / "answers.jsonl"
    suite.write_text(as_jsonl([*head, *made.cases], draw), encoding="utf-8")
    answers.write_text(as_jsonl(made.answers, draw), encoding="utf-8")
    ran = []
    for bulk in (False, True):
        try:
            ran.append(run(suite, answers, store=f"s{bulk}", bulk=bulk, **made.settings))
        except SuiteError as error:
            ran.append(str(error))
    rows, parts = ran
    if isinstance(rows, str) or isinstance(parts, str):
        assert rows == parts
        return
    assert_same(rows, parts)
    assert rows.notices[:1] == parts.notices[:1]
