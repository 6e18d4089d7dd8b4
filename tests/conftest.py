"""Options and markers of the tests; the command `proctor`, quick to start or with --fresh as for users."""

import gc
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import needs
from browsing import SLOWNESS
from level import LEVEL, LEVELS
from warm import CLIENT

# Whoever starts tests in the background may have an interrupt ignored, which processes inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


BY_FIXTURE = {"proctor": "commands", "postgres_server": "postgres", "postgresql_store": "postgres"}
"""Markers that a test has by what it uses."""

LONGEST = ("web", "fuzz", "hostile", "scorers")
"""Folders that come first above the level `quick`, so that none is left to one worker in the end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer how much is run, and what must not be skipped."""
    group = parser.getgroup("proctor's own tests")
    group.addoption(
        "--level", choices=LEVELS, default="quick", help="how much is run (tests/level.py)"
    )
    group.addoption(
        "--require", default="", metavar="NEED,…",
        help=f"fail, and do not skip, tests with these needs: {', '.join(needs.NEEDS)}",
    )  # fmt: skip
    group.addoption(
        "--fresh", action="store_true", help="start each command as a process of its own"
    )
    group.addoption("--seed", type=int, default=0, help="what the moments of kills begin with")
    group.addoption(
        "--postgres", default="", metavar="URL", help="a database on a server for tests"
    )
    group.addoption(
        "--slow-pages", type=int, default=0, metavar="MS",
        help="answer every request of a browser so late, and slow its scripts (tests/browsing.py)",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Choose the level before a test module is imported."""
    LEVEL.name, LEVEL.seed = config.getoption("--level"), config.getoption("--seed")
    needs.REQUIRED.update(name for name in config.getoption("--require").split(",") if name)
    if unknown := needs.REQUIRED - needs.NEEDS.keys():
        raise pytest.UsageError(f"--require: there is no need {', '.join(sorted(unknown))}")
    needs.SERVER.extend(filter(None, [config.getoption("--postgres")]))
    SLOWNESS.delay = config.getoption("--slow-pages")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by what they use, and leave out what takes too long for the level."""
    for item in items:
        for fixture in BY_FIXTURE.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(BY_FIXTURE[fixture])
    seen: Counter[str] = Counter()
    taken = {item: LEVEL.takes(item, seen) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if not taken[item]])
    items[:] = [item for item in items if taken[item]]
    if LEVEL.ci:
        items.sort(key=lambda item: (*LONGEST, _folder(item)).index(_folder(item)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose needs are not met, or fail it where they are required."""
    for need in dict.fromkeys(
        mark.name for mark in item.iter_markers() if mark.name in needs.NEEDS
    ):
        if reason := needs.problem(need):
            needs.unmet(need, reason)


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(Path(__file__).parent).parts[0]


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
    if (refusals := sys.modules.get("proctor.models.refused_fields")) is not None:
        refusals.lessons_about.cache_clear()


@pytest.fixture(scope="session")
def proctor(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Give the path of a program that does what `proctor` does.

    Most of the time of a small command goes into loading, so each is a fork of one process that
    has everything loaded. What must be started anew, to be killed for example, is not started so.
    """
    if request.config.getoption("--fresh"):
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
