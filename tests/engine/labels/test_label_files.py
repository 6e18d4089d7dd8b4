"""Labels through files: there and back, and every mistake with its line."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.engine.labels.label_files import export_labels, export_sample, import_labels
from proctor.errors import SuiteError, UsageError
from proctor.store.rows import Label
from proctor.store.store import Store

RATING = Spec(name="rating", params={"question": "How good?"})
ODD = ["=1+1", "'quoted", "'=twice", 'a,b;c\t"d"', "two\nlines", "−5", "-5", "@x", " '"]


def told(label: Label) -> tuple[Any, ...]:
    return (
        label.case_id, label.index, label.criterion, label.points, label.note, label.author,
        label.created,
    )  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_there_and_back(
    store: Store, put_scored: Callable[..., Run], tmp_path: Path, ending: str
) -> None:
    run = put_scored(store, "one", [[3.0, 4.0]] * 12, scorer=RATING, out_of=None)
    for number, note in enumerate(ODD):
        store.labels.add(
            Label(
                run_id="one", case_id=f"c{number}", index=number % 2, criterion="fits",
                points=1 + number % 5 / 2, note=note, author=note[:3], created=1.5e9 + number / 7,
            )
        )  # fmt: skip
    before = [told(label) for label in store.labels.of_run("one")]
    path = tmp_path / f"labels.{ending}"
    assert export_labels(store, run, path) == len(ODD)
    again = import_labels(store, run, path)
    assert (again.added, again.unchanged) == (0, len(ODD))
    other = put_scored(store, "two", [[1.0, 2.0]] * 12, scorer=RATING, out_of=None)
    assert import_labels(store, other, path).added == len(ODD)
    assert [told(label) for label in store.labels.of_run("two")] == before


def test_what_people_write_by_hand(
    store: Store, put_scored: Callable[..., Run], tmp_path: Path
) -> None:
    run = put_scored(store, "one", [[1.0], [0.0], [1.0]])
    path = tmp_path / "by hand.csv"
    path.write_text("\ufeffcase;points;remark\nc0;right;x\nc1; No ;y\nc2;;z\n", encoding="utf-8")
    done = import_labels(store, run, path, author="ann")
    assert (done.added, done.unchanged, done.empty) == (2, 0, 1)
    labels = store.labels.of_run("one")
    assert [(label.case_id, label.points, label.author) for label in labels] == [
        ("c0", 1.0, "ann"),
        ("c1", 0.0, "ann"),
    ]
    assert all(label.criterion == "fits" and label.created > 0 for label in labels)
    assert import_labels(store, run, path, author="ann").unchanged == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"case": "c9", "points": 1}, "has no case 'c9'"),
        ({"case": "c0", "points": 7}, "from 1 to 5, not 7"),
        ({"case": "c0", "points": 0}, "from 1 to 5, not 0"),
        ({"case": "c0", "points": "good"}, "is a number, or right or wrong, not 'good'"),
        ({"case": "c0", "points": "NaN"}, "is a number, or right or wrong"),
        ({"case": "c0", "points": [1]}, "is a number, or right or wrong"),
        ({"case": "c0", "points": 2, "attempt": 4}, "no attempt 4 (there are: 0)"),
        ({"case": "c0", "points": 2, "attempt": "x"}, "no attempt 'x'"),
        ({"case": "c0", "points": 2, "attempt": True}, "no attempt True"),
        ({"case": "c0", "points": 2, "criterion": "fist"}, "no criterion 'fist'"),
        ({"case": "c0", "points": 2, "created": "today"}, "'created' is a number"),
        ([1], "a row is an object"),
    ],
)
def test_a_mistake_has_its_line_and_nothing_is_stored(
    store: Store, put_scored: Callable[..., Run], tmp_path: Path, line: Any, words: str
) -> None:
    run = put_scored(store, "one", [[3.0], [4.0]], scorer=RATING, out_of=None)
    path = tmp_path / "labels.jsonl"
    rows = [{"case": "c0", "points": 2}, {"case": "c1", "points": 3.5}, line]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    with pytest.raises(SuiteError) as raised:
        import_labels(store, run, path)
    assert f"{path}:3:" in str(raised.value)
    assert words in str(raised.value)
    assert store.labels.of_run("one") == []


def test_one_person_who_says_two_things_of_one_attempt(
    store: Store, put_scored: Callable[..., Run], tmp_path: Path
) -> None:
    """Two people may differ, and a later label replaces an earlier one; here neither is so."""
    run = put_scored(store, "one", [[1.0], [0.0]])
    path = tmp_path / "labels.csv"
    path.write_text(
        "case,points,author\nc0,1,ann\nc1,1,ann\nc0,0,bob\nc0,0,ann\n", encoding="utf-8"
    )
    with pytest.raises(SuiteError, match=r"labels.csv:5:.*row 1 has another label of the same"):
        import_labels(store, run, path)
    assert not store.labels.of_run("one")
    path.write_text(
        "case,points,author,created\nc0,1,ann,5\nc0,0,ann,6\nc1,1,ann,\nc1,1,ann,\n",
        encoding="utf-8",
    )
    assert import_labels(store, run, path).added == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("case,mark\nc0,1\n", "a label has a 'points'"),
        ("id,points\nc0,1\n", "a label has a 'case'"),
        ("case,points\nc0,1,2\n", "a row of 3 fields"),
        ("case,points\n", "no row has 'points'"),
        ("", "header line"),
    ],
)
def test_a_file_that_is_none(
    store: Store, put_scored: Callable[..., Run], tmp_path: Path, text: str, words: str
) -> None:
    run = put_scored(store, "one", [[1.0]])
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match=words):
        import_labels(store, run, path)
    with pytest.raises(UsageError, match="labels are kept in"):
        import_labels(store, run, tmp_path / "labels.xlsx")


@pytest.mark.slow
def test_a_sample_is_random_blind_and_goes_on_where_labels_end(
    store: Store, put_scored: Callable[..., Run], tmp_path: Path
) -> None:
    run = put_scored(store, "one", [[1.0]] * 40)
    path = tmp_path / "todo.csv"
    assert export_sample(store, run, path, 10) == 10
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [row["case"] for row in rows]
    assert names != sorted(names, key=lambda name: int(name[1:]))
    assert {row["points"] for row in rows} == {""}
    assert set(rows[0]) == {
        "case", "attempt", "criterion", "points", "note", "author", "question", "answer"
    }  # fmt: skip
    filled = [{**row, "points": "1"} for row in rows]
    with path.open("w", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(filled)
    assert import_labels(store, run, path).added == 10
    assert export_sample(store, run, path, 100) == 30
    with path.open(encoding="utf-8") as file:
        assert not {row["case"] for row in csv.DictReader(file)} & set(names)
    with pytest.raises(UsageError, match="has a criterion"):
        export_sample(store, run, path, 1, criterion="none")
