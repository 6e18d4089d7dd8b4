"""Golden pairs through the whole road: config, targets and answers in, the original's table out."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "colossal.json").read_text(encoding="utf-8")
)
METRICS = ("BLEU", "ROUGE", "Distinct", "CHRF", "Precision", "Recall", "F1 score")


def means(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the mean of every row that a metric gives."""
    names = dict.fromkeys(name for row in rows for name in row["value"])
    return {name: sum(row["value"][name] for row in rows) / len(rows) for name in names}


@pytest.mark.parametrize(("language", "jieba"), [("en", False), ("cn", True)])
@pytest.mark.slow
def test_numbers_of_the_original(cli: Any, language: str, jieba: bool) -> None:
    if jieba:
        pytest.importorskip("jieba")
    wanted: dict[str, float] = {}
    targets: list[dict[str, Any]] = []
    categories: dict[str, Any] = {}
    for metric in METRICS:
        pairs = [row for row in GOLDEN[metric][language] if isinstance(row.get("value"), dict)]
        wanted |= means(pairs)
        categories[f"of {metric}"] = {"Metrics": [metric]}
        targets += [
            {
                "category": f"of {metric}", "instruction": "Say it.", "input": "",
                "target": row.get("reference") or "", "output": "", "id": len(targets) + number,
                "said": row["prediction"],
            }
            for number, row in enumerate(pairs)
        ]  # fmt: skip
    answers = [{**row, "output": row["said"]} for row in targets]
    cli.write("config.json", json.dumps({"language": language, "category": categories}))
    cli.write("targets.json", json.dumps(targets))
    cli.write("answers.json", json.dumps(answers))
    cli(
        "colossal", "--config_file", "config.json", "--target_file", "targets.json",
        "--answer_file_list", "answers.json", "--model_name_list", "one", "--compat", "original",
        "--save_path", "results",
    )  # fmt: skip
    table = cli.folder / "results" / "automatic_results" / "evaluation_results" / "one_results.csv"
    with table.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert header == ["", *categories]
    found = {row[0]: [float(cell) for cell in row[1:] if cell] for row in rows}
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        assert found[name] == [pytest.approx(value, abs=1e-9)], name
