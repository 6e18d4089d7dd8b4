"""Case files of both generations: which key may stand where, and what it may be."""

from typing import Any

import pytest
from pydantic import ValidationError

from proctor.origins.taskweaver.format import EvaluatorConfig, ScriptedCase, UserCase

POINT = {"score_point": "It is there.", "weight": 1}
OLD = {"eval_query": [{"user_query": "Go.", "scoring_points": [POINT], "post_index": -1}]}
NEW = {"task_description": "Go.", "scoring_points": [POINT], "max_rounds": 3}


def test_both_generations_are_read() -> None:
    old = ScriptedCase.model_validate({**OLD, "data_files": ["a.csv"], "version": 0.1})
    assert old.eval_query[0].post_index == -1
    assert (old.data_files, old.pre_command, old.verbose) == (["a.csv"], [], False)
    assert UserCase.model_validate(NEW).scoring_points[0].weight == 1.0


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (ScriptedCase, {"eval_query": []}),
        (ScriptedCase, {"eval_query": [{"user_query": " "}]}),
        (ScriptedCase, {"eval_query": [{"user_query": "x", "scoring_points": []}]}),
        (ScriptedCase, {**OLD, "post_index": "1"}),
        (ScriptedCase, {**OLD, "task_description": "x"}),
        (UserCase, {**NEW, "scoring_points": [{**POINT, "weight": 0}]}),
        (UserCase, {**NEW, "scoring_points": [{**POINT, "weight": True}]}),
        (UserCase, {**NEW, "scoring_points": [{**POINT, "weight": float("inf")}]}),
        (UserCase, {**NEW, "scoring_points": [{**POINT, "eval_code": ""}]}),
        (UserCase, {**NEW, "max_rounds": 0}),
        (UserCase, {**NEW, "max_rounds": True}),
        (UserCase, {**NEW, "dependencies": [""]}),
        (EvaluatorConfig, {"llm.api_type": "other"}),
        (EvaluatorConfig, {"virtual_user.max_rounds": 0}),
    ],
)
def test_what_no_case_can_mean_is_refused(model: Any, data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(data)


def test_a_key_is_never_shown() -> None:
    config = EvaluatorConfig.model_validate({"llm.api_key": "sk-secret", "llm.model": "m"})
    assert config.model == "m"
    assert "sk-secret" not in repr(config)
