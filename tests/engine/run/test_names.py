"""Names of runs: short where they are free, told apart where not, and what differs in words."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Sampling
from proctor.core.run import Run
from proctor.core.suite import Spec, Suite
from proctor.engine.run.names import differences, named_run, namesake_notice, which_notice
from proctor.engine.run.settings import JudgeSettings, RunSettings, SuiteSettings
from proctor.store.store import Store

SUITE = Suite(name="quiz", cases=())


def model(spec: str, **how: Any) -> RunSettings:
    choice = ModelChoice(spec=spec, **how.pop("choice", {}))
    part = SuiteSettings(path=Path("quiz.yaml"), **how.pop("part", {}))
    return RunSettings(suite=part, model=choice, **how)


def started(store: Store, settings: RunSettings, key: str = "k1") -> Run:
    run = named_run(settings, SUITE, key, store)
    store.runs.save(run)
    return run


def test_the_same_settings_are_the_same_run_and_another_address_is_told_in_the_name(
    store: Store,
) -> None:
    first = started(store, model("openai:m@http://one/v1"))
    assert first.name == "quiz-openai:m"
    assert named_run(model("openai:m@http://one/v1"), SUITE, "k1", store).id == first.id
    other = started(store, model("openai:m@http://two:81/v1"))
    assert other.name == "quiz-openai:m@two:81"
    third = started(store, model("openai:m@http://two:81/v2"))
    assert third.name == "quiz-openai:m@two:81/v2"
    assert started(store, model("openai:m")).name == "quiz-openai:m@default"
    assert len({run.id for run in store.runs.newest()}) == 4


def test_two_addresses_of_one_host_are_told_apart_by_their_paths(store: Store) -> None:
    first = started(store, model("openai:m@http://one/a/v1"))
    other = started(store, model("openai:m@http://one/b/v1"))
    assert (first.name, other.name) == ("quiz-openai:m", "quiz-openai:m@one/b/v1")
    for run, address in ((first, "a"), (other, "b")):
        again = named_run(model(f"openai:m@http://one/{address}/v1"), SUITE, "k1", store)
        assert again.id == run.id


def test_a_distinction_comes_first_and_a_stored_run_keeps_its_name(store: Store) -> None:
    settings = model("openai:m@http://one/a/v1")
    told = started(store, replace(settings, distinction="@one/a/v1"), key="k2")
    assert told.name == "quiz-openai:m@one/a/v1"
    before = started(store, settings)
    assert before.name == "quiz-openai:m"
    again = named_run(replace(settings, distinction="@one/a/v1"), SUITE, "k1", store)
    assert again.id == before.id, "what was made without it is not made again"


def test_a_chosen_name_is_kept_and_others_of_it_are_told(store: Store) -> None:
    first = started(store, model("openai:m", name="x"))
    other = named_run(model("openai:n", name="x"), SUITE, "k1", store)
    assert (other.name, other.id == first.id) == ("x", False)
    notice = namesake_notice(other, store)
    assert f"{first.id} of " in notice
    assert "which has another model" in notice
    assert which_notice("x", store) == ""
    store.runs.save(other)
    assert namesake_notice(other, store) == ""
    assert which_notice("x", store).startswith(
        f"2 runs are called 'x': this is the newest, {other.id}"
    )
    assert which_notice(first.id, store) == ""


def test_another_edition_of_the_suite_is_a_regrading_of_the_nearest_run(store: Store) -> None:
    started(store, model("openai:m", attempts=2))
    near = started(store, model("openai:m"))
    later = named_run(model("openai:m"), SUITE, "k2", store)
    assert later.regraded == near.id
    assert "is its regrading with another edition of the suite" in namesake_notice(later, store)
    part = named_run(model("openai:m", part={"limit": 3}), SUITE, "k3", store)
    assert part.regraded is None
    store.runs.save(later)
    assert named_run(model("openai:m"), SUITE, "k2", store).regraded == near.id


def test_answers_in_another_folder_get_the_folder_in_the_name(store: Store, tmp_path: Path) -> None:
    def answers(folder: str) -> RunSettings:
        path = tmp_path / folder / "answers.jsonl"
        return RunSettings(suite=SuiteSettings(path=Path("q")), answers=path)

    names = [started(store, answers(folder)).name for folder in ("a", "b", "a")]
    assert names == ["quiz-answers", "quiz-answers@b", "quiz-answers"]


def run_of(settings: RunSettings) -> Run:
    return Run(
        id="i",
        name="n",
        suite="quiz",
        suite_key="k",
        candidate=settings.candidate,
        settings=settings.stored(),
    )


BASE = model("openai:m@http://one/v1")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (BASE, []),
        (model("openai:n@http://one/v1"), ["another model"]),
        (model("openai:m@http://two/v1"), ["another address"]),
        (model("openai:m@http://one/v1", choice={"sampling": Sampling(temperature=1.0)}),
         ["other sampling"]),
        (model("openai:m@http://one/v1", choice={"system": "s", "suffix": "x"}),
         ["another prompt around the cases"]),
        (model("openai:m@http://one/v1", part={"limit": 1, "where": "x"}), ["other cases"]),
        (model("openai:m@http://one/v1", attempts=3, repeat_label="b"),
         ["another repetition", "another number of attempts"]),
        (model("openai:m@http://one/v1",
               panel=JudgeSettings(judges=(ModelChoice(spec="openai:j"),))), ["another judge"]),
        (RunSettings(suite=SuiteSettings(path=Path("q")), answers=Path("a")),
         ["a candidate of another kind"]),
    ],
)  # fmt: skip
def test_what_differs_is_said_in_words(other: RunSettings, words: list[str]) -> None:
    one, two = run_of(BASE), run_of(other)
    assert differences(two, one) == differences(one, two) == words


def test_another_suite_is_said_before_all_else() -> None:
    run = run_of(BASE)
    assert differences(run, replace(run, suite="exam", suite_key="x")) == ["another suite"]
    assert differences(run, replace(run, suite_key="x")) == ["another edition of the suite"]
    agent = replace(run, candidate=Spec(name="agent", params={"key": "1"}))
    assert differences(
        agent, replace(agent, candidate=Spec(name="agent", params={"key": "2"}))
    ) == ["another candidate, or other options of it"]
