"""Results of promptfoo: a real file, and broken ones."""

import json
from pathlib import Path

import pytest

from proctor.core.attempt import AttemptStatus
from proctor.errors import SuiteError
from proctor.formats.imports.promptfoo_results import PromptfooResults

GOLDEN = Path(__file__).parents[2] / "golden" / "imports" / "promptfoo" / "results.json"


def test_the_real_program() -> None:
    assert PromptfooResults().recognises(GOLDEN)
    [kept] = PromptfooResults().read(GOLDEN)
    rows = [row for run in kept.runs for row in run.rows]
    stats = json.loads(GOLDEN.read_text())["results"]["stats"]
    errors = sum(attempt.status is AttemptStatus.ERROR for _, attempt, _ in rows)
    passes = sum(scores["pass"].points or 0 for _, _, scores in rows if scores)
    assert (passes, errors) == (stats["successes"], stats["errors"])
    assert len(rows) - passes - errors == stats["failures"]
    assert [run.name for run in kept.runs] == [
        "one · Answer: {{question}}",
        "one · Be brief. {{question}}",
        "two · Answer: {{question}}",
        "two · Be brief. {{question}}",
    ]
    assert len(kept.suite.cases) == 2
    _, attempt, scores = kept.runs[0].rows[0]
    assert attempt.output == "Answer: capital of France?"
    assert set(scores) == {"pass", "score", "contains", "icontains"}
    assert attempt.usage["candidate"]["cost"] == 0.001


@pytest.mark.parametrize("text", ['{"evalId": "x", "results": {"results": []}}', '{"evalId": "x"}'])
def test_broken_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(SuiteError):
        list(PromptfooResults().read(path))


def test_repeats_are_attempts(tmp_path: Path) -> None:
    row = {"testCase": {"vars": {"q": "1"}}, "success": True, "response": {"output": {"a": 1}}}
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"evalId": "x", "results": {"results": [row, row]}}))
    [kept] = PromptfooResults().read(path)
    attempts = [attempt for _, attempt, _ in kept.runs[0].rows]
    assert [attempt.index for attempt in attempts] == [0, 1]
    assert attempts[0].output == '{"a":1}'
