"""What a person sees of a run while it goes on."""

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proctor.cli import output
from proctor.engine.run import evaluate
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.io.concurrency import run_sync
from proctor.store.store import Store


def test_the_rate_is_that_of_the_phase(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    moment = SimpleNamespace(now=100.0)
    monkeypatch.setattr(time, "monotonic", lambda: moment.now)
    monkeypatch.setattr(output, "PLAIN_SECONDS", 5.0)
    with output.progress_bar() as show:
        moment.now += 60  # spent on reading
        show(evaluate.RunProgress(phase="collect", done=500, total=None))
        moment.now += 10
        show(evaluate.RunProgress(phase="collect", done=1500, total=None))
        moment.now += 2
        show(evaluate.RunProgress(phase="grade", done=1000, total=3000))
        moment.now += 10
        show(evaluate.RunProgress(phase="grade", done=3000, total=3000, failed=2))
    assert capsys.readouterr().err.splitlines() == [
        "collect: 500",
        "collect: 1,500, 100/s",
        "grade: 3,000 of 3,000, 200/s, 2 unscored",
    ]


def test_a_large_suite_is_said_to_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, answers, said = tmp_path / "suite.jsonl", tmp_path / "answers.jsonl", list[str]()
    path.write_text('{"id": "a", "ask": "q", "criteria": "b"}\n')
    answers.write_text('{"case": "a", "output": "b"}\n')
    settings = RunSettings(suite=SuiteSettings(path=path), answers=answers)
    with Store.open(str(tmp_path / "store.db")) as store:
        run_sync(evaluate.evaluate(settings, store, notice=said.append))
        assert said == []
        monkeypatch.setattr(evaluate, "LARGE_FILE", 10)
        run_sync(evaluate.evaluate(settings, store, notice=said.append))
    assert said == [f"reading {path}, 0 MiB: this takes a while"]


@pytest.mark.parametrize("ending", ["jsonl", "yaml", "parquet"])
@pytest.mark.sampled(3)
def test_every_phase_says_how_far_it_is(
    cli: Any, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(output, "PLAIN_SECONDS", 0.0)
    cases = [{"id": f"c{n}", "ask": "?", "references": [str(n)]} for n in range(600)]
    if ending == "parquet":
        pandas = pytest.importorskip("pandas")
        rows = [{**case, "references": case["references"][0]} for case in cases]
        pandas.DataFrame(rows).to_parquet(cli.folder / "many.parquet")
    else:
        lines = [json.dumps(case) for case in cases]
        listed = "[" + ", ".join(lines) + "]" if ending == "yaml" else "\n".join(lines)
        cli.write(f"many.{ending}", listed)
    cli.answers({"case": case["id"], "output": "0"} for case in cases)
    told = cli("run", f"many.{ending}", "--answers", "answers.jsonl").stderr.splitlines()
    for phase, total in {"read": "", "check": " of 600", "keys": " of 600", "store": "",
                         "grade": " of 600", "sum up": " of 600"}.items():  # fmt: skip
        assert any(line.startswith(f"{phase}: 600{total}") for line in told), (phase, told)
    assert any(line.startswith("read: 500") for line in told)
