"""Labels in a real store."""

from pathlib import Path

from proctor.store.labels import Labels
from proctor.store.rows import Label
from proctor.store.store import Store


def label(case: str, criterion: str, points: float | None) -> Label:
    return Label(run_id="r", case_id=case, criterion=criterion, points=points)


def test_many_at_once_and_how_many_cases_each_criterion_has(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        assert isinstance(store.labels, Labels)
        assert store.labels.criteria("r") == {}
        rows = [label("a", "x", 1.0), label("a", "x", 0.0), label("a", "y", 1.0)]
        rows += [label("b", "y", 0.5), label("c", "z", None)]
        store.labels.add_many(rows)
        assert store.labels.criteria("r") == {"y": 2, "x": 1}
        assert [found.points for found in store.labels.of_run("r")] == [1.0, 0.0, 1.0, 0.5, None]
        assert store.labels.add(label("d", "x", 1.0)) == 6


def test_a_run_is_reviewed_once_it_has_a_label_or_an_audit(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        assert not store.runs.is_reviewed("r")
        number = store.labels.add(label("a", "x", 1.0))
        assert store.runs.is_reviewed("r")
        assert not store.runs.is_reviewed("other")
        store.labels.remove(number)
        assert not store.runs.is_reviewed("r")
        store.audits.save("r", "judge", 1.0, {})
        assert store.runs.is_reviewed("r")


def test_scans_are_kept_by_kind_and_go_with_their_run(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "proctor.db")) as store:
        store.scans.save("r", "outage", "m", 1.0, {"kind": "outage", "marks": []})
        store.scans.save("r", "outage", "other", 3.0, {"kind": "outage", "marks": [1]})
        store.scans.save("r", "refusal", "m", 2.0, {"kind": "refusal", "marks": []})
        store.scans.save("r", "refusal", "m", 2.5, {"kind": "refusal", "marks": [2]})
        found = store.scans.of_run("r")
        assert [(one["kind"], one["marks"]) for one in found] == [("outage", [1]), ("refusal", [2])]
        assert store.scans.of_run("other") == []
        store.labels.add(label("a", "scan:outage", 1.0))
        assert store.labels.criteria("r") == {}
