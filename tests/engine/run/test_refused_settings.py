"""Settings that servers did not take: kept with the run, joined, and said in one line."""

import pytest

from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.engine.run.signature import (
    Refused,
    refused_before,
    refused_for_others,
    refused_in,
    refused_words,
    with_refused,
)
from proctor.store.store import Store

RUN = Run(
    id="id", name="n", suite="s", suite_key="k", candidate=Spec(name="m"), settings={"limit": 3}
)


def test_parts_are_joined_and_an_empty_one_changes_nothing() -> None:
    assert with_refused(RUN, {}, {"m": {}}) is RUN
    noted = with_refused(RUN, {"b": {"top_p": ""}}, {"a": {"n": "1"}, "b": {"seed": ""}})
    assert refused_in(noted) == {"a": {"n": "1"}, "b": {"top_p": "", "seed": ""}}
    assert list(refused_in(noted)) == ["a", "b"]
    assert noted.settings["limit"] == 3
    assert refused_in(RUN) == {}


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        ({}, ""),
        ({"m": {}}, ""),
        ({"m": {"temperature": "", "max_tokens": "max_completion_tokens"}},
         "m max_tokens>max_completion_tokens+temperature"),
        ({"z": {"seed": ""}, "a": {"n": ""}}, "a n,z seed"),
    ],
)  # fmt: skip
def test_words_are_the_same_whatever_the_order(refused: Refused, words: str) -> None:
    assert refused_words(refused) == words


def test_earlier_parts_are_those_of_the_same_run_alone(store: Store) -> None:
    assert refused_before(store, RUN) == {}
    store.runs.save(with_refused(RUN, {"m": {"seed": ""}}))
    assert refused_before(store, RUN) == {"m": {"seed": ""}}
    assert refused_for_others(store, RUN, ()) == {}
    assert refused_for_others(store, RUN, ["m"]) == {}
    namesake = Run(id="n2", name="id2", suite="s", suite_key="k", candidate=Spec(name="m"))
    assert refused_before(store, namesake) == {}
