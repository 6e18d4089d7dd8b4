"""An item analysis as text, JSON and CSV."""

import csv
import io

from proctor.core.items import Item, ItemAnalysis
from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.reports.items import items_object, items_table, write_items

RUN = Run(id="r", name="run", suite="quiz", suite_key="k", candidate=Spec(name="recorded"))
ODD = Item(
    case_id="=odd", run_id="r", scores=(0.0, 1.0, None), takers=2, rate=0.5, interval=(0.1, 0.9),
    discrimination=-0.5, discrimination_interval=(-0.9, 0.3), discrimination_shrunk=-0.1,
    wrong_key=0.8, reasons=("the key may be wrong",), kinds=("wrong_key",), suspicion=1.0,
)  # fmt: skip
UNKNOWN = Item(
    case_id="new", run_id="r", scores=(None, None, None), takers=0, rate=None, interval=None,
    discrimination=None, discrimination_interval=None, discrimination_shrunk=None, wrong_key=0.03,
)  # fmt: skip


def analysis(*listed: Item) -> ItemAnalysis:
    return ItemAnalysis(
        suite="quiz", runs=[RUN], takers=["a", "b", "c"], rates=[0.5, 1.0, None], cases=2,
        counts={"wrong_key": 1} if listed else {}, listed=listed, notes=["a note"],
        every=lambda: iter([ODD, UNKNOWN]),
    )  # fmt: skip


def link(run: str, case: str) -> str:
    return f"http://here/{run}/{case}"


def test_the_table() -> None:
    text = items_table(analysis(ODD, UNKNOWN), link)
    for part in ("quiz · 2 cases · 3 candidates in 1 run", "=odd", "50%", "10%–90%", "-0.50",
                 "-0.90 to +0.30", "the key may be wrong", "http://here/r/=odd",
                 "1 with a key that may be wrong", "a note", "–"):  # fmt: skip
        assert part in text
    assert "No case is suspicious." in items_table(analysis(), link)


def test_the_object() -> None:
    found = items_object(analysis(ODD), link)
    assert found["takers"][0] == {"candidate": "a", "rate": 0.5}
    assert found["items"][0]["scores"] == {"a": 0.0, "b": 1.0, "c": None}
    assert found["items"][0]["page"] == "http://here/r/=odd"
    assert found["counts"] == {"wrong_key": 1}


def test_the_file() -> None:
    file = io.StringIO()
    assert write_items(analysis().every(), file, link) == 2
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert rows[0]["case"] == "'=odd"
    assert rows[0]["discrimination"] == "-0.5"
    assert rows[1]["rate"] == ""
