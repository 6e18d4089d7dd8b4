"""The benchmarks: what they say of a ratio, the table, and in .ci/run that each runs."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from level import LEVEL

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
KEYS = {"what", "ours", "theirs", "unit", "ratio", "note", "peer"}


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """Import what the scripts share, as they do it."""
    monkeypatch.syspath_prepend(str(FOLDER))
    names = ("measured", "peers", "all")
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    for name in names:
        sys.modules.pop(name, None)


def test_a_ratio_above_one_says_that_we_did_better(modules: SimpleNamespace) -> None:
    measured: ModuleType = modules.measured
    assert measured.more("calls", 300, 100, "calls/s", "peer").ratio == 3
    assert measured.less("start", 100, 300, "ms", "peer").ratio == 3
    assert measured.less("start", 300, 100, "ms", "peer").ratio == pytest.approx(1 / 3)
    assert measured.alone("memory", 12, "MB").ratio is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (1234.5, "1,234"), (99.95, "100.0"), (12.34, "12.3"), (1.234, "1.23"), (0.0123, "0.012")],
)  # fmt: skip
def test_figures_have_the_digits_that_count(
    modules: SimpleNamespace, value: float, shown: str
) -> None:
    assert modules.measured.figure(value) == shown


def test_rows_come_back_from_json_with_all_else_on_stderr(
    modules: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    with modules.measured.reporting(True) as rows:
        print("some words for people")
        rows.append(modules.measured.more("calls", 2, 1, "calls/s", "peer", "a note"))
    said = capsys.readouterr()
    assert said.err == "some words for people\n"
    assert {key for row in json.loads(said.out) for key in row} == KEYS
    assert modules.measured.read(said.out) == rows


def test_the_table_shows_rows_with_and_without_a_peer(modules: SimpleNamespace) -> None:
    measured = modules.measured
    rows = [measured.more("a | b", 4, 2, "x/s", "peer"), measured.alone("memory", 12, "MB", "flat")]
    assert measured.markdown(rows).splitlines()[2:] == [
        "| a \\| b | x/s | 4.00 | peer | 2.00 | 2.00× |  |",
        "| memory | MB | 12.0 | – | – | – | flat |",
    ]


def test_a_page_keeps_all_but_what_is_between_the_marks(
    modules: SimpleNamespace, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\nBefore.\n")
    modules.all.write(page, "first\n")
    with page.open("a") as file:
        file.write("\nAfter.\n")
    modules.all.write(page, "second\n")
    text = page.read_text()
    assert text.startswith("# Page\n\nBefore.\n")
    assert text.endswith("\nAfter.\n")
    assert "second" in text
    assert "first" not in text
    assert text.count(modules.all.BEGIN) == text.count(modules.all.END) == 1


@pytest.mark.scaled
def test_a_peer_that_cannot_be_installed_is_said_to_be_missing(
    modules: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A path that is not there needs no network to fail.
    peer = modules.peers.Peer("ghost", (str(tmp_path / "ghost.whl"),), "ghost")
    monkeypatch.setattr(modules.peers, "FOLDER", tmp_path / "peers")
    monkeypatch.setattr(modules.peers, "PEERS", {"ghost": peer})
    (sentence,) = modules.all.absent_peers(install=False)
    assert sentence == "ghost was not compared with: not installed (not asked for)"
    if LEVEL.ci:
        (sentence,) = modules.all.absent_peers(install=True)
        assert "ghost.whl" in sentence
    assert not peer.installed()


def test_a_script_that_fails_is_named_and_the_others_go_on(
    modules: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.py").write_text("raise SystemExit('no')\n")
    (tmp_path / "right.py").write_text('print(\'[{"what": "w", "ours": 1, "unit": "s"}]\')\n')
    monkeypatch.setattr(modules.all, "HERE", tmp_path)
    found = modules.all.Found()
    found.measure("broken", "")
    found.measure("right", "")
    assert found.failed == ["broken"]
    assert [row.what for row in found.rows] == ["w"]
    told = modules.all.told(found, 60)
    assert "broken failed" in told
    assert told.endswith("| w | s | 1.00 | – | – | – |  |\n")


def test_every_script_that_gives_rows_is_in_the_table(modules: SimpleNamespace) -> None:
    giving = {p.stem for p in FOLDER.glob("*.py") if "    offer_json(" in p.read_text()}
    assert {part.script for part in modules.all.PARTS} == giving


HEAVY = {"ray_scaling", "ray_models", "bert_score_pairs", "unieval_inputs"}
"""Benchmarks that take a minute to load what they measure; all of that has tests of its own."""


@pytest.mark.slow
@pytest.mark.scaled
def test_every_benchmark_runs_with_tiny_sizes(modules: SimpleNamespace, tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    scripts = dict.fromkeys(part.script for part in modules.all.PARTS)
    assert scripts.keys() > HEAVY
    chosen = [name for name in scripts if LEVEL.full or name not in HEAVY]
    command = [
        sys.executable,
        str(FOLDER / "all.py"),
        "--quick",
        "--no-install",
        "--only",
        *chosen,
        "--json",
        str(rows),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    found = json.loads(rows.read_text())
    for word in (
        "start-up",
        "InfiBench",
        "rouge, zh",
        "unit tests",
        "single turn",
        "parquet",
        "store of",
    ):
        assert any(word in row["what"] for row in found), word
    assert all(row["ours"] > 0 for row in found)
    assert "| What | Unit |" in ran.stdout
