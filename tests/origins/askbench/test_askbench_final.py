"""The one summary over all AskBench tasks, also of those that another tool has run."""

from pathlib import Path

import pytest

from proctor.origins.askbench.task_summary import gather, metrics_in


@pytest.mark.parametrize(
    ("text", "marked", "found"),
    [
        ("Accuracy: 0.5\nAccuracy: 0.6\n", True, ("Accuracy: 0.5",)),
        ("Final accuracy: 0.5\nPass@1: 0.25\n", True, ("Pass@1: 0.25", "Final accuracy: 0.5")),
        ("- Composite score: 0.5\n", True, ("Composite score: 0.5",)),
        ("- Composite score: 0.5\n", False, ()),
        ("Pass@4: 0.75\nAvg@8 = 12.5%\n", True, ("Pass@4: 0.75", "Avg@8: 12.5%")),
        ("Accuracy: N/A (nothing)\n", True, ()),
        ("The Accuracy: 0.5\n", True, ()),
        ("Average accuracy (n_attempts=2): 0.5\n", True, ("Average accuracy: 0.5",)),
    ],
)
def test_numbers_in_a_results_file(text: str, marked: bool, found: tuple[str, ...]) -> None:
    assert metrics_in(text, marked=marked) == found


def test_the_newest_results_count(tmp_path: Path) -> None:
    for name, value in (("20250301_120000", 1), ("2025-03-02_00-00-01", 2), ("20250301-235959", 3)):
        (tmp_path / "arc" / name / "deep").mkdir(parents=True)
        (tmp_path / "arc" / name / "deep" / "results.txt").write_text(f"Accuracy: 0.{value}\n")
    (tmp_path / "arc" / "zzz").mkdir()
    (tmp_path / "arc" / "20990101_000000").mkdir()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "results.txt").write_text("nothing\n")
    arc, odd, gone = gather(tmp_path, ["arc", "odd", "gone"])
    assert arc.metrics == ("Accuracy: 0.2",)
    assert arc.line == f"{'arc':<30} | {'Accuracy: 0.2':<30} | Total time: unknown"
    assert "no number that is known" in odd.note
    assert odd.line.split(" | ")[1].strip() == "Accuracy: unknown"
    assert "no results.txt" in gone.note
