"""Verdicts on prompts over several models together, where runs form a matrix of both."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations

from proctor.core.case_value import ValueStatus
from proctor.core.fingerprint import digest
from proctor.core.grid import PromptVerdict
from proctor.core.names import model_of
from proctor.core.prompt import prompt_of
from proctor.core.suite import Json
from proctor.engine.compare.as_json import group_object
from proctor.engine.compare.comparing import CompareSettings
from proctor.engine.compare.obstacles import Side, obstacles
from proctor.engine.compare.pair_sums import MetCases, PairedRowSums, add_columns, draw_name
from proctor.engine.compare.results import Compared, LeftOut
from proctor.engine.compare.verdict import GroupContrast
from proctor.engine.compare.wording import Language, prompt_sentence, refused_prompts
from proctor.stats.difference import Method
from proctor.stats.paired import Paired, holm
from proctor.store.store import Store

FEWEST_MODELS = 2
"""A prompt with one model alone has its verdict from the comparison of two runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContrast(GroupContrast):
    """The comparison of a second prompt with a first one, with the same models."""

    first: str
    second: str
    pairs: tuple[tuple[Side, Side], ...]
    """The runs of both prompts, model by model."""
    left_out: LeftOut = field(default_factory=LeftOut)
    refused: str = ""
    """Why they cannot be compared."""

    def shown(self, language: Language = "en") -> PromptVerdict:
        """Return what reports show of it."""
        first, second, models = self.first, self.second, len(self.pairs)
        if self.refused:
            text = refused_prompts(first, second, models, self.refused, language)
        else:
            cluster = self.pairs[0][0].suite.cluster
            text = prompt_sentence(self, first, second, models, cluster, language)
        numbers: dict[str, Json] = {"verdict": "refused"} if self.refused else group_object(self)
        return PromptVerdict(
            first=first,
            second=second,
            models=models,
            sentence=text,
            numbers={
                **numbers,
                "runs": [[one.run.id, two.run.id] for one, two in self.pairs],
                "left_out": asdict(self.left_out),
            },
        )


def prompt_verdicts(
    store: Store, compared: Compared, settings: CompareSettings
) -> list[PromptVerdict]:
    """Compare prompts over models in the way in which the runs were compared."""
    if settings.sequential:
        return []
    contrasts = prompt_contrasts(
        store,
        compared.sides,
        method=settings.method,
        margin=settings.margin,
        force=settings.force,
    )
    return [contrast.shown() for contrast in contrasts]


def prompt_contrasts(
    store: Store,
    sides: Sequence[Side],
    *,
    method: Method = "t",
    margin: float | None = None,
    force: bool = False,
) -> list[PromptContrast]:
    """Compare each two prompts over all models that were asked with both; none without a matrix.

    A case with a model is a pair of results. All pairs of a case, or of its cluster, are one draw,
    so that the same questions asked of several models do not count as so many questions.
    """
    matrix = _matrix(sides)
    if matrix is None or any(side.run.stopped_early is not None for side in sides):
        return []
    contrasts = []
    for first, second in combinations(matrix, 2):
        common = [model for model in matrix[first] if model in matrix[second]]
        if len(common) < FEWEST_MODELS:
            continue
        pairs = tuple((matrix[first][model], matrix[second][model]) for model in common)
        contrasts.append(_contrast(store, (first, second), pairs, method, force=force))
    adjusted = holm([contrast.decision_p for contrast in contrasts])
    tested = sum(p is not None for p in adjusted)
    return [
        replace(contrast, adjusted_p=p, tested=tested, margin=margin)
        for contrast, p in zip(contrasts, adjusted, strict=True)
    ]


def _matrix(sides: Sequence[Side]) -> dict[str, dict[str, Side]] | None:
    """Return the runs by prompt and model; none where two of them have one place."""
    matrix: dict[str, dict[str, Side]] = {}
    contents: dict[str, object] = {}
    for side in sides:
        prompt = prompt_of(side.run.candidate)
        name = "" if prompt is None else prompt.name
        models = matrix.setdefault(name, {})
        model = digest(model_of(side.run.candidate))
        if model in models or contents.setdefault(name, prompt) != prompt:
            return None
        models[model] = side
    return matrix


def _contrast(
    store: Store,
    prompts: tuple[str, str],
    pairs: tuple[tuple[Side, Side], ...],
    method: Method,
    *,
    force: bool,
) -> PromptContrast:
    reasons = dict.fromkeys(
        reason for one, two in pairs for reason in obstacles(store, one, two)[0]
    )
    refused = bool(reasons) and not force
    whole, left_out, cases = _summed(store, () if refused else pairs)
    group = whole.contrast(method)
    return PromptContrast(
        first=prompts[0],
        second=prompts[1],
        pairs=pairs,
        paired=_by_case(group.paired, len(cases)),
        flips=group.flips,
        extremes=group.extremes,
        left_out=left_out,
        refused="; ".join(reasons) if refused else "",
    )


def _by_case(paired: Paired, cases: int) -> Paired:
    """Count cases instead of pairs of results, so that sizes are those of a suite."""
    outlook = paired.outlook
    if outlook is not None:
        outlook = replace(outlook, each=cases / outlook.n)
    # Cases that are a cluster each are not called clusters.
    clusters = None if paired.clusters == cases else paired.clusters
    return replace(paired, n=cases, clusters=clusters, outlook=outlook)


def _summed(
    store: Store, pairs: Sequence[tuple[Side, Side]]
) -> tuple[PairedRowSums, LeftOut, set[str]]:
    """Add up the results of all models, each case as one draw, and return the cases."""
    whole, errors, cases = PairedRowSums(), 0, set[str]()
    only = [0, 0]
    for one, two in pairs:
        columns = store.pairs.columns(one.run, two.run)
        if columns is not None:
            counts = add_columns(columns, whole, by_case=True)
            counted = columns.have_values() & (columns.first.weight * columns.first.full > 0)
            cases.update(columns.first.ids_at(counted.nonzero()[0].tolist()))
        else:
            counts = MetCases()
            for case_id, cluster, row in store.pairs.iter_met(one.run, two.run):
                counts.met += 1
                if ValueStatus.ERROR in (row.status, row.status_2):
                    counts.errors += 1
                    continue
                whole.add(row, 1, draw_name(case_id, cluster))
                if None not in (row.value, row.value_2) and row.full * row.weight > 0:
                    cases.add(case_id)
        errors += counts.errors
        for place, side in enumerate((one, two)):
            only[place] += store.results.count(side.run.id) - counts.met
    left_out = LeftOut(
        unscored=whole.unscored, errors=errors, only_first=only[0], only_second=only[1]
    )
    return whole, left_out, cases
