"""Runs as Parquet: a row for each score, for use in other tools."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from proctor.contracts.report import RunView
from proctor.core.fingerprint import plain
from proctor.core.suite import Json
from proctor.errors import MissingResource
from proctor.io import json_bytes
from proctor.io.concurrency import batched
from proctor.store.store import Store

SPAN = 10_000
"""Maximum number of rows in memory, written together."""


def write_parquet(_: Store, views: Sequence[RunView], path: Path) -> int:
    """Write a row for each score (one for an attempt without any), a few thousand at a time."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingResource("writing Parquet needs pyarrow (fix: pip install pyarrow)") from None
    text, number, whole = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
    tags = pyarrow.map_(text, pyarrow.list_(text))
    schema = pyarrow.schema(
        {
            "run": text, "run_name": text, "imported": pyarrow.bool_(), "suite": text,
            "candidate": text, "case": text,
            "attempt": whole, "status": text, "value": number, "full": number, "weight": number,
            "criterion": text, "scorer": text, "metric": text, "criterion_weight": number,
            "score_status": text, "points": number, "out_of": number, "reason": text,
            "output": text, "seconds": number, "tags": text, "tag": tags,
        }
    )  # fmt: skip
    count = 0
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for view in views:
            for batch in batched(_rows(view), SPAN):
                writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
                count += len(batch)
    return count


def _rows(view: RunView) -> Iterator[dict[str, Json]]:
    about = {
        "run": _valid(view.run.id),
        "run_name": _valid(view.run.name),
        "imported": view.run.imported,
        "suite": _valid(view.run.suite),
        "candidate": _valid(view.candidate),
    }
    for result in view.results():
        case = result.case
        row = {
            **about,
            "case": _valid(case.id),
            "full": case.full_score,
            "weight": case.weight,
            "tags": _valid(json_bytes.dumps(plain(case.tags)).decode()),
            "tag": [(_valid(name), [*map(_valid, values)]) for name, values in case.tags.items()],
        }
        for attempt_result in result.attempts:
            row |= {
                "attempt": attempt_result.attempt.index,
                "status": attempt_result.value.status.value,
                "value": attempt_result.value.value,
                "output": _valid(attempt_result.attempt.output),
                "seconds": attempt_result.attempt.seconds,
            }
            if not attempt_result.scores:
                yield dict(row)
            for criterion in case.criteria:
                if (score := attempt_result.scores.get(criterion.id)) is not None:
                    yield {
                        **row,
                        "criterion": _valid(criterion.id),
                        "scorer": _valid(criterion.scorer.name),
                        "metric": _valid(criterion.label),
                        "criterion_weight": criterion.weight,
                        "score_status": score.status.value,
                        "points": score.points,
                        "out_of": score.out_of,
                        "reason": _valid(score.reason),
                    }


def _valid(text: str) -> str:
    """Return a text that can be encoded: a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
