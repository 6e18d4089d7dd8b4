"""The command `proctor` for tests: quick to start, or with PROCTOR_FRESH=1 as it is for users."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from full import FULL, is_taken
from warm import CLIENT

# Whoever starts tests in the background may have an interrupt ignored, which processes inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, unless everything is wanted."""
    if FULL:
        return
    seen: Counter[str] = Counter()
    taken = {item: is_taken(item, seen) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if not taken[item]])
    items[:] = [item for item in items if taken[item]]


def pytest_collection_finish() -> None:
    """Keep what was collected, thousands of tests, out of every search for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _nothing_of_other_tests() -> Iterator[None]:
    """Let no test's keys be taken out of what another one says, nor refusals be remembered."""
    yield
    if (known := sys.modules.get("proctor.io.redaction")) is not None:
        known.SECRETS.forget()
    if (refusals := sys.modules.get("proctor.models.refusals")) is not None:
        refusals.lessons_about.cache_clear()


@pytest.fixture(scope="session")
def proctor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the path of a program that does what `proctor` does.

    Most of the time of a small command goes into loading, so each is a fork of one process that
    has everything loaded. What must be started anew, to be killed for example, is not started so.
    """
    if os.environ.get("PROCTOR_FRESH"):
        yield str(Path(sys.executable).with_name("proctor"))
        return
    folder = tmp_path_factory.mktemp("warm")
    client, place = folder / "proctor", folder / "place"
    client.write_text(CLIENT.format(python=sys.executable, place=str(place)))
    client.chmod(0o755)
    command = [sys.executable, str(Path(__file__).with_name("warm.py")), str(place)]
    with subprocess.Popen(command) as server:
        while not place.exists():
            assert server.poll() is None
            time.sleep(0.01)
        yield str(client)
        server.kill()
