"""The contract of a scorer: its defaults, and plugins that were written for its earlier form."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from proctor.contracts.scorer import ScoreContext, Scorer, decided_by_class
from proctor.contracts.scoring import failed_by, unanswered
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.score_dispatch import Kind, kind_of
from proctor.engine.run.scorer_pool import Scorers
from proctor.registry import BUILT_IN, find


@dataclass(frozen=True)
class Plain(Scorer):
    def score(self, ctx: ScoreContext) -> bool:
        return True


@dataclass(frozen=True)
class OfFive(Scorer):
    """A scorer whose parameters decide what it is out of."""

    points: float = 5.0
    tries: int = 7

    async def score(self, ctx: ScoreContext) -> bool:
        return True

    @property
    def full_marks(self) -> float:
        return self.points


@dataclass(frozen=True)
class EarlierForm(Scorer):
    """A plugin from when constants were properties."""

    ask: bool = True

    async def score(self, ctx: ScoreContext) -> bool:
        return True

    @property
    def needs_judge(self) -> bool:
        return self.ask

    @property
    def batches(self) -> bool:
        return False


def test_a_scorer_with_one_method_has_all_that_is_called() -> None:
    scorer = Plain()
    assert (scorer.needs_judge, scorer.needs_sandbox, scorer.batches) == (False, False, False)
    assert (scorer.is_async, scorer.finishes, scorer.per_attempt) == (False, False, False)
    assert (scorer.full_marks, scorer.fixed_marks, scorer.tries) == (1.0, False, 3)
    assert OfFive().is_async
    assert OfFive().tries == 7


@pytest.mark.parametrize(("scorer", "full"), [(Plain(), 1.0), (OfFive(), 5.0)])
def test_what_failed_or_was_not_answered_is_out_of_full_marks(scorer: Scorer, full: float) -> None:
    silent = Attempt(case_id="try", index=0, messages=(), status=AttemptStatus.UNANSWERED)
    case = ScoreContext.of("").case
    missed = unanswered(scorer, ScoreContext(case=case, attempt=silent))
    assert missed is not None
    assert (missed.points, missed.out_of) == (0.0, full)
    assert failed_by(scorer, ValueError()).out_of == full


@pytest.mark.parametrize("asks", [True, False])
def test_a_plugin_whose_constants_are_properties_still_works(asks: bool) -> None:
    spec = Spec(name=f"{__name__}:EarlierForm", params={"ask": asks})
    criterion = Criterion(id="one", scorer=spec)
    messages = (Message(role="user", content="?"),)
    case = Case(id="a", messages=messages, criteria=(criterion,))
    suite = Suite(name="s", version="1", cases=(case,))
    assert Scorers(allow_import=True).need_judge(suite) is asks


@pytest.mark.parametrize("name", sorted(BUILT_IN["scorer"]))
def test_what_is_constant_is_known_of_the_class(name: str) -> None:
    cls: Any = find("scorer", name)
    declared: dict[str, Any] = {n: getattr(cls, n) for n in ("instant", "batches", "fixed_marks")}
    assert {type(value) for value in declared.values()} == {bool}
    assert isinstance(cls.needs_judge, bool) or name == "maths"


def test_constants_of_the_contract_are_no_parameters() -> None:
    class Marked(Plain):
        fixed_marks: ClassVar[bool] = True

    assert Marked().fixed_marks
    assert not Plain.__dataclass_fields__


@dataclass(frozen=True)
class _Usual(Scorer):
    """A scorer whose flags its class says."""

    instant: ClassVar[bool] = True
    length: int = 1

    def score(self, ctx: ScoreContext) -> bool:
        return True


@dataclass(frozen=True)
class _ByParameter(_Usual):
    """A scorer whose parameters decide where it runs."""

    slow: bool = False

    @property
    def is_instant(self) -> bool:
        return not self.slow

    def missing(self) -> Iterable[str]:
        return ["something"] if self.slow else ()


@pytest.mark.parametrize("name", ["is_instant", "finishes", "batches", "needs_sandbox", "is_async"])
def test_a_class_decides_flags_that_are_the_contracts_own(name: str) -> None:
    assert decided_by_class(_Usual, name)
    assert decided_by_class(_ByParameter, name) is (name != "is_instant")
    assert not decided_by_class(_Usual, name, "length")


def test_flags_that_parameters_decide_are_asked_of_each_scorer() -> None:
    assert not decided_by_class(_ByParameter, "missing", "doubts")
    kinds = [kind_of(_ByParameter(slow=slow)) for slow in (False, True, False)]
    assert kinds == [Kind.INSTANT, Kind.PROCESS, Kind.INSTANT]
