"""Overlap of the answer with references, by all the metrics people know, in one pass."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.scorers.overlap.chinese import HOW_TO, cut_by, cutter
from proctor.scorers.overlap.process import PART, values_of_many
from proctor.scorers.overlap.tokens import Language, language_of
from proctor.scorers.overlap.values import OURS, ROWS, Metric, MetricRow, Pair, values_of

if TYPE_CHECKING:
    from proctor.contracts.score_columns import ScoreColumn, ScoreRows


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


@dataclass(frozen=True)
class TextMetrics(Scorer):
    """Compare the answer with the case's references by BLEU, ROUGE, chrF and others; only shown.

    ``bleu`` is sentence BLEU-1 to 4, smoothed ("exp"), orders that the answer is too short for
    left out. ``rouge`` is ROUGE-1, 2 and L (F-measure). ``chrf`` is chrF2 over characters 1 to 6
    with case and without white space, as sacrebleu has it. ``prf`` is precision, recall and F1 of
    the two bags of tokens. ``distinct`` is the share of distinct n-grams in the answer, averaged
    over the orders 1 to 3 that it has. An empty text is worth 0; of several references the best
    counts.

    Tokens are lower-case words. ``language`` says how Chinese is cut: ``zh`` by jieba's
    dictionary, ``en`` sign by sign; left out, the case's reference tells by its script. Without
    the extra ``chinese`` it is always sign by sign, and the signature says so.
    """

    version: ClassVar[str] = "2"
    out_of: ClassVar[float | None] = None
    instant: ClassVar[bool] = True
    batches: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    formulas: ClassVar[str] = OURS
    """The class that computes the metrics, as ``module:Class``: other processes load it, too."""

    metrics: Annotated[tuple[Metric, ...], BeforeValidator(_listed)] = (
        "bleu",
        "rouge",
        "distinct",
        "chrf",
        "prf",
    )
    language: Literal["", "zh", "en"] = ""

    def score(self, ctx: ScoreContext) -> Score:
        return self.score_batch([ctx])[0]

    def score_batch(self, contexts: Sequence[ScoreContext]) -> list[Score]:
        own_pairs = [self._pairs(ctx.output, ctx.references, ctx.prompt) for ctx in contexts]
        pairs = list(chain.from_iterable(own_pairs))
        rows = iter(values_of_many(pairs, self.metrics, self.formulas))
        return [self._score(list(islice(rows, len(own)))) for own in own_pairs]

    @classmethod
    def score_column(cls, scorers: "Sequence[TextMetrics]", rows: "ScoreRows") -> "ScoreColumn":
        """Score in this process alone, since each of the others has a column of its own."""
        from proctor.contracts.score_columns import ScoreColumn
        from proctor.contracts.scoring import as_score

        places_by_metrics: dict[tuple[Metric, ...], list[int]] = {}
        for place, scorer in enumerate(scorers):
            places_by_metrics.setdefault(scorer.metrics, []).append(place)
        column = ScoreColumn.empty(len(rows))
        for metrics, places in places_by_metrics.items():
            own_pairs = [
                scorers[i]._pairs(rows.outputs[i], rows.references[i], rows.prompts[i])
                for i in places
            ]
            values = _values_in_turn(own_pairs, metrics, cls.formulas)
            for place, own in zip(places, own_pairs, strict=True):
                scorer, own_values = scorers[place], list(islice(values, len(own)))
                column.put(place, as_score(scorer, scorer._score(own_values)))
        return column

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        """Return the ends that all of these metrics have."""
        return 0.0, 1.0

    def problems(self) -> Iterable[str]:
        if not self.metrics:
            yield f"no metrics are asked for (known are: {', '.join(ROWS)})"
        for metric in dict.fromkeys(self.metrics):
            if self.metrics.count(metric) > 1:
                yield f"the metric {metric!r} is asked for twice"

    def missing(self) -> Iterable[str]:
        if self.language == "zh" and self._cuts:
            yield from self._missing_cutter()

    def toolchain(self) -> str:
        if self.language == "en" or not self._cuts:
            return ""
        return f"Chinese by {self._cutter()}"

    def _missing_cutter(self) -> Iterable[str]:
        if cut_by() != "jieba":
            yield f"neither jieba nor rjieba, which cut Chinese, is installed ({HOW_TO})"

    def _cutter(self) -> str:
        return cutter()

    @property
    def _cuts(self) -> bool:
        """Tell whether some metric needs words."""
        return set(self.metrics) != {"chrf"}

    def _compared(self, references: Sequence[str]) -> Sequence[str]:
        """Return the references that are compared with."""
        return references

    def _pairs(self, output: str, references: Sequence[str], prompt: str) -> list[Pair]:
        references = self._compared(references)
        if not references and set(self.metrics) == {"distinct"}:
            references = [""]
        if not references:
            return []
        language: Language = self.language or language_of([*references, output, prompt])
        return [(output, reference, language) for reference in references]

    def _score(self, rows: Sequence[MetricRow]) -> Score:
        if not rows:
            return Score.failed("there is no reference to compare with")
        values = rows[0].values if len(rows) == 1 else _best(rows)
        errors = rows[0].errors
        failure = "; ".join(f"the original stops at {name}: {errors[name]}" for name in errors)
        if not values:
            return Score.failed(failure, detail={"errors": errors})
        reason = ", ".join(f"{name} {value:.4f}" for name, value in values.items())
        detail: dict[str, Any] = {"metrics": values}
        if errors:
            reason, detail["errors"] = f"{reason}; {failure}", errors
        return Score(points=next(iter(values.values())), reason=reason, detail=detail)


def _values_in_turn(
    own_pairs: Sequence[Sequence[Pair]], metrics: Sequence[str], how: str
) -> Iterator[MetricRow]:
    """Yield the values of all pairs, some hundreds of which are compared at a time."""
    pairs = chain.from_iterable(own_pairs)
    while part := list(islice(pairs, PART)):
        yield from values_of(part, metrics, how)


def _best(rows: Sequence[MetricRow]) -> dict[str, float]:
    """Return the best value of each metric; precision and recall go with the best F1."""
    values = {name: max(row.values[name] for row in rows) for name in rows[0].values}
    if "f1_score" in values:
        best = max(rows, key=lambda row: row.values["f1_score"])
        values |= {name: best.values[name] for name in ROWS["prf"]}
    return values
