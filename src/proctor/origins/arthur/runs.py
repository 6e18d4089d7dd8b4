"""Test runs: candidate outputs with their scores, in memory and in the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from proctor.contracts.archive import KeptRun
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.run import CaseResult, Run, Summary
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Json, Suite
from proctor.origins.arthur.errors import UserError
from proctor.origins.arthur.files import BenchFiles
from proctor.origins.arthur.ids import case_uuid, run_uuid, suite_uuid
from proctor.origins.arthur.method_table import Category, CategoryName, category_of
from proctor.origins.arthur.own_scorers import ScoreResult

METADATA = ("model_name", "model_version", "foundation_model", "prompt_template")


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCaseOutput:
    """One output with its score."""

    __test__: ClassVar[bool] = False

    id: str
    input: str
    reference_output: str | None
    output: str | None
    context: tuple[str, ...]
    score: float | None
    """None where it could not be scored; ``reason`` then says why."""
    category: Category | None
    reason: str
    detail: Any

    @property
    def score_result(self) -> ScoreResult | None:
        """Return score and category together, as scorers give them."""
        if self.score is None and self.category is None:
            return None
        return ScoreResult(score=self.score, category=self.category)


class TestRun:
    """The outputs of one candidate with their scores, in the order of the suite."""

    __test__ = False

    def __init__(
        self,
        run: Run,
        suite: Suite,
        summary: Summary,
        results: Sequence[CaseResult],
        place: str | None,
        *,
        saved: bool,
    ) -> None:
        self._run, self._suite, self._summary = run, suite, summary
        self._results = list(results)
        self._place, self._saved = place, saved
        self._files: BenchFiles | None = None
        self.test_cases = [_output(result) for result in self._results]

    @property
    def name(self) -> str:
        """Return the run's name."""
        return self._run.name

    @property
    def id(self) -> UUID | None:
        """Return the run's id; none until it is saved."""
        return run_uuid(self._run) if self._saved else None

    @property
    def run_id(self) -> str:
        """Return the id by which ``proctor report`` and ``proctor show`` know the run."""
        return self._run.id

    @property
    def test_suite_id(self) -> UUID:
        """Return the id of the suite."""
        return suite_uuid(self._run.suite_key, self._suite.version)

    @property
    def scores(self) -> list[float | None]:
        """Return all scores; none where there is none."""
        return [case.score for case in self.test_cases]

    @property
    def categories(self) -> list[CategoryName | None]:
        """Return the names of all categories; none where the method has only numbers."""
        return [
            None if case.category is None else CategoryName(case.category)
            for case in self.test_cases
        ]

    @property
    def output(self) -> list[str | None]:
        """Return all outputs."""
        return [case.output for case in self.test_cases]

    @property
    def outputs(self) -> list[str | None]:
        """Return all outputs."""
        return self.output

    @property
    def contexts(self) -> list[tuple[str, ...]]:
        """Return the contexts that the candidate had."""
        return [case.context for case in self.test_cases]

    @property
    def model_name(self) -> str | None:
        """Return the name of the model that made the outputs."""
        return self._metadata("model_name")

    @property
    def model_version(self) -> str | None:
        """Return the version of the model."""
        return self._metadata("model_version")

    @property
    def foundation_model(self) -> str | None:
        """Return the model that it was made from."""
        return self._metadata("foundation_model")

    @property
    def prompt_template(self) -> str | None:
        """Return the prompt that the outputs were made with."""
        return self._metadata("prompt_template")

    @property
    def average(self) -> float | None:
        """Return the mean of the scores there are."""
        return self._measured.value if self._measured else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval of the mean."""
        return self._measured.interval if self._measured else None

    @property
    def unscored(self) -> int:
        """Return how many outputs have no score."""
        return sum(case.score is None for case in self.test_cases)

    @property
    def signature(self) -> str:
        """Return every choice that could move the numbers, in a line."""
        return self._run.signature

    def is_made_of(self, attempts: Sequence[Attempt], metadata: Mapping[str, str]) -> bool:
        """Tell whether these are the outputs of the run, made by the same model."""
        own = [(one.attempt.output, one.attempt.notes.get("context") or []) for result in
               self._results for one in result.attempts]  # fmt: skip
        answers = [(one.output, one.notes.get("context") or []) for one in attempts]
        described = {name: text for name in METADATA if (text := self._metadata(name))}
        return own == answers and described == dict(metadata)

    def save(self) -> UUID:
        """Store a run that was made with ``save=False``, and return its id."""
        from proctor.engine.transfer.answers_in_memory import keep_run, put_suite
        from proctor.store.store import Store

        if self._saved:
            raise UserError(f"the run {self.name!r} is saved already")
        criterion = self._suite.cases[0].criteria[0].id
        rows = tuple(
            (place, one.attempt, {name: s for name, s in one.scores.items() if name == criterion})
            for place, result in enumerate(self._results)
            for one in result.attempts
        )
        saved = KeptRun(
            name=self.name,
            candidate=self._run.candidate,
            rows=rows,
            settings=self._run.settings,
            started=self._run.started,
        )
        with Store.open(self._place) as store:
            key = put_suite(store, self._suite)
            self._run = keep_run(store, self._suite, key, saved).run
        self._saved = True
        self.written_to(self._files)
        return run_uuid(self._run)

    def written_to(self, files: BenchFiles | None) -> None:
        """Write the run down as Arthur Bench does, now if it is saved, else when it will be."""
        self._files = files
        if files is not None and self._saved:
            files.put_run(self._as_object(), self._suite, self._run.suite_key, self.run_id)

    def _as_object(self) -> dict[str, Json]:
        """Return the run as Arthur Bench writes it, but for the time of writing."""
        key = self._run.suite_key
        rows = [
            {
                "id": str(case_uuid(key, one.id)),
                "output": one.output,
                "score": one.score,
                "input": None,
                "reference_output": None,
                "score_result": {
                    "score": one.score,
                    "category": None if one.category is None else one.category._asdict(),
                },
            }
            for one in self.test_cases
        ]
        metadata = {
            "model_name": self.model_name,
            "model_version": self.model_version,
            "foundation_model": self.foundation_model,
            "prompt_template": self.prompt_template,
        }
        return {
            "id": str(self.id),
            "name": self.name,
            "test_suite_id": str(self.test_suite_id),
            "test_cases": rows,
            **{name: value for name, value in metadata.items() if value},
        }

    def __len__(self) -> int:
        return len(self.test_cases)

    def __repr__(self) -> str:
        mean = "no score" if self.average is None else f"mean {self.average:.4g}"
        ends = "" if self.interval is None else " [{:.4g}, {:.4g}]".format(*self.interval)
        lacking = f", {self.unscored} unscored" if self.unscored else ""
        return f"<TestRun {self.name!r}: {mean}{ends} over {len(self)}{lacking}>"

    @property
    def _measured(self) -> Any:
        return next(iter(self._summary.measures.values()), None)

    def _metadata(self, name: str) -> str | None:
        value: str | None = self._run.candidate.params.get(name)
        return value


def _output(result: CaseResult) -> TestCaseOutput:
    case = result.case
    criterion = case.criteria[0].id
    only = result.attempts[0]
    score = only.scores.get(criterion)
    noted = only.attempt.notes.get("context") or case.context
    answered = only.attempt.status is AttemptStatus.ANSWERED
    return TestCaseOutput(
        id=case.id,
        input=case.prompt,
        reference_output=case.references[0] if case.references else None,
        output=only.attempt.output if answered else None,
        context=(noted,) if isinstance(noted, str) else tuple(noted),
        score=_points(score) if answered else case.null_score,
        category=category_of(criterion, score) if answered else None,
        reason=(score.reason if score else "") if answered else "there is no output",
        detail=score.detail if score else None,
    )


def _points(score: Score | None) -> float | None:
    return score.points if score is not None and score.status is ScoreStatus.SCORED else None
