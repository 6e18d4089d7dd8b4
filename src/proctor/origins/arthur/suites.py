"""Test suites: made of data or found again by name, and run on candidate outputs."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from proctor.contracts.model import ModelChoice
from proctor.core.fingerprint import case_key
from proctor.core.suite import Suite
from proctor.origins.arthur.candidates import CandidateOutputs, attempts_of
from proctor.origins.arthur.errors import MissingParameterError, NotFoundError, UserValueError
from proctor.origins.arthur.files import folder_for
from proctor.origins.arthur.ids import suite_uuid
from proctor.origins.arthur.method_table import METHODS, ORIGINAL
from proctor.origins.arthur.methods import (
    Scoring,
    ScoringMethod,
    chosen,
    difference,
    specs_for,
    stored_in,
)
from proctor.origins.arthur.own_scorers import OwnScorer
from proctor.origins.arthur.references import CaseData, cases_of
from proctor.origins.arthur.rows import CANDIDATE, INPUT, REFERENCE, name_problem, suite_of
from proctor.origins.arthur.running import ScoringRequest, score
from proctor.origins.arthur.runs import METADATA, TestRun

if TYPE_CHECKING:
    from proctor.store.store import Store

DIALECT = "bench"
FilePath = str | PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """One case of a suite."""

    __test__: ClassVar[bool] = False

    id: str
    input: str
    reference_output: str | None


class TestSuite:
    """Inputs, references and a scoring method; a stored suite of the same name is used again.

    Data come as ``reference_data`` (a data frame of any make, or a mapping of lists), as
    ``reference_data_path`` (a CSV file), or as lists. ``scoring_method`` is a name, a
    ``ScoringMethod``, a function, or an object with ``run_batch``. Where the store has a suite of
    the name, no data are needed; data or a method that differ from it are an error.

    ``suite.json`` and ``run.json`` are written to ``directory`` as Arthur Bench writes them: by
    default where ``$BENCH_FILE_DIR`` says, else to ``bench_runs``; nowhere where it is empty, or
    where only a store was named.
    """

    __test__ = False

    def __init__(  # noqa: PLR0913, PLR0917 - Arthur Bench's own arguments, in its order
        self,
        name: str,
        scoring_method: Any = None,
        description: str | None = None,
        reference_data: Any = None,
        reference_data_path: FilePath | None = None,
        input_column: str = INPUT,
        reference_column: str = REFERENCE,
        input_text_list: Sequence[str] | None = None,
        reference_output_list: Sequence[str] | None = None,
        client: FilePath | None = None,
        *,
        context_column: str | None = None,
        context_list: Sequence[Any] | None = None,
        id_column: str | None = None,
        tag_columns: Sequence[str] = (),
        compat: str | None = None,
        judge: str | ModelChoice | None = None,
        sandbox: str = "bubblewrap",
        store: FilePath | None = None,
        directory: FilePath | None = None,
        allow_import: bool = False,
    ) -> None:
        if problem := name_problem(name):
            raise UserValueError(problem)
        if compat not in (None, "", ORIGINAL):
            raise UserValueError(f"unknown compat mode {compat!r} (known is: {ORIGINAL})")
        place = store if store is not None else client
        self._place = None if place is None else str(place)
        self._judge, self._sandbox = judge, sandbox
        self._files = folder_for(directory, self._place)
        data = CaseData(
            frame=reference_data,
            path=reference_data_path,
            inputs=input_text_list,
            references=reference_output_list,
            columns=(input_column, reference_column),
            context_column=context_column,
            contexts=context_list,
            id_column=id_column,
            tag_columns=tuple(tag_columns),
        )
        stored = self._stored(name)
        if stored is None and not data.is_present:
            stored = self._found_on_disk(name)
        if stored is None:
            self._make(name, scoring_method, data, description or "", compat or "")
        else:
            self._take(stored, scoring_method, data, (description, compat), allow_import)
        if self._files is not None:
            self._files.put_suite(self._suite, self._key)

    @property
    def name(self) -> str:
        """Return the suite's name."""
        return self._suite.name

    @property
    def id(self) -> UUID:
        """Return the suite's id."""
        return suite_uuid(self._key, self._suite.version)

    @property
    def description(self) -> str | None:
        """Return what the suite is about."""
        return self._suite.description or None

    @property
    def compat(self) -> str:
        """Return ``original`` where the numbers are those of Arthur Bench itself."""
        return self._suite.compat

    @property
    def scoring_method(self) -> str:
        """Return the name of the scoring method."""
        return self._scoring.name

    @property
    def scorer(self) -> Scoring:
        """Return the scoring method."""
        return self._scoring

    @property
    def reloadable(self) -> bool:
        """Tell whether the suite can be used again by its name alone."""
        return isinstance(self._scoring, ScoringMethod) or self._scoring.reloadable

    @property
    def client(self) -> str | None:
        """Return where the suite is kept; none is the usual store."""
        return self._place

    @property
    def test_cases(self) -> list[TestCase]:
        """Return all cases."""
        return [
            TestCase(
                id=case.id,
                input=case.prompt,
                reference_output=case.references[0] if case.references else None,
            )
            for case in self._suite.cases
        ]

    @property
    def input_texts(self) -> list[str]:
        """Return all inputs."""
        return [case.prompt for case in self._suite.cases]

    @property
    def reference_outputs(self) -> list[str] | None:
        """Return all references; none where the suite has none."""
        references = [case.references[0] for case in self._suite.cases if case.references]
        return references if len(references) == len(self._suite.cases) else None

    @property
    def runs(self) -> list[str]:
        """Return the names of the suite's runs, the oldest first."""
        with self._open() as store:
            oldest_first = reversed(store.runs.newest(suite_key=self._key, limit=None))
            return [run.name for run in oldest_first if run.finished is not None]

    def test_run(self, name: str) -> TestRun:
        """Return a run that was saved."""
        from proctor.engine.run.stored_view import view_of

        with self._open() as store:
            for run in sorted(store.runs.newest(suite_key=self._key, limit=None), key=_is_imported):
                if run.name == name:
                    view = view_of(store, run.id)
                    results = list(view.results())
                    return TestRun(
                        view.run, self._suite, view.summary, results, self._place, saved=True
                    )
        raise NotFoundError(f"the suite {self.name!r} has no run {name!r}")

    def run(  # noqa: PLR0913, PLR0917 - Arthur Bench's own arguments, in its order
        self,
        run_name: str,
        candidate_data: Any = None,
        candidate_data_path: FilePath | None = None,
        candidate_column: str = CANDIDATE,
        candidate_output_list: Sequence[Any] | None = None,
        context_column: str | None = None,
        context_list: Sequence[Any] | None = None,
        save: bool = True,
        batch_size: int = 1,
        model_name: str | None = None,
        model_version: str | None = None,
        foundation_model: str | None = None,
        prompt_template: str | None = None,
        *,
        id_column: str | None = None,
        judge: str | ModelChoice | None = None,
    ) -> TestRun:
        """Score candidate outputs, and store them with their scores.

        Outputs belong to cases by their place, or by id where both tables have the id column.
        ``batch_size`` is how many rows a scorer of one's own is given at once.
        """
        outputs = CandidateOutputs(
            frame=candidate_data,
            path=candidate_data_path,
            column=candidate_column,
            outputs=candidate_output_list,
            context_column=context_column,
            contexts=context_list,
            id_column=id_column,
        )
        metadata = (model_name, model_version, foundation_model, prompt_template)
        request = self._request(run_name, metadata, save=save, batch_size=batch_size, judge=judge)
        return self._score(request, outputs)

    async def arun(  # noqa: PLR0913, PLR0917 - Arthur Bench's own arguments, in its order
        self,
        run_name: str,
        candidate_data: Any = None,
        candidate_data_path: FilePath | None = None,
        candidate_column: str = CANDIDATE,
        candidate_output_list: Sequence[Any] | None = None,
        context_column: str | None = None,
        context_list: Sequence[Any] | None = None,
        save: bool = True,
        batch_size: int = 5,
        model_name: str | None = None,
        model_version: str | None = None,
        foundation_model: str | None = None,
        prompt_template: str | None = None,
        *,
        id_column: str | None = None,
        judge: str | ModelChoice | None = None,
    ) -> TestRun:
        """Score as ``run`` does, without holding up the loop."""
        outputs = CandidateOutputs(
            frame=candidate_data,
            path=candidate_data_path,
            column=candidate_column,
            outputs=candidate_output_list,
            context_column=context_column,
            contexts=context_list,
            id_column=id_column,
        )
        metadata = (model_name, model_version, foundation_model, prompt_template)
        request = self._request(run_name, metadata, save=save, batch_size=batch_size, judge=judge)
        return await asyncio.to_thread(self._score, replace(request, waiting=True), outputs)

    def __repr__(self) -> str:
        return f"<TestSuite {self.name!r}: {len(self._suite.cases)} cases, {self.scoring_method}>"

    def _request(
        self,
        name: str,
        metadata: Sequence[str | None],
        *,
        save: bool,
        batch_size: int,
        judge: str | ModelChoice | None,
    ) -> ScoringRequest:
        return ScoringRequest(
            name=name,
            metadata={key: value for key, value in zip(METADATA, metadata, strict=True) if value},
            save=save,
            batch_size=batch_size,
            judge=judge or self._judge,
            sandbox=self._sandbox,
        )

    def _score(self, request: ScoringRequest, outputs: CandidateOutputs) -> TestRun:
        if problem := name_problem(request.name):
            raise UserValueError(problem)
        attempts = attempts_of(outputs, self._suite)
        if request.name in self.runs:
            # A notebook that is run again from the top gets the run that it made.
            stored = self.test_run(request.name)
            if stored.is_made_of(attempts, request.metadata):
                return stored
            raise UserValueError(
                f"the suite {self.name!r} has a run {request.name!r} already, of other outputs"
                " (fix: choose another name, or remove it with `proctor delete`)"
            )
        method = METHODS.get(self.scoring_method)
        if method is not None and method.requires_context:
            noted = zip(self._suite.cases, attempts, strict=True)
            if not any(case.context or attempt.notes.get("context") for case, attempt in noted):
                raise MissingParameterError(
                    f"{self.scoring_method} needs context (fix: pass context_list=[…], or"
                    " context_column='context' for a column of the candidate data)"
                )
        keyed = replace(request, case_keys=self._case_keys)
        run = score(keyed, self._suite, self._scoring, attempts, self._place)
        run.written_to(self._files)
        return run

    def _open(self) -> "Store":
        from proctor.store.store import Store

        return Store.open(self._place)

    def _stored(self, name: str) -> Suite | None:
        with self._open() as store:
            for row in sorted(store.suites.newest(), key=_is_imported):
                if row.name == name and row.dialect == DIALECT:
                    self._key: str = row.key
                    keyed = [(key, case) for _, key, case in store.suites.iter_cases(row.key)]
                    self._case_keys: Sequence[str] = [key for key, _ in keyed]
                    header = store.suites.header(row.key)
                    return replace(header, cases=tuple(case for _, case in keyed))
        return None

    def _found_on_disk(self, name: str) -> Suite | None:
        """Take a suite with its runs into the store that Arthur Bench kept under this name."""
        from proctor.engine.transfer.export_import import read_archive

        if self._files is None or not self._files.has(name):
            return None
        with self._open() as store:
            read_archive(store, self._files.root / name)
        return self._stored(name)

    def _make(
        self, name: str, scoring_method: Any, data: CaseData, description: str, compat: str
    ) -> None:
        """Make a suite of data, and store it."""
        if scoring_method is None:
            raise MissingParameterError(
                f"there is no suite {name!r} yet; a new one needs a scoring method"
                f" (known are: {', '.join(METHODS)})"
            )
        self._scoring: Scoring = chosen(scoring_method)
        self._suite = self._built(name, data, description, compat)
        self._put()

    def _take(
        self,
        stored: Suite,
        scoring_method: Any,
        data: CaseData,
        changed: tuple[str | None, str | None],
        allow_import: bool,
    ) -> None:
        """Use a stored suite, or say how what was given differs from it."""
        description, compat = changed
        self._suite, self._scoring = stored, stored_in(stored)
        fix = "give the suite another name, or leave out what differs"
        if scoring_method is not None and (words := difference(stored, scoring_method)):
            raise UserValueError(f"there is a suite {stored.name!r}, but {words} (fix: {fix})")
        if compat is not None and compat != stored.compat:
            words = f"its compat is {stored.compat!r}, not {compat!r}"
            raise UserValueError(f"there is a suite {stored.name!r}, but {words} (fix: {fix})")
        if isinstance(self._scoring, OwnScorer):
            self._scoring = _own(self._scoring, scoring_method, allow_import)
        if data.is_present:
            built = self._built(stored.name, data, stored.description, stored.compat, stored)
            if words := _differing(stored, built):
                raise UserValueError(f"there is a suite {stored.name!r}, but {words} (fix: {fix})")
        if description is not None and description != stored.description:
            self._suite = replace(stored, description=description)
            self._put()

    def _built(
        self,
        name: str,
        data: CaseData,
        description: str,
        compat: str,
        stored: Suite | None = None,
    ) -> Suite:
        """Make a suite of data; how a stored one is scored was compared with it already."""
        cases = cases_of(data, requires_reference=self._scoring.requires_reference)
        count = len(cases.inputs)
        if stored is None:
            specs = specs_for(self._scoring, compat, count)
        else:
            specs = [stored.cases[0].criteria[0].scorer] * count
        method = METHODS.get(self._scoring.name)
        header = Suite(name=name, cases=(), description=description, compat=compat)
        full = method.full if method is not None else 1.0
        return suite_of(header, cases, self._scoring.name, specs, full)

    def _put(self) -> None:
        from proctor.engine.transfer.answers_in_memory import keys_of, put_suite

        self._case_keys = keys_of(self._suite)
        with self._open() as store:
            self._key = put_suite(store, self._suite, self._case_keys)


def _is_imported(row: Any) -> bool:
    """Tell whether a suite or a run was imported: one's own comes first."""
    return bool(row.imported)


def _own(saved: OwnScorer, scoring_method: Any, allow_import: bool) -> OwnScorer:
    """Return a stored suite's own scorer: as it was passed, or imported where that is allowed."""
    if scoring_method is not None:
        passed = chosen(scoring_method)
        assert isinstance(passed, OwnScorer)
        return passed
    if saved.path and allow_import:
        return OwnScorer.imported(saved.path, saved.config)
    return saved


def _differing(stored: Suite, built: Suite) -> str:
    """Say where the data of two suites differ; what they are scored by is compared elsewhere."""
    if len(stored.cases) != len(built.cases):
        return f"it has {len(stored.cases)} cases, and the data {len(built.cases)}"
    for number, (old, new) in enumerate(zip(stored.cases, built.cases, strict=True), 1):
        if case_key(replace(old, criteria=())) != case_key(replace(new, criteria=())):
            return f"row {number} of the data differs from its case {old.id!r}"
    return ""
