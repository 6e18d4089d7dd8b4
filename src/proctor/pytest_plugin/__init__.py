"""The pytest plugin: suites collected as tests, one item a case, and a fixture that evaluates.

Everything else of Proctor is imported when a suite is collected or the fixture is used.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from proctor.pytest_plugin.names import SHARED, SUFFIXES, SUMMARY, UNMET

_MARKER = (
    "proctor(attempts=N, min_rate=SHARE, min_rate_low=SHARE, …): options of `proctor_run`, and what"
    " the rate, or the lower end of its interval, must reach"
)


def _share(text: str) -> float:
    """Read a share of full marks."""
    share = float(text)
    if not 0 <= share <= 1:
        raise ValueError(text)
    return share


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of which name the candidate, its judges, or where results are kept."""
    group = parser.getgroup("proctor", "examine language models and agents")
    one: dict[str, Any] = {"metavar": "M", "default": None}
    group.addoption("--proctor-model", **one, help="the model that suites are put to")
    group.addoption("--proctor-agent", **one, help="the agent that suites are put to")
    group.addoption(
        "--proctor-answers",
        metavar="FILE",
        default=None,
        help="answers on file [default: NAME.answers.jsonl beside NAME.suite.yaml]",
    )
    group.addoption(
        "--proctor-judge", metavar="M", action="append", default=[], help="the model that judges"
    )
    group.addoption("--proctor-attempts", type=int, metavar="N", help="attempts at each case")
    group.addoption("--proctor-store", metavar="URL", default=None, help="where results are kept")
    group.addoption(
        "--proctor-gate",
        metavar="EXPR",
        action="append",
        default=[],
        help="a condition on the run of each suite, as a test of its own",
    )
    group.addoption(
        "--proctor-min",
        type=_share,
        metavar="SHARE",
        default=1.0,
        help="the share of full marks with which a case passes [default: 1]",
    )
    group.addoption(
        "--proctor-args", metavar="WORDS", default="", help="more options of `proctor run`"
    )
    parser.addini("proctor_args", "more options of `proctor run`", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Describe the marker."""
    config.addinivalue_line("markers", _MARKER)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the cases of ``*.suite.yaml``."""
    if not file_path.name.endswith(SUFFIXES):
        return None
    with _loading():
        from proctor.pytest_plugin.suite_items import CollectedSuite
    return CollectedSuite.from_parent(parent, path=file_path)


@contextmanager
def _loading() -> Iterator[None]:
    """Spare the garbage collector what is loaded here: modules stay until the end.

    Pytest looks for garbage several times when a session ends, all of the modules included.
    """
    if "proctor.pytest_plugin.suite_items" in sys.modules or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give each worker of pytest-xdist the folder in which they share runs."""
    from proctor.pytest_plugin.suite_runs import shared_folder

    node.workerinput[SHARED] = str(shared_folder(node.config))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a marker that nothing would look at."""
    marked = item.get_closest_marker("proctor")
    if marked is not None and "proctor_run" not in getattr(item, "fixturenames", ()):
        pytest.fail("the marker proctor is for tests that use the fixture proctor_run", False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test whose marker demands a rate, where nothing was evaluated."""
    yield
    if item.stash.get(UNMET, False):
        pytest.fail(
            "the marker proctor demands a rate, and the test evaluated nothing"
            " (fix: proctor_run(cases, candidate))",
            False,
        )


@pytest.fixture
def proctor_run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Evaluate a candidate as ``proctor.evaluate`` does, and hold the run to the marker's limits.

    Options of the command line (``--proctor-model`` and the like) serve where the call names none.
    """
    from proctor.pytest_plugin.run_fixture import limited_evaluate

    return limited_evaluate(request)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what each suite came to as a whole."""
    lines = list(dict.fromkeys(_summaries(terminalreporter)))
    if lines:
        terminalreporter.section("proctor")
        for line in lines:
            terminalreporter.line(line)


def _summaries(terminalreporter: Any) -> Iterator[str]:
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == SUMMARY:
                    yield value
