"""labels, items and audit as users call them, and what report makes of them."""

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import FakeServer

CASES = 12
SUITE = "name: judged\nreduce: avg\ncases:\n" + "".join(
    f"  - id: c{n}\n    ask: How much is {n} and {n}?\n    criteria: {{judged: 'Is it {2 * n}?'}}\n"
    for n in range(CASES)
)


class Judge:
    """Passes right answers, and turns some rulings around."""

    def __init__(self) -> None:
        self.random = random.Random(4)

    def __call__(self, messages: list[Any], body: Any) -> str:
        text = "\n".join(str(message["content"]) for message in messages)
        if "score_1" in text:
            return json.dumps({"reason": "", "score_1": 7, "score_2": 5})
        good = "It is right" in text
        ruled = good != (self.random.random() < 0.2)
        return json.dumps({"reason": "", "result": "yes" if ruled else "no"})


@pytest.fixture
def judged(cli: Any) -> Callable[..., Any]:
    cli.write("suite.yaml", SUITE)
    for name, every in (("good", 4), ("fair", 3), ("poor", 2)):
        rows = [
            {"case": f"c{n}", "output": "It is right." if n % every else "It is wrong."}
            for n in range(CASES)
        ]
        cli.answers(rows, f"{name}.jsonl")

    def run(url: str, name: str, *more: str, code: int = 0) -> Any:
        judge = ("--judge", f"openai:ruler@{url}", "--price", "ruler=1/2")
        return cli("run", "suite.yaml", "--answers", f"{name}.jsonl", *judge, *more, code=code)

    return run


@pytest.mark.slow
def test_labels_items_and_audit(cli: Any, judged: Callable[..., Any]) -> None:
    with FakeServer(Judge()) as server:
        for name in ("poor", "fair", "good"):
            judged(server.url, name, "--name", name)
        judge = ("--judge", f"openai:ruler@{server.url}", "--price", "ruler=1/2")
        plan = cli.json("audit", "good", *judge, "--sample", "6", "--dry-run")
        assert (plan["cases"], plan["answers"], plan["pairs"]) == (6, 6, plan["pairs"])
        before = len(server.calls)
        found = cli.json("audit", "good", *judge, "--sample", "6")
        assert len(server.calls) - before <= plan["calls"]
        calls = len(server.calls)
        assert "Noise floor" in cli("audit", "good", *judge, "--sample", "6").stdout
        assert len(server.calls) == calls
        cut = cli("audit", "fair", *judge, "--max-cost", "0.0000001", code=3)
        assert "incomplete" in cut.stderr
        # Labels, in and out.
        cli("labels", "export", "good", "todo.csv", "--sample", "8")
        path = Path(cli.folder) / "todo.csv"
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 8
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            for row in rows:
                writer.writerow({**row, "points": int("right" in row["answer"])})
        assert cli.json("labels", "import", "good", "todo.csv")["added"] == 8
        assert cli.json("labels", "export", "good", "all.jsonl")["rows"] == 8
        assert cli.json("labels", "import", "good", "all.jsonl")["known"] == 8
        cli.write("bad.csv", "case,points\nc0,1\nc99,1\nc1,7\n")
        wrong = cli("labels", "import", "good", "bad.csv", code=2).stderr
        assert "bad.csv:3" in wrong
        assert "bad.csv:4" in wrong
        cli("labels", "import", "good", "all.jsonl", "--sample", "3", code=2)
        # What report, run and gates make of it.
        shown = cli.json("report", "good")
        assert shown["noise_floor"] == pytest.approx(found["noise_floor"])
        assert shown["corrected"]["judged"]["labelled"] == 8
        assert shown["variance"]["judge"] is not None
        text = cli("report", "good").stdout
        for part in ("Corrected judged: ", "Noise floor: ", "Uncertainty: ", "Noise"):
            assert part in text
        again = judged(
            server.url, "good", "--name", "good", "--gate", "corrected.high < 0.2", code=1
        )
        assert "gate missed: corrected.high < 0.2" in again.stderr
        judged(server.url, "good", "--name", "good", "--gate", "corrected.low >= 0.0")
        misspelt = judged(
            server.url, "good", "--name", "good", "--gate", "corected.low > 0", code=2
        )
        assert "corrected" in misspelt.stderr
    # Items of the suite, and of runs.
    items = cli.json("items", "judged", "--csv", "items.csv")
    assert items["cases"] == CASES
    assert len(items["takers"]) == 3
    assert all(item["page"].startswith("http://127.0.0.1:") for item in items["items"])
    assert len((Path(cli.folder) / "items.csv").read_text().splitlines()) == CASES + 1
    assert "judged · 12 cases · 3 candidates in 3 runs" in cli("items", "judged").stdout
    assert "did you mean" in cli("items", "goud", code=2).stderr
    for command in ("labels", "items", "audit"):
        assert "Example:" in cli(command, "--help").stdout
