"""The published numbers of InfiBench come out, attempt by attempt, through the command line."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

DEV = Path(__file__).resolve().parents[2] / ".." / "shared" / "infibench_dev"
MODELS = ["gpt-4", "gpt-3.5-turbo"]

pytestmark = pytest.mark.skipif(not DEV.is_dir(), reason="the published cases are not here")


def text_cases() -> list[str]:
    """Return the cases that are judged without running anything."""
    golden = json.loads((DEV / "golden.json").read_text())["gpt-4"]
    return [name for name, row in golden.items() if "unit_test" not in row["components"]]


@pytest.fixture(scope="module")
def published(
    tmp_path_factory: pytest.TempPathFactory, make_cli: Callable[[Path], Any]
) -> Callable[..., dict[str, Any]]:
    """Give a function that grades the published answers of a model, once in each way."""
    cli = make_cli(tmp_path_factory.mktemp("published"))
    return cache(lambda model, *more: run(cli, DEV / "responses" / model, *more))


def run(cli: Any, answers: Path, *more: str) -> dict[str, Any]:
    chosen = [part for name in text_cases() for part in ("--select", name)]
    made = cli.json(
        "run", str((DEV / "suite_dev.yaml").resolve()), "--answers", str(answers.resolve()),
        "--cases", *chosen, *more,
    )  # fmt: skip
    return {case["id"]: case for case in made["cases"]}


@pytest.mark.parametrize("model", MODELS)
def test_every_published_attempt(published: Any, model: str) -> None:
    golden = json.loads((DEV / "golden.json").read_text())[model]
    cases = published(model, "--compat", "original")
    assert cases.keys() == set(text_cases()) != set()
    compared = 0
    for name in cases:
        wanted = golden[name]
        values = [attempt["value"] for attempt in cases[name]["attempts"]]
        assert values == pytest.approx(wanted["scores"], abs=1e-9), name
        assert cases[name]["value"] == pytest.approx(wanted["case_score"], abs=1e-9), name
        compared += len(values)
    assert compared == 30 * 19


@pytest.mark.slow
def test_every_synthetic_answer(cli: Any, tmp_path: Path) -> None:
    records = [
        record
        for record in json.loads((DEV / "synthetic.json").read_text())
        if record["in_dev"] and (DEV / "cases_dev" / f"eval_{record['case']}.yaml").exists()
    ]
    path = tmp_path / "answers.jsonl"
    rows = [{"case": record["case"], "output": record["response"]} for record in records]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    cases = run(cli, path, "--compat", "original")
    found = {name: iter(case["attempts"]) for name, case in cases.items()}
    compared = 0
    for record in records:
        attempt = next(found[record["case"]])
        if record["error"] is not None:
            assert attempt["value"] is None, record
            continue
        assert attempt["value"] == pytest.approx(record["score"], abs=1e-9), record
        compared += 1
    assert compared == len(records) - sum(record["error"] is not None for record in records)
    assert compared > 50


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4", {"0-1-137": 0.3333, "2-10-497": 0.5, "3-12-534": 0.6667, "3-12-556": 0.4}),
        ("gpt-3.5-turbo", {"0-1-137": 0.2222, "2-10-497": 0.5, "3-12-534": 1.0, "3-12-556": 0.4}),
    ],
)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_the_default_differs_where_the_original_is_broken(
    published: Any, model: str, expected: dict[str, float]
) -> None:
    compat, default = published(model, "--compat", "original"), published(model)
    gained = {
        name: round(default[name]["value"] - compat[name]["value"], 4)
        for name in compat
        if compat[name]["value"] is not None
        and default[name]["value"] != pytest.approx(compat[name]["value"], abs=1e-9)
    }
    assert gained == expected
