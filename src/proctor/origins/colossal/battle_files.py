"""A battle as the result files of ColossalAI's pipeline."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.core.comparison import BattleOutcome, Comparison, Preference, placed, settle
from proctor.core.suite import Json
from proctor.io.text_files import file_error, read_json

FOLDER = Path("gpt_evaluate", "battle_results")
INVALID = (-1.0, -1.0)
"""The marks that the original gives to unreadable replies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleRecord:
    """Record of two answers to a question: the judge's text, the marks, who won."""

    id: Json
    evaluation: str
    scores: tuple[float, float] | None
    """None where no judge was asked."""
    outcome: Preference

    @property
    def row(self) -> dict[str, Json]:
        """Return the record as the original writes it."""
        return {"evaluation": self.evaluation, "id": self.id, "score": self.scores}


def write_battle(outcome: BattleOutcome, folder: Path) -> list[Path]:
    """Write lists and statistics of each pair of runs below a folder, and return the files.

    The original counts from the view of the second run. Existing statistics of other battles
    are kept.
    """
    target = folder / FOLDER
    total = target / "battle_results.json"
    statistics_by_pair = read_json(total).data if total.is_file() else {}
    if not isinstance(statistics_by_pair, dict):
        raise file_error(
            total, "this file was not written by `proctor battle`", hint="name another folder"
        )
    written: list[Path] = []
    for pair in outcome.pairs:
        names = outcome.name_of(pair.first), outcome.name_of(pair.second)
        records = records_of(outcome, pair.first, pair.second)
        one, two = map(_file_name, names)
        statistics_by_pair[f"{one}_vs_{two}"] = statistics(names, records)
        for name, rows in _lists(one, two, records).items():
            written.append(_written(target / f"{one}_vs_{two}" / f"{name}.json", rows))
    return [*written, _written(total, statistics_by_pair)]


def records_of(outcome: BattleOutcome, first: str, second: str) -> list[BattleRecord]:
    """Return the records of two runs' comparisons, ordered by case id.

    Where both orders were judged, the marks are their mean and the texts are joined.
    """
    both = {first, second}
    comparisons = [one for one in outcome.comparisons if {one.first, one.second} == both]
    records = [_record(group) for group in placed(comparisons, first, outcome.orders).values()]
    return sorted(records, key=lambda record: _order(record.id))


def statistics(names: Sequence[str], records: Iterable[BattleRecord]) -> dict[str, Json]:
    """Summarise as the original does: ``better`` means the second run; a tie is no half win.

    Where no reply is readable the original crashes; here rate and marks are None.
    """
    valid = [record for record in records if record.outcome is not Preference.INVALID]
    better = sum(record.outcome is Preference.SECOND for record in valid)
    worse = sum(record.outcome is Preference.FIRST for record in valid)
    marks = [record.scores for record in valid if record.scores is not None]
    return {
        "model": list(names),
        "better": better,
        "worse": worse,
        "tie": len(valid) - better - worse,
        "win_rate": better / len(valid) if valid else None,
        "score": [
            sum(pair[side] for pair in marks) / len(marks) if marks else None for side in (0, 1)
        ],
    }


def _record(group: Sequence[Comparison]) -> BattleRecord:
    outcome = settle([one.outcome for one in group])
    marks = [one.scores for one in group if one.scores is not None]
    scores = None
    if outcome is Preference.INVALID:
        scores = INVALID
    elif marks:
        count = len(marks)
        scores = sum(pair[0] for pair in marks) / count, sum(pair[1] for pair in marks) / count
    texts = [one.raw[-1] if one.raw else one.reason for one in group if one.raw or not one.judge]
    case_id = group[0].case_id
    number = case_id.isascii() and case_id.isdigit() and str(int(case_id)) == case_id
    return BattleRecord(
        id=int(case_id) if number else case_id,
        evaluation="\n\n".join(dict.fromkeys(texts)),
        scores=scores,
        outcome=outcome,
    )


def _lists(one: str, two: str, records: Sequence[BattleRecord]) -> dict[str, list[Json]]:
    def those(outcome: Preference) -> list[Json]:
        return [record.row for record in records if record.outcome is outcome]

    return {
        f"{two}_better": those(Preference.SECOND),
        f"{two}_worse": those(Preference.FIRST),
        f"{one}_vs_{two}_tie": those(Preference.TIE),
        f"{one}_vs_{two}_invalid": those(Preference.INVALID),
        f"{one}_vs_{two}_evaluations": [record.row for record in records],
    }


def _written(path: Path, value: Json) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, ensure_ascii=False, indent=4)
    path.write_bytes(text.encode("utf-8", "backslashreplace"))
    return path


def _file_name(name: str) -> str:
    """Return a run's name as a safe path component."""
    return name.replace("/", "_").replace("\0", "_").lstrip(".") or "_"


def _order(case_id: Json) -> tuple[bool, int, str]:
    number = isinstance(case_id, int)
    return not number, case_id if number else 0, str(case_id)
