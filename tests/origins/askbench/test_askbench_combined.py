"""The combined sets of AskBench: the same rows for everyone."""

import json
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from proctor.errors import DialectError, UsageError
from proctor.origins.askbench.combined import combined_rows

SOURCES = {
    "ask_mind": ["math500de", "medqade", "gpqade", "bbhde"],
    "ask_overconfidence": ["math500", "medqa", "gpqa", "bbh"],
}
FIRST = ["medqade-52", "gpqade-76", "bbhde-21"]
HASH = "4d5502d97b522819"


def sources(folder: Path, kind: str, rows: int = 120) -> Path:
    for name in SOURCES[kind]:
        place = folder / f"{kind}_{name}"
        place.mkdir(parents=True)
        made = [{"id": f"{name}-{number}"} for number in range(rows)]
        (place / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    return folder


@pytest.mark.parametrize("kind", SOURCES)
def test_rows_are_drawn_as_the_original_draws_them(tmp_path: Path, kind: str) -> None:
    found = combined_rows(kind, sources(tmp_path, kind))
    expected = []
    for number, name in enumerate(SOURCES[kind]):
        ids = [f"{name}-{row}" for row in range(120)]
        drawn = Random(20250301 + number).sample(ids, 100)
        expected += [{"id": row, "source_task": f"{kind}_{name}"} for row in drawn]
    Random(20250301).shuffle(expected)
    assert found == expected
    assert len(found) == 400


def test_the_rows_are_always_the_same(tmp_path: Path) -> None:
    found = combined_rows("ask_mind", sources(tmp_path, "ask_mind"))
    assert [row["id"] for row in found[:3]] == FIRST
    assert sha256(json.dumps(found).encode()).hexdigest()[:16] == HASH


def test_missing_and_short_sources_are_said_at_once(tmp_path: Path) -> None:
    folder = sources(tmp_path, "ask_mind", rows=99)
    (folder / "ask_mind_bbhde" / "test.jsonl").unlink()
    with pytest.raises(DialectError) as caught:
        combined_rows("ask_mind", folder)
    messages = [problem.message for problem in caught.value.problems]
    assert messages[:3] == ["100 rows are drawn of each source; this one has 99"] * 3
    assert messages[3].startswith("there are no rows of 'ask_mind_bbhde'")


def test_there_are_two_combined_sets(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'ask_mind'"):
        combined_rows("ask_mnd", tmp_path)
