"""Settings of runs: all of one by name, and those in which several differ."""

from dataclasses import replace

from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.web.pages.run_settings import setting_differences, settings_of


def test_only_settings_that_differ_are_listed_and_no_outcomes() -> None:
    first = Run(
        id="a", name="a", suite="quiz", suite_key="k", candidate=Spec(name="model"),
        settings={"attempts": 1, "sampling": {"temperature": 0.0, "seed": 1}},
        signature="judge:x|attempts:1|n:3|unanswered:1|unscored:0",
    )  # fmt: skip
    second = replace(
        first,
        settings={"sampling": {"temperature": 0.7, "seed": 1}},
        signature="judge:y|n:4|unanswered:0|unscored:2",
    )
    assert {one.name: one.values for one in setting_differences([first, second])} == {
        "attempts": ["1", None],
        "sampling.temperature": ["0.0", "0.7"],
        "signature.judge": ["x", "y"],
    }


def test_the_judges_of_a_run_are_settings_by_name() -> None:
    judge = {"model": "openai:judge", "sampling": {"temperature": 0.0}}
    run = Run(
        id="a", name="a", suite="quiz", suite_key="k", candidate=Spec(name="model"),
        settings={"judges": [judge], "stopped_early": {"at": 1}},
        signature="suite:quiz|judge:x|n:3",
    )  # fmt: skip
    assert {one.name: one.value for one in settings_of(run)} == {
        "candidate.name": "model",
        "judges.model": "openai:judge",
        "judges.sampling.temperature": "0.0",
        "judge": "x",
    }
    two = replace(run, settings={"judges": [judge, judge]})
    assert "judges.2.model" in {one.name for one in settings_of(two)}
