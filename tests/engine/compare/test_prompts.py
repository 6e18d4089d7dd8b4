"""Prompts over several models together: each case is one draw, however many models answered it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from engine.compare.stored_pairs import case, values
from engine.compare.test_pair_sums import OUTCOMES, as_columns
from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.engine.compare.comparing import CompareSettings, compare, sides_of
from proctor.engine.compare.prompts import PromptContrast, prompt_contrasts, prompt_verdicts
from proctor.errors import UsageError
from proctor.store.pairs import Pairs
from proctor.store.store import Store

Put = Callable[..., Run]


def candidate(model: str, prompt: str, **more: Any) -> Spec:
    name = f"{model}+{prompt}" if prompt else model
    params: dict[str, Any] = {"name": name, "model": model, **more}
    if prompt:
        content = [{"role": "user", "content": f"{prompt} {{{{question}}}}"}]
        params["prompt"] = {"name": prompt, "messages": content}
    return Spec(name="model", params=params)


def stored(put: Put, marks: dict[tuple[str, str], Sequence[Any]], **more: Any) -> list[str]:
    """Store a run for each model and prompt, and return their ids."""
    return [
        put(f"{model}+{prompt}", values(row), candidate=candidate(model, prompt), **more).id
        for (model, prompt), row in marks.items()
    ]


def contrasts(store: Store, ids: Sequence[str], **more: Any) -> list[PromptContrast]:
    return prompt_contrasts(store, sides_of(store, ids), **more)


def test_the_same_results_of_more_models_are_no_more_evidence(store: Store, put: Put) -> None:
    old, new = [0.0] * 9 + [1.0] * 21, [1.0] * 8 + [0.0] + [1.0] * 21
    marks = {
        (model, prompt): row
        for model in ("a", "b", "c", "d")
        for prompt, row in (("plain", old), ("strict", new))
    }
    ids = stored(put, marks)
    alone = compare(store, ids[:2]).contrasts[0]
    (both,) = contrasts(store, ids)
    assert both.paired.n == alone.paired.n == 30
    assert both.interval == pytest.approx(alone.interval)
    assert both.adjusted_p == pytest.approx(alone.adjusted_p)
    assert (both.flips.to_right, both.flips.to_wrong) == (4 * 8, 0)
    assert both.paired.clusters is None


def test_models_that_agree_show_what_each_alone_does_not(store: Store, put: Put) -> None:
    """Four models each got four other questions right: no one alone would show it."""
    marks = {}
    for number, model in enumerate(("a", "b", "c", "d")):
        new = [float(place // 4 == number) for place in range(30)]
        marks |= {(model, "plain"): [0.0] * 30, (model, "strict"): new}
    ids = stored(put, marks)
    (both,) = contrasts(store, ids)
    alone = [compare(store, ids[place : place + 2]).contrasts[0] for place in range(0, 8, 2)]
    assert {contrast.verdict for contrast in alone} == {"unclear"}
    assert both.verdict == "better"
    assert both.paired.difference == pytest.approx(16 / 120)
    shown = both.shown()
    assert shown.sentence.startswith(
        "Over 4 models together, prompt strict is better than prompt plain: +13.3 points of 100,"
    )
    assert "30 cases; 16 results went from wrong to right, 0 the other way." in shown.sentence
    assert shown.to_json()["runs"] == [ids[place : place + 2] for place in range(0, 8, 2)]
    assert shown.to_json()["cases"] == 30
    assert both.shown("zh").sentence.startswith("4 个模型合计：提示词 strict 优于 提示词 plain")


def test_questions_that_all_models_find_hard_do_not_fool_it(store: Store, put: Put) -> None:
    """Where the models of a case change together, verdicts on equal prompts err as one test may."""
    drawn = random.Random(7)
    wrong = 0
    for number in range(60):
        changes = [drawn.choice((-1, 0, 0, 0, 1)) for _ in range(24)]
        marks: dict[tuple[str, str], list[float]] = {}
        for model in "abcde":
            old = [float(change < 0) for change in changes]
            new = [float(change > 0) for change in changes]
            place = drawn.randrange(24)
            old[place], new[place] = new[place], old[place]
            marks |= {(f"{model}{number}", "plain"): old, (f"{model}{number}", "strict"): new}
        (both,) = contrasts(store, stored(put, marks))
        wrong += both.verdict in ("better", "worse")
    assert wrong <= 7


def test_all_pairs_of_prompts_are_one_family(store: Store, put: Put) -> None:
    rights = {"one": 6, "two": 12, "three": 30}
    marks = {
        (model, prompt): [float(place < right) for place in range(30)]
        for model, (prompt, right) in product("ab", rights.items())
    }
    several = contrasts(store, stored(put, marks))
    assert [(one.first, one.second) for one in several] == [
        ("one", "two"),
        ("one", "three"),
        ("two", "three"),
    ]
    assert {one.tested for one in several} == {3}
    for one in several:
        assert one.adjusted_p is not None
        assert one.decision_p is not None
        assert one.adjusted_p >= one.decision_p
    assert "(95 % for all 3 rows together)" in several[0].shown().sentence


@pytest.mark.parametrize(
    "runs",
    [
        [("a", "plain"), ("a", "strict")],
        [("a", "plain"), ("b", "plain"), ("c", "plain"), ("d", "plain")],
        [("a", "plain"), ("b", "strict"), ("c", "plain"), ("d", "strict")],
        [("a", "plain"), ("b", "plain"), ("a", "strict")],
    ],
)
def test_without_a_matrix_there_is_no_verdict(
    runs: list[tuple[str, str]], store: Store, put: Put
) -> None:
    marks = {run: [float(number)] * 20 for number, run in enumerate(runs)}
    assert contrasts(store, stored(put, marks)) == []


def test_models_differ_by_their_settings_and_prompts_by_their_words(store: Store, put: Put) -> None:
    ids = []
    for prompt, right in (("plain", 5), ("strict", 25)):
        marks = values([float(place < right) for place in range(30)])
        for heat in (0.0, 1.0):
            spec = candidate("a", prompt, sampling={"temperature": heat})
            ids.append(put(f"{prompt}{heat}", marks, candidate=spec).id)
    (both,) = contrasts(store, ids)
    assert both.verdict == "better"
    twice = put("again", marks, candidate=spec)
    assert contrasts(store, [*ids, twice.id]) == []
    other = {**spec.params, "sampling": {}, "prompt": {"name": "strict", "messages": []}}
    edited = put("edited", marks, candidate=replace(spec, params=other))
    assert contrasts(store, [*ids, edited.id]) == []


def test_no_prompt_is_one_of_the_prompts(store: Store, put: Put) -> None:
    marks: dict[tuple[str, str], Sequence[float]] = {}
    for model in "ab":
        marks |= {(model, ""): [0.0] * 20, (model, "strict"): [1.0] * 20}
    (both,) = contrasts(store, stored(put, marks))
    assert "prompt strict is better than no prompt" in both.shown().sentence
    assert both.shown().to_json()["first"] is None


def test_what_is_left_out_is_counted(store: Store, put: Put) -> None:
    marks: dict[tuple[str, str], Sequence[Any]] = {
        ("a", "plain"): [0.0] * 18 + ["error", "unscored"],
        ("b", "plain"): [0.0] * 20,
        ("a", "strict"): [1.0] * 20,
        ("b", "strict"): [1.0] * 19 + ["unscored"],
    }
    (both,) = contrasts(store, stored(put, marks))
    assert (both.left_out.errors, both.left_out.unscored) == (1, 2)
    assert both.paired.n == 19
    assert both.bounds is not None
    assert both.verdict == "better"


def test_clusters_of_the_suite_stay_one_draw(store: Store, put: Put) -> None:
    cases = [case(f"c{place:03}", cluster=f"page {place // 5}") for place in range(40)]
    marks: dict[tuple[str, str], Sequence[float]] = {}
    for model in "ab":
        marks |= {(model, "plain"): [0.0] * 40, (model, "strict"): [1.0] * 40}
    (both,) = contrasts(store, stored(put, marks, cases=cases, suite_cluster="page"))
    assert (both.paired.n, both.paired.clusters) == (40, 8)
    assert "40 cases in 8 pages" in both.shown().sentence


@pytest.mark.parametrize("clustered", [False, True])
def test_columns_and_rows_come_to_the_same(
    store: Store, put: Put, monkeypatch: pytest.MonkeyPatch, clustered: bool
) -> None:
    draw = random.Random(11)
    cases = [
        case(f"c{n:03}", weight=1.0 + n % 2, cluster=f"g{n // 4}" if clustered and n % 5 else "")
        for n in range(60)
    ]
    marks = {
        key: [draw.choice(OUTCOMES) for _ in cases] for key in product("abc", ("plain", "strict"))
    }
    ids = stored(put, marks, cases=cases)
    (in_rows,) = contrasts(store, ids)
    monkeypatch.setattr(Pairs, "columns", lambda self, one, two: as_columns(store, self, one, two))
    (in_columns,) = contrasts(store, ids)
    assert in_columns.flips == in_rows.flips
    assert in_columns.left_out == in_rows.left_out
    assert in_columns.paired.n == in_rows.paired.n
    assert in_columns.paired.clusters == in_rows.paired.clusters
    assert in_columns.interval == in_rows.interval
    assert in_columns.adjusted_p == in_rows.adjusted_p
    assert in_columns.bounds == in_rows.bounds


def test_runs_that_cannot_be_compared_say_so(store: Store, put: Put) -> None:
    rows = {"plain": [0.0] * 20, "strict": [1.0] * 20}
    ids = [
        put(
            f"{model}{prompt}",
            values(rows[prompt]),
            candidate=candidate(model, prompt),
            reduce="avg" if prompt == "plain" else "best",
        ).id
        for model, prompt in product("ab", rows)
    ]
    (both,) = contrasts(store, ids)
    assert both.shown().to_json()["verdict"] == "refused"
    assert "are not compared: the way to fold attempts differs" in both.shown().sentence
    (forced,) = contrasts(store, ids, force=True)
    assert forced.verdict == "better"


def test_a_verdict_takes_the_settings_of_the_comparison(store: Store, put: Put) -> None:
    marks = {(model, prompt): [1.0] * 40 for model, prompt in product("ab", ("plain", "strict"))}
    ids = stored(put, marks)
    settings = CompareSettings(margin=0.1)
    (verdict,) = prompt_verdicts(store, compare(store, ids, settings), settings)
    assert verdict.to_json()["margin"] == 0.1
    evidence = CompareSettings(sequential=True)
    assert prompt_verdicts(store, compare(store, ids, evidence), evidence) == []
    with pytest.raises(UsageError):
        contrasts(store, ids[:1])
