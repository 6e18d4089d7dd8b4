"""A battle as the result files of ColossalAI's pipeline."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor import origin_tables
from proctor.cli.battle import battle
from proctor.core.comparison import Preference
from proctor.engine.battle.prompt import original_scores
from proctor.origins.colossal.battle_files import (
    BattleRecord,
    records_of,
    statistics,
    write_battle,
)
from reports.battle_example import OUTCOME

GOLDEN = json.loads(
    (Path(__file__).resolve().parents[2] / "golden" / "colossal_battle.json").read_text("utf-8")
)


def preferred(scores: tuple[float, float]) -> Preference:
    if scores == (-1, -1):
        return Preference.INVALID
    if scores[0] > scores[1]:
        return Preference.FIRST
    return Preference.SECOND if scores[1] > scores[0] else Preference.TIE


def test_the_original_statistics() -> None:
    wanted = GOLDEN["battle_statistics"]
    records = []
    for row in wanted["evaluations"]:
        scores = original_scores(row["evaluation"])
        records.append(
            BattleRecord(
                id=row["id"],
                evaluation=row["evaluation"],
                scores=scores,
                outcome=preferred(scores),
            )
        )
    assert statistics(("A", "B"), records) == wanted["battle_results"]["A_vs_B"]
    nothing = statistics(("A", "B"), records[7:])
    assert (nothing["win_rate"], nothing["score"]) == (None, [None, None])


def test_the_originals_files_say_what_the_battle_came_to(tmp_path: Path) -> None:
    records = records_of(OUTCOME, "r1", "r2")
    assert [(r.id, r.outcome.value, r.scores) for r in records] == [
        (9, "tie", None),
        (10, "first", (8.5, 4.5)),
        ("x", "invalid", (-1.0, -1.0)),
    ]
    assert [r.evaluation for r in records] == ["equal answers", "8 4\n\n5 9", "no\n\n9 1"]
    other = tmp_path / "gpt_evaluate" / "battle_results" / "battle_results.json"
    other.parent.mkdir(parents=True)
    other.write_text('{"C_vs_D": 1}')
    odd = replace(OUTCOME.contenders[1], name="../../up")
    outcome = replace(OUTCOME, contenders=(OUTCOME.contenders[0], odd))
    files = write_battle(outcome, tmp_path)
    assert all(path.resolve().is_relative_to(other.parent) for path in files)
    found = json.loads(other.read_text())
    (name,) = found.keys() - {"C_vs_D"}
    assert found[name] == {
        "model": ["a", "../../up"], "better": 0, "worse": 1, "tie": 1,
        "win_rate": 0.0, "score": [8.5, 4.5],
    }  # fmt: skip


def test_the_command_finds_the_writer_by_the_table_of_its_origin() -> None:
    assert origin_tables.battle_writer() is write_battle


def test_without_the_origin_the_folder_is_refused_before_a_judge_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(origin_tables, "battle_writer", lambda: None)
    store = ["--store", str(tmp_path / "none.db")]
    done = CliRunner().invoke(battle, ["a", "b", "--out", str(tmp_path), *store])
    assert (done.exit_code, "no format that is installed" in done.output) == (2, True)
