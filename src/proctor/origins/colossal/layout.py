"""A run as the result folders of ColossalAI's evaluation pipeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from proctor.contracts.report import Layout, RunView
from proctor.core.attempt import AttemptStatus
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Json
from proctor.origins.colossal import tables
from proctor.reports.structured import clean

Kind = Literal["automatic", "unieval", "rating"]
KINDS: Mapping[str, Kind] = {
    "text_metrics": "automatic",
    "bert_score": "automatic",
    "unieval": "unieval",
    "rating_metric": "rating",
}
MOST = 5.0
"""The top of the scale of ratings."""
FOLDERS: Mapping[Kind, tuple[Path, str]] = {
    "automatic": (Path("automatic_results"), "automatic_evaluation_statistics.csv"),
    "unieval": (Path("unieval_results"), "unieval_statistics.csv"),
    "rating": (Path("gpt_evaluate", "gpt_evaluate_results"), "gpt_evaluation_statistics.csv"),
}
Rated = tuple[Json, Mapping[str, float | None]]
"""An id, and the rating by each metric; none where there is no readable one."""
SHOWN = 3


@dataclass(frozen=True)
class ColossalLayout(Layout):
    """The result folders of the original pipeline: CSV, JSON, and charts where they can be drawn.

    What other models left in the same folders stays, and enters the tables over all models.
    """

    model_name: str = ""
    """What the files are called by; the run's name if empty."""
    charts: bool = True

    def write(self, view: RunView, folder: Path) -> list[Path]:
        gathered = _ColossalResults(view.suite.compat)
        for result in view.results():
            gathered.add(result)
        name = tables.file_name(self.model_name or view.run.name)
        paths: list[Path] = []
        for kind in ("automatic", "unieval"):
            if gathered.numbers[kind]:
                paths += self._numbers(kind, gathered, folder, name)
        if gathered.rated:
            paths += self._ratings(gathered, folder, name)
        return paths

    def _numbers(
        self, kind: Kind, gathered: "_ColossalResults", folder: Path, name: str
    ) -> list[Path]:
        place, analysis = FOLDERS[kind]
        path = folder / place / tables.RESULTS / f"{name}_results.csv"
        written = tables.write_table(path, gathered.means(kind), gathered.categories)
        listed, rows = tables.write_analysis(folder / place, analysis)
        return [written, listed, *self._charts(rows, listed.parent, per="metric")]

    def _ratings(self, gathered: "_ColossalResults", folder: Path, name: str) -> list[Path]:
        place, analysis = FOLDERS["rating"]
        target = folder / place
        paths = []
        for category in gathered.rated:
            path = (
                target
                / tables.RESULTS
                / name
                / (f"{tables.file_name(category)}_evaluation_results.json")
            )
            paths.append(tables.write_json(path, gathered.records(category)))
        every = [record for category in gathered.rated for record in gathered.records(category)]
        path = target / tables.RESULTS / f"{name}_evaluation_results.json"
        paths.append(tables.write_json(path, every))
        path = target / tables.STATISTICS / f"{name}_evaluation_statistics.json"
        paths.append(tables.write_json(path, gathered.statistics()))
        listed, rows = tables.write_rating_analysis(target, analysis)
        return [*paths, listed, *self._charts(rows, listed.parent, per="category")]

    def _charts(
        self, rows: Sequence[tables.Row], folder: Path, *, per: Literal["metric", "category"]
    ) -> list[Path]:
        """Draw one chart for each metric, or category; nothing where nothing can draw here."""
        from proctor.reports.charts import drawing
        from proctor.reports.charts.of_runs import Bar, grouped_bars

        if not self.charts or drawing.missing():
            return []
        bars: dict[str, list[Bar]] = {}
        for model, category, metric, value in rows:
            name, group = (metric, category) if per == "metric" else (category, metric)
            bars.setdefault(name, []).append(Bar(group=group, series=model, value=value))
        top = None if per == "metric" else MOST
        charts = [
            grouped_bars(name, name, values, y="rating" if top else name, top=top)
            for name, values in bars.items()
        ]
        return drawing.write_charts(charts, folder, forms=("png",))


@dataclass
class _Rated:
    """One rated answer."""

    id: Json
    record: dict[str, Json]
    ratings: dict[str, float | None]


@dataclass
class _ColossalResults:
    """Numbers and records of a run, collected case by case."""

    compat: str
    categories: list[str] = field(default_factory=list)
    numbers: dict[Kind, dict[str, dict[str, list[float]]]] = field(
        default_factory=lambda: {"automatic": {}, "unieval": {}}
    )
    """The values of each category, by metric."""
    rated: dict[str, list[_Rated]] = field(default_factory=dict)

    def add(self, result: CaseResult) -> None:
        """Take in one case."""
        category = next(iter(result.case.tags.get("category", ())), "")
        if category not in self.categories:
            self.categories.append(category)
        ratings = [c for c in result.case.criteria if KINDS.get(c.scorer.name) == "rating"]
        for criterion in result.case.criteria:
            kind = KINDS.get(criterion.scorer.name)
            if kind in ("automatic", "unieval"):
                self._numbers(kind, category, criterion, result.attempts)
        for attempt in result.attempts if ratings else ():
            if attempt.attempt.status is AttemptStatus.ANSWERED:
                record = _rated(result.case, attempt, ratings, self.compat)
                self.rated.setdefault(category, []).append(record)

    def _numbers(
        self,
        kind: Kind,
        category: str,
        criterion: Criterion,
        attempts: Sequence[AttemptResult],
    ) -> None:
        for row in criterion.label.split(", "):
            values = self.numbers[kind].setdefault(row, {}).setdefault(category, [])
            for attempt in attempts:
                value = _metrics(attempt.scores.get(criterion.id)).get(row)
                if value is not None:
                    values.append(value)

    def means(self, kind: Kind) -> dict[str, dict[str, float]]:
        """Return the mean of each category, by metric."""
        return {
            row: {name: sum(values) / len(values) for name, values in cells.items() if values}
            for row, cells in self.numbers[kind].items()
        }

    def records(self, category: str) -> list[Json]:
        """Return the rated answers of a category, in the order of their ids."""
        return [row.record for row in self._ordered(category)]

    def statistics(self) -> dict[str, Json]:
        """Return the statistics of each category."""
        return {
            category: rating_statistics(
                [(row.id, row.ratings) for row in self._ordered(category)], self.compat
            )
            for category in self.rated
        }

    def _ordered(self, category: str) -> list[_Rated]:
        return sorted(self.rated[category], key=lambda row: _order(row.id))


def _rated(
    case: Case, attempt: AttemptResult, criteria: Sequence[Criterion], compat: str
) -> _Rated:
    meta = attempt.attempt.meta
    ident = meta.get("id", _number(case.id))
    evaluation: dict[str, Json] = {}
    ratings: dict[str, float | None] = {}
    for criterion in criteria:
        score = attempt.scores.get(criterion.id)
        ratings[criterion.label] = _metrics(score).get(criterion.label)
        evaluation[criterion.label] = _evaluation(score, compat)
    record: dict[str, Json] = {
        "category": next(iter(case.tags.get("category", ())), ""),
        "instruction": case.hidden.get("instruction", case.prompt),
        "input": case.hidden.get("input", ""),
        "output": attempt.attempt.output,
        "target": meta.get("target", ""),
        "id": ident,
        "evaluation": evaluation,
    }
    return _Rated(ident, clean(record), ratings)


def _evaluation(score: Score | None, compat: str) -> dict[str, Json]:
    """Return what the judge said; nothing where there is no rating, as in the original."""
    if score is None or score.status is not ScoreStatus.SCORED:
        return {}
    detail = score.detail if isinstance(score.detail, Mapping) else {}
    raw = detail.get("raw") or [""]
    logprobs = detail.get("logprobs")
    evaluation: dict[str, Json] = {
        "response": detail.get("response", raw[-1]),
        "logprobs": [logprobs] if logprobs else None,
    }
    return evaluation if compat else {**evaluation, "score": score.points, "reason": score.reason}


def _metrics(score: Score | None) -> Mapping[str, float]:
    """Return the numbers that a score shows."""
    if score is None or score.status is not ScoreStatus.SCORED:
        return {}
    metrics = score.detail.get("metrics") if isinstance(score.detail, Mapping) else None
    return metrics if isinstance(metrics, Mapping) else {}


def _number(text: str) -> Json:
    """Return an id as the number that it was."""
    plain = text.isascii() and text.isdigit() and str(int(text)) == text
    return int(text) if plain else text


def _order(ident: Json) -> tuple[bool, int, str]:
    number = isinstance(ident, int)
    return not number, ident if number else 0, str(ident)


def rating_statistics(rows: Sequence[Rated], compat: str = "") -> dict[str, dict[str, Json]]:
    """Return the numbers of one category by metric.

    Whatever has no rating is left out and counted; the original counts it as a 0. Among equals
    the later is the better, and the earlier the worse, as in the original.
    """
    metrics = dict.fromkeys(metric for _, ratings in rows for metric in ratings)
    return {metric: _of_metric(metric, rows, compat) for metric in metrics}


def _of_metric(metric: str, rows: Sequence[Rated], compat: str) -> dict[str, Json]:
    rated = [(ident, ratings.get(metric)) for ident, ratings in rows]
    if compat:
        counted = [(ident, _short(0.0 if rating is None else rating)) for ident, rating in rated]
    else:
        counted = [(ident, rating) for ident, rating in rated if rating is not None]
    ordered = sorted(counted, key=lambda pair: pair[1])
    statistics: dict[str, Json] = {
        "avg_score": sum(rating for _, rating in counted) / len(counted) if counted else None,
        "best_3": {str(ident): rating for ident, rating in ordered[: -SHOWN - 1 : -1]},
        "worst_3": {str(ident): rating for ident, rating in ordered[:SHOWN]},
    }
    if not compat:
        statistics |= {"scored": len(counted), "unscored": len(rated) - len(counted)}
    return statistics


def _short(rating: float) -> float:
    """Return a whole number as such: the original's ratings from texts are."""
    return int(rating) if rating == int(rating) else rating
