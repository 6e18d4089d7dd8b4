"""Scorers of a person's own: what is in the keys of their scores."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from proctor import registry
from proctor.contracts.sandbox import Sandbox
from proctor.core.attempt import Attempt
from proctor.core.program import Program, Ran, Step
from proctor.core.run import Signature
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run.sandbox_cache import SharedSandbox, StoredResults
from proctor.engine.run.score_keys import scorer_source
from proctor.engine.run.scorer_pool import Scorers
from proctor.io import search_paths
from proctor.scorers.text.comparisons import Contains
from proctor.store.store import Store

SCORER = """\
from dataclasses import dataclass

from proctor import Scorer
{imports}


@dataclass(frozen=True)
class Own(Scorer):
    file: str = ""

    def score(self, ctx):
        return {returned}
"""
CASE = Case(id="a", messages=(Message(role="user", content="?"),), criteria=())
ATTEMPT = Attempt.of("a", "yes")
Key = Callable[..., str]


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Key]:
    """Return the key of a score by a scorer that returns something, in a process that is new."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "path_hooks", [*sys.path_hooks])
    monkeypatch.setattr(search_paths, "_trusted", [])
    search_paths.trust_folders([str(tmp_path)])

    def made(
        returned: str,
        imports: str = "",
        *,
        case: Case = CASE,
        attempt: Attempt = ATTEMPT,
        params: dict[str, Any] | None = None,
    ) -> str:
        text = SCORER.format(imports=imports, returned=returned)
        (tmp_path / "own_scorer_of_a_test.py").write_text(text, encoding="utf-8")
        sys.modules.pop("own_scorer_of_a_test", None)
        registry._load.cache_clear()
        spec = Spec(name="own_scorer_of_a_test:Own", params=params or {})
        whole = replace(case, criteria=(Criterion(id="c", scorer=spec),))
        return Scorers(allow_import=True).keys(whole, attempt)["c"]

    yield made
    sys.modules.pop("own_scorer_of_a_test", None)
    registry._load.cache_clear()
    sys.path_importer_cache.clear()


TOOK = replace(ATTEMPT, seconds=4.0, usage={"calls": 2})


@pytest.mark.parametrize(
    ("returned", "of_case", "of_attempt"),
    [
        ("ctx.output == 'yes'", False, False),
        ("'en' in ctx.case.tags['lang']", True, False),
        ("ctx.attempt.seconds < 3", False, True),
    ],
)
def test_what_a_scorer_looks_at_counts_and_nothing_else(
    key: Key, returned: str, of_case: bool, of_attempt: bool
) -> None:
    before = key(returned)
    assert key(returned) == before
    tagged = replace(CASE, tags={"lang": ("en",)}, weight=2.0)
    assert (key(returned, case=tagged) != before) is of_case
    assert (key(returned, attempt=TOOK) != before) is of_attempt
    assert key(returned, case=replace(CASE, source="elsewhere.yaml")) == before
    assert key(f"{returned} ") != before, "an edited text is another text"


def test_a_file_that_a_parameter_names_counts(key: Key, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a", encoding="utf-8")
    before = key("True", params={"file": "words.txt"})
    os.utime(tmp_path / "words.txt", (1, 1))
    assert key("True", params={"file": "words.txt"}) == before
    (tmp_path / "words.txt").write_text("b", encoding="utf-8")
    assert key("True", params={"file": "words.txt"}) != before


def test_the_versions_of_our_own_scorers_that_it_uses_count(
    key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    using = ("Contains('x').score(ctx)", "from proctor.scorers.text.comparisons import Contains")
    before = key(*using), key("True")
    monkeypatch.setattr(Contains, "version", "99")
    assert key(*using) != before[0]
    assert key("True") == before[1]


def test_built_in_scorers_have_no_source_in_their_keys() -> None:
    for name in registry.BUILT_IN["scorer"]:
        assert scorer_source(name, registry.find("scorer", name)) is None


def test_versions_with_dashes_are_compared_whole() -> None:
    one = "maths-1+math-verify-0.9.0 sympy-1.13,own-er:Own-2+source 3fa"
    assert Signature.read(f"scorers:{one}").scorers == {
        "maths": "1+math-verify-0.9.0 sympy-1.13",
        "own-er:Own": "2+source 3fa",
    }


@dataclass
class Counting(Sandbox):
    """A sandbox that runs nothing and counts how often it was asked to."""

    tier: ClassVar[str] = "docker"
    asked: int = 0

    async def run(self, program: Program) -> Ran:
        self.asked += 1
        return Ran(code=0, step=0, finished=True)


def test_a_program_runs_again_in_another_image_and_in_the_same_one_never(tmp_path: Path) -> None:
    inner = Counting()
    program = Program(steps=(Step(argv=("true",)),), files={})

    async def run(image: str) -> int:
        results = StoredResults(store)
        shared = SharedSandbox(inner=inner, results=results, limit=1, brings_along=image)
        await shared.run(program)
        await shared.close()
        return inner.asked

    with Store.open(f"sqlite:///{tmp_path}/store.db") as store:
        images = ["image python:3.12 aa", "image python:3.12 aa", "image python:3.9 bb"]
        assert [asyncio.run(run(image)) for image in images] == [1, 1, 2]
