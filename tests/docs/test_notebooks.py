"""The notebooks of the examples: each runs from the top, twice, in a kernel of its own."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples" / "notebooks").glob("*.ipynb"))
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
@pytest.mark.filterwarnings("ignore")  # of the kernel's own libraries
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_twice_in_a_kernel(path: Path, tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
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
