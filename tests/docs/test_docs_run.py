"""The blocks of the pages: commands and programs are run, output compared, suites read."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from needs import problem, unmet
from proctor.formats.native.dialect import Native

pytestmark = pytest.mark.fresh

# What a command that takes long says meanwhile; on a quick machine it says nothing.
PROGRESS = re.compile(r"(collect|grade|ask): [\d,]+.*/s")

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"(?:^`(?P<name>[\w./-]+)`:\n\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in [ROOT / "README.md", ROOT / "SKILL.md", *sorted((ROOT / "docs").glob("*.md"))]
    if re.search(r"^```(console|python)$", page.read_text(encoding="utf-8"), re.M)
]
# The suites on the page about their format have a test of their own beside the native dialect's.
SUITE_PAGES = [page for page in PAGES if page != "docs/suite-format.md"]
PROGRAMS = ("docs/languages.md",)
"""Pages whose commands run programs, and so need a sandbox."""
MARK = "==== exit code "
ANYTHING = "…"


class Block(NamedTuple):
    name: str | None
    kind: str
    text: str


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(m["name"], m["kind"], m["text"]) for m in BLOCK.finditer(text)]


def steps(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a console block with the output that is shown below it."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.M)
    assert parts[0] == "", "a console block begins with a command"
    for command, shown in zip(parts[1::2], parts[2::2], strict=True):
        yield command, shown.splitlines()


@pytest.fixture
def environment(proctor: str) -> dict[str, str]:
    made = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR", "COLUMNS"))}
    path = os.pathsep.join([str(Path(proctor).parent), str(Path(sys.executable).parent)])
    return {**made, "PATH": os.pathsep.join([path, made["PATH"]])}


def run_console(text: str, folder: Path, environment: dict[str, str]) -> None:
    """Run all commands of a block in one shell; one may fail only if its exit code is shown."""
    after = f'rc=$?; echo "{MARK}$rc"; (exit $rc)'
    script = "".join(f"{command}\n{after}\n" for command, _ in steps(text))
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    parts = re.split(rf"^{MARK}(\d+)\n", done.stdout, flags=re.M)
    wanted = list(steps(text))
    assert len(parts) == 2 * len(wanted) + 1, done.stdout
    following = [command for command, _ in wanted[1:]] + [""]
    for place, (command, shown) in enumerate(wanted):
        printed, code = parts[2 * place], int(parts[2 * place + 1])
        if following[place] != "echo $?":
            assert code == 0, f"$ {command}\n{printed}"
        if shown:
            lines = [line for line in printed.splitlines() if not PROGRESS.match(line)]
            assert matches(shown, lines), f"$ {command}\n{printed}"


def matches(shown: list[str], printed: list[str]) -> bool:
    """Compare output with what a page shows: ``…`` is anything, alone in a line any lines."""
    pattern = ""
    for line in shown:
        if line.strip() == ANYTHING:
            pattern += r"(?:.*\n)*?"
        else:
            parts = (re.escape(part) for part in line.rstrip().split(ANYTHING))
            pattern += ".*".join(parts) + r"[ ]*\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["a"], ["a"], True),
        (["a"], ["b"], False),
        (["a"], ["a", "b"], False),
        (["a", "…"], ["a", "b", "c"], True),
        (["…", "c"], ["a", "b", "c"], True),
        (["…", "c"], ["a", "b"], False),
        (["a … c"], ["a b c"], True),
        (["a … c"], ["a b d"], False),
        (["a.c"], ["abc"], False),
    ],
)
def test_output_is_compared_line_by_line(shown: list[str], printed: list[str], same: bool) -> None:
    assert matches(shown, printed) is same


def test_there_are_pages_to_run() -> None:
    assert {"README.md", "docs/quickstart.md", "docs/write-a-scorer.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.sampled(4)
def test_the_blocks_of_a_page_work_in_their_order(
    page: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    if page in PROGRAMS and (reason := problem("sandbox")):
        unmet("sandbox", reason)
    for block in blocks(page):
        if block.name:
            (tmp_path / block.name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.name).write_text(block.text, encoding="utf-8")
        if block.kind == "python":
            command = [sys.executable, "-W", "error", "-c", block.text]
            subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=60)
        elif block.kind == "console":
            run_console(block.text, tmp_path, environment)


@pytest.mark.parametrize("page", SUITE_PAGES)
def test_the_suites_of_a_page_are_right(page: str, tmp_path: Path) -> None:
    for number, block in enumerate(blocks(page)):
        if block.name and block.kind != "yaml":
            (tmp_path / block.name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.name).write_text(block.text, encoding="utf-8")
        if block.kind == "yaml":
            path = tmp_path / (block.name or f"block-{number}.yaml")
            path.write_text(block.text, encoding="utf-8")
            reading = Native().read(path)
            assert reading.suite.cases
            assert reading.warnings == ()


@pytest.mark.parametrize("folder", sorted(path.name for path in (ROOT / "examples").iterdir()))
def test_an_example_has_a_page_with_commands(folder: str) -> None:
    page = f"examples/{folder}/README.md"
    assert [block for block in blocks(page) if block.kind in ("console", "bash")]
