"""``proctor doctor``: check what works on this machine."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from proctor.cli.options import json_option, store_option
from proctor.version import __version__

PACKAGES = {
    "ruamel.yaml.clib": "fast YAML",
    "pydantic-monty": "conditions in suites",
    "rapidfuzz": "ROUGE-L",
}
"""Packages of the base install, by what they are for."""
EXTRAS = {
    "local": ("models on this machine", ("xllamacpp",)),
    "maths": ("mathematical answers", ("math-verify",)),
    "semantic": ("encoders and UniEval", ("torch", "transformers")),
    "chinese": ("Chinese words", ("jieba", "rjieba")),
    "bench": ("readability and specificity", ("pyphen", "rjieba", "wordfreq")),
    "charts": ("charts", ("vl-convert-python",)),
    "hub": ("rows of public benchmarks, from the Hugging Face hub", ("huggingface_hub",)),
    "excel": ("suites and answers in Excel workbooks", ("openpyxl",)),
    "postgresql": ("a store in PostgreSQL", ("psycopg",)),
    "ray": ("grading on a cluster", ("ray",)),
}
"""Packages of each extra, with what it is for."""


@click.command()
@click.option(
    "--sandbox",
    default="bubblewrap",
    show_default=True,
    metavar="TIER",
    help="The sandbox to test.",
)
@store_option
@json_option
def doctor(sandbox: str, store: str | None, as_json: bool) -> int:
    """Check what works on this machine, and say how to fix what does not.

    \b
    Example:
      proctor doctor
    """
    from proctor.cli.output import print_json

    rows = [_python(), _cores(), *_packages(), _store(store), _grading()]
    rows += [*_sandbox(sandbox), *_languages(), *_coding_agents()]
    if as_json:
        print_json({"version": __version__, "checks": rows})
    else:
        click.echo(f"Proctor {__version__}")
        for row in rows:
            mark = "ok " if row["ok"] else "-- "
            fix = f" (fix: {row['fix']})" if row["fix"] and not row["ok"] else ""
            click.echo(f"{mark} {row['what']}: {row['found']}{fix}")
    return 0 if all(row["ok"] or row["optional"] for row in rows) else 2


def _row(
    what: str, ok: bool, finding: str, fix: str = "", optional: bool = False
) -> dict[str, Any]:
    return {"what": what, "ok": ok, "found": finding, "fix": fix, "optional": optional}


def _python() -> dict[str, Any]:
    version = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return _row("Python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer")


def _cores() -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return _row("cores", True, str(cores))


def _packages() -> list[dict[str, Any]]:
    needed = [_installed(use, (name,), f"pip install {name}") for name, use in PACKAGES.items()]
    extras = [
        _installed(use, names, f"pip install 'proctor[{extra}]'", optional=True)
        for extra, (use, names) in EXTRAS.items()
    ]
    return needed + extras


def _installed(
    use: str, names: tuple[str, ...], fix: str, *, optional: bool = False
) -> dict[str, Any]:
    """Report the versions of packages, or which of them are missing."""
    there, missing = [], []
    for name in names:
        try:
            there.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        are = "is" if len(missing) == 1 else "are"
        missing_text = f"{' and '.join(missing)} {are} not installed"
        return _row(use, False, missing_text, fix, optional)
    return _row(use, True, ", ".join(there), fix, optional)


def _coding_agents() -> list[dict[str, Any]]:
    from proctor import registry
    from proctor.contracts.agent import ProgramAgent
    from proctor.core.names import CODING_AGENTS
    from proctor.core.suite import Spec

    rows = []
    for name in CODING_AGENTS:
        agent: ProgramAgent = registry.build("candidate", Spec(name=name))
        program = f"{agent.program_path} {agent.program_version}".strip()
        there = program or f"no program {agent.command}"
        rows.append(_row(f"agent {name}", bool(program), there, agent.install_line, optional=True))
    return rows


def _store(url: str | None) -> dict[str, Any]:
    from proctor.errors import StoreError
    from proctor.store.store import Store

    try:
        with Store.open(url, create=False) as store:
            return _row("store", True, f"{store.place}, {len(store.runs.newest())} runs")
    except StoreError as error:
        missing = str(error).startswith("there is no store")
        return _row("store", missing, str(error))


def _sandbox(name: str) -> list[dict[str, Any]]:
    """Test the sandbox's limits one by one."""
    from proctor.cli.options import sandbox_spec
    from proctor.contracts.sandbox import Sandbox
    from proctor.engine.check.sandbox_selftest import SelftestResult, probe
    from proctor.io.concurrency import run_sync
    from proctor.registry import build

    sandbox: Sandbox = build("sandbox", sandbox_spec(name))
    if problems := list(sandbox.problems()):
        return [_row(f"sandbox {name}", False, problems[0], optional=True)]
    if not sandbox.safe:
        warning = "no boundary: programs can read and change whatever you can"
        return [_row(f"sandbox {name}", False, warning, optional=True)]

    async def tried() -> list[SelftestResult]:
        try:
            return await probe(sandbox)
        finally:
            await sandbox.close()

    rows = [_row(f"sandbox {name}: {row.what}", row.ok, row.finding) for row in run_sync(tried())]
    lacks = [_row(f"sandbox {name}: lacks", False, lack, optional=True) for lack in sandbox.lacks()]
    return [*rows, *lacks]


def _languages() -> list[dict[str, Any]]:
    from proctor.registry import find

    return [
        _row(
            f"language {row.name}",
            row.available,
            row.version if row.available else "not installed",
            row.install,
            optional=True,
        )
        for row in find("scorer", "unit_tests").languages()
    ]


def _grading() -> dict[str, Any]:
    """Score one answer in a real scoring process, condition included."""
    from proctor.contracts.executor import GradeTask
    from proctor.core.attempt import Attempt
    from proctor.core.suite import Case, Criterion, Message, Spec
    from proctor.engine.check.adversarial import local_executor
    from proctor.errors import ProctorError
    from proctor.io.concurrency import run_sync

    rules = [{"text": "wor(k|d)s", "regex": True, "cond": "ans and not context"}]
    criterion = Criterion(id="probe", scorer=Spec(name="keywords", params={"rules": rules}))
    case = Case(id="probe", messages=(Message(role="user", content=""),), criteria=(criterion,))
    task = GradeTask(
        case=case,
        criterion=criterion,
        attempts=(Attempt.of("probe", "it works"),),
        keys=("probe",),
        time_limit=10.0,
    )

    async def probe() -> list[Any]:
        executor = local_executor(False)
        try:
            return [score async for _, score in executor.grade([task])]
        finally:
            await executor.close()

    try:
        (score,) = run_sync(probe())
    except ProctorError as error:
        return _row("grading processes", False, str(error))
    good = score.points == 1.0
    return _row("grading processes", good, "start and judge" if good else score.reason)
