"""References to runs, with the baseline of a suite among them."""

from pathlib import Path

import pytest

from proctor.cli.main import _run
from proctor.engine.compare.baselines import earlier_run, with_baselines
from proctor.store.store import Store

SUITE = 'name: quiz\ncases:\n  - {id: a, ask: "2 + 2?", references: "4"}\n'


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / "quiz.yaml").write_text(SUITE)
    for name, output in (("old", "5"), ("new", "4")):
        answers = tmp_path / f"{name}.jsonl"
        answers.write_text(f'{{"case": "a", "output": "{output}"}}\n')
        suite, store = str(tmp_path / "quiz.yaml"), str(tmp_path / "s.db")
        arguments = ["run", suite, "--answers", str(answers), "--name", name, "--store", store]
        assert _run([*arguments, "--json"]) == 0
    return str(tmp_path / "s.db")


def test_a_baseline_is_that_of_the_suite(url: str) -> None:
    with Store.open(url) as store:
        assert earlier_run(store, "@baseline", "quiz") is None
    assert _run(["baseline", "old", "--store", url]) == 0
    with Store.open(url) as store:
        old, new = store.runs.get("old").id, store.runs.get("new").id
        earlier = earlier_run(store, "@baseline", "quiz")
        assert earlier is not None
        assert earlier.id == old
        assert earlier_run(store, "@baseline", "other") is None
        assert with_baselines(store, ["@baseline", "new"]) == [old, "new"]
        assert with_baselines(store, [new, "old"]) == [new, "old"]
        assert with_baselines(store, ["@baseline"]) == ["@baseline"]
