"""Old names of modules and classes: they work, and warn; nothing else is found."""

import importlib
import subprocess
import sys

import pytest

from proctor import _moved
from proctor.engine.run import score_keys
from proctor.engine.run.plugin_sources import PluginSource

DOCUMENTED = """
from proctor.core.contracts import Dialogue, DialogueContext
from proctor.core.program import Limits, Program, Ran, Sandbox, Step
from proctor.bench import Category, ScoreResult, TestSuite
from proctor.testing import FakeServer, ScriptedCandidate, ScriptedJudge, try_scorer
from proctor.errors import JudgeError
"""


@pytest.mark.slow
def test_imports_that_pages_once_showed_still_work() -> None:
    code = f"import warnings; warnings.simplefilter('ignore'){DOCUMENTED}print(Sandbox.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "proctor.contracts.sandbox"


@pytest.mark.parametrize(("old", "homes"), _moved.MOVED.items())
def test_every_new_home_is_there(old: str, homes: str) -> None:
    modules = [importlib.import_module(home) for home in homes.split()]
    moved = importlib.import_module(old)
    for module in modules:
        own = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
        ]
        assert own
        name = next((name for name in own if name not in vars(moved)), None)
        if name is not None:
            with pytest.warns(DeprecationWarning, match=f"{module.__name__}.{name}"):
                assert getattr(moved, name) is vars(module)[name]


@pytest.mark.parametrize(("old", "new"), _moved.RENAMED.items())
def test_names_that_are_others_now(old: str, new: str) -> None:
    module, _, name = old.rpartition(".")
    with pytest.warns(DeprecationWarning, match=f"{new} now"):
        found = getattr(importlib.import_module(module), name)
    assert found.__name__ == new


def test_other_old_modules_are_gone() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("proctor.wire")
    with pytest.raises(AttributeError):
        importlib.import_module("proctor.core.contracts").Nothing  # noqa: B018


@pytest.mark.parametrize("old", [name for name in _moved.MOVED if ".scorers." in name])
def test_scorers_of_others_count_our_versions_under_either_name(old: str) -> None:
    """Their score keys stay when they take ours from where they used to be."""

    def versions(module: str) -> list[str]:
        source = PluginSource(key="", looks_at=frozenset(), ours=frozenset({module}))
        return sorted(score_keys._versions(source))

    assert versions(old) == versions(_moved.MOVED[old])
    assert versions(old)
