"""The notebooks of the examples: each runs from the top, twice, in a kernel of its own."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
NAMES = ["a_judge_and_its_calibration", "comparing_two_functions", "first_evaluation"]


def code_of(path: Path) -> list[str]:
    book = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_output_and_its_code_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROCTOR_STORE", raising=False)
    book = json.loads(path.read_text(encoding="utf-8"))
    assert not any(cell.get("outputs") for cell in book["cells"])
    exec("\n".join(code_of(path)), {"__name__": path.stem})


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == NAMES


@pytest.mark.slow("full")
@pytest.mark.notebooks
@pytest.mark.filterwarnings("ignore")  # of the kernel's own libraries
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_twice_in_a_kernel(path: Path, tmp_path: Path) -> None:
    import nbclient
    import nbformat

    book = nbformat.read(path, as_version=4)
    for _ in range(2):
        place = {"metadata": {"path": str(tmp_path)}}
        nbclient.NotebookClient(book, timeout=300, resources=place).execute()
    kinds = [
        kind
        for cell in book.cells
        for one in cell.get("outputs", ())
        for kind in one.get("data", ())
    ]
    assert "text/html" in kinds


@pytest.mark.slow
def test_the_wheel_runs_the_first_notebook(tmp_path: Path) -> None:
    """The package as it is released, apart from this checkout; what it needs is that of here."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", tmp_path, ROOT], check=True, timeout=300)
    (wheel,) = tmp_path.glob("proctor-*.whl")
    venv.create(tmp_path / "clean", with_pip=False)
    (packages,) = (tmp_path / "clean").glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    book = tmp_path / "book.py"
    book.write_text("\n".join(code_of(NOTEBOOKS[-1])), encoding="utf-8")
    code = f"import runpy, proctor; print(proctor.__file__); runpy.run_path({str(book)!r})"
    done = subprocess.run(
        [tmp_path / "clean" / "bin" / "python", "-P", "-c", code],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("PY")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(packages))
    assert (tmp_path / "capitals.html").stat().st_size > 10_000
