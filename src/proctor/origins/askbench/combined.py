"""The combined sets of AskBench: a hundred rows of each of four sources, always the same ones."""

from collections.abc import Mapping
from pathlib import Path
from random import Random

from proctor.core.suite import Json
from proctor.errors import DialectError, Problem, UsageError
from proctor.io.findings import Findings
from proctor.io.text_files import read_jsonl
from proctor.suggestions import suggest

SEED = 20250301
ROWS_EACH = 100
SOURCES: Mapping[str, tuple[str, ...]] = {
    "ask_mind": ("math500de", "medqade", "gpqade", "bbhde"),
    "ask_overconfidence": ("math500", "medqa", "gpqa", "bbh"),
}


def combined_rows(kind: str, folder: Path) -> list[dict[str, Json]]:
    """Sample each source by its own seed, and shuffle them together by one more."""
    if kind not in SOURCES:
        raise UsageError(f"there is no combined set {kind!r} ({suggest(kind, SOURCES)})")
    rows: list[dict[str, Json]] = []
    findings = Findings()
    for number, short in enumerate(SOURCES[kind]):
        name = f"{kind}_{short}"
        file = _file(folder, name, short)
        if file is None:
            message = f"there are no rows of {name!r}: no {folder / name / 'test.jsonl'}"
            findings.add(Problem(message=message, file=str(folder)))
            continue
        source_rows = [document.data for document in read_jsonl(file)]
        if len(source_rows) < ROWS_EACH or not all(isinstance(row, dict) for row in source_rows):
            message = f"{ROWS_EACH} rows are drawn of each source; this one has {len(source_rows)}"
            findings.add(Problem(message=message, file=str(file)))
            continue
        # The numbers are not secret: the same rows must come out for everyone.
        drawn = Random(SEED + number).sample(source_rows, ROWS_EACH)  # noqa: S311  # nosec B311
        rows += [{**row, "source_task": name} for row in drawn]
    if findings.errors:
        raise DialectError(findings.shown)
    Random(SEED).shuffle(rows)  # noqa: S311  # nosec B311
    return rows


def _file(folder: Path, name: str, short: str) -> Path | None:
    places = (folder / name, folder / short)
    candidates = (place / "test.jsonl" for place in places)
    return next((file for file in candidates if file.is_file()), None)
