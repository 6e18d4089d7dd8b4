"""Grids: the place of a run among prompts and models, and which cases differ."""

from dataclasses import replace

import pytest

from proctor.core.grid import GridEntry, GridRow, GridRun, RunGrid, grid_runs
from proctor.core.run import Run, RunStatus, Totals
from proctor.core.suite import Spec


def totals(rate: float | None = 0.5) -> Totals:
    return Totals(
        score=1.0, full=2.0, rate=rate, spread=None, interval=(0.2, 0.8), cases=2, attempts=2,
        unanswered=0, unscored=0, errors=0, cases_unscored=0, bounds=None,
    )  # fmt: skip


def run(model: str, prompt: str = "", name: str = "r") -> Run:
    params: dict[str, object] = {"name": f"{model}+{prompt}" if prompt else model}
    if prompt:
        params["prompt"] = {"name": prompt, "text": "{{x}}"}
    return Run(
        id=f"{model}{prompt}", name=name, suite="s", suite_key="k",
        candidate=Spec(name="model", params=params), status=RunStatus.COMPLETE,
    )  # fmt: skip


def test_a_run_has_its_place_among_prompts_and_models() -> None:
    runs = [run("a", "p"), run("b", "p"), run("a", "q"), run("b")]
    grid = RunGrid(runs=tuple(GridRun.of(one, totals()) for one in runs))
    assert grid.prompts == ["p", "q", ""]
    assert grid.models == ["a", "b"]
    assert sorted(grid.cells) == [("", "b"), ("p", "a"), ("p", "b"), ("q", "a")]


def test_models_of_one_name_have_columns_of_their_own() -> None:
    def at(url: str, prompt: str) -> Run:
        one = run("m", prompt)
        return replace(
            one, candidate=replace(one.candidate, params={**one.candidate.params, "model": url})
        )

    runs = [at(f"m@http://{host}/v1", prompt) for host in "ab" for prompt in ("p", "q")]
    grid = RunGrid(runs=grid_runs([(one, totals()) for one in runs]))
    assert grid.models == ["m@a", "m@b"]
    assert [one.candidate for one in grid.runs] == ["m@a+p", "m@a+q", "m@b+p", "m@b+q"]
    assert {len(cell) for cell in grid.cells.values()} == {1}


@pytest.mark.parametrize(
    ("values", "outputs", "differs", "changed"),
    [
        ((1.0, 1.0), ("x", "x "), False, False),
        ((1.0, 0.5), ("x", "x"), True, False),
        ((1.0, 1.0), ("x", "y"), False, True),
        ((1.0, None), ("x", None), True, True),
    ],
)
def test_cases_that_differ(
    values: tuple[float | None, ...], outputs: tuple[str | None, ...], differs: bool, changed: bool
) -> None:
    entries = tuple(
        GridEntry(value=value, full=1.0, status="scored", output=output)
        for value, output in zip(values, outputs, strict=True)
    )
    row = GridRow(case="c", question="?", entries=entries)
    assert (row.differs, row.outputs_differ) == (differs, changed)
    assert GridRow(case="c", question="?", entries=(entries[0], None)).differs
