"""What tables keep of each case of a run."""

from collections.abc import Iterator

from proctor.core.run import CaseResult
from proctor.core.score import ValueStatus
from proctor.engine.run.aggregate import RunTotals
from proctor.store.rows import ResultRow


def result_rows(placed: Iterator[tuple[int, CaseResult]], summer: RunTotals) -> Iterator[ResultRow]:
    """Yield what a table keeps of each case, while it is summed up."""
    for position, result in placed:
        summer.add(result)
        case, folded = result.case, result.folded
        yield ResultRow(
            position=position,
            case_id=case.id,
            status=folded.status if folded.value is not None else _why_not(folded.status),
            value=folded.value,
            full=case.full_score,
            weight=case.weight,
            low=folded.low,
            high=folded.high,
            spread=folded.spread,
            tags=case.tags,
        )


def _why_not(status: ValueStatus) -> ValueStatus:
    kept = (ValueStatus.ERROR, ValueStatus.SHOWN)
    return status if status in kept else ValueStatus.UNSCORED
