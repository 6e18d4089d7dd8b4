"""Where the uncertainty of a rate comes from, and what more attempts or cases would buy."""

from collections.abc import Iterable, Mapping
from math import sqrt

from proctor.core.suite import Json
from proctor.records import dataclass

SURE = 1.959963984540054
"""How many standard deviations hold 95 of 100 draws."""
MORE_CASES = 100


@dataclass(slots=True, kw_only=True)
class VarianceParts:
    """Sums over the cases of a run, from which the parts of its variance follow."""

    weight: float = 0.0
    squares: float = 0.0
    """Of the weights."""
    within: float = 0.0
    """Of weight times standard deviation over attempts."""
    cases: int = 0
    varied: int = 0
    """Cases whose attempts differ."""

    def add(self, weight: float, spread: float) -> None:
        """Take in a case: its full marks, and the standard deviation of its attempts in points."""
        self.weight += weight
        self.squares += weight * weight
        self.within += spread * spread
        self.cases += 1
        self.varied += spread > 0

    def add_alike(self, weights: Iterable[float]) -> None:
        """Take in cases whose attempts do not differ, one after the other."""
        for weight in weights:
            self.weight += weight
            self.squares += weight * weight
            self.cases += 1

    def merge(self, other: "VarianceParts") -> None:
        """Take in all that another has gathered."""
        self.weight += other.weight
        self.squares += other.squares
        self.within += other.within
        self.cases += other.cases
        self.varied += other.varied


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """What more of something would give."""

    what: str
    half_width: float
    cost: float | None
    """In dollars; none where no price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceBudget:
    """The parts of an interval's half width; their squares add up to its square."""

    half_width: float
    cases: float | None
    """From which cases are asked; none where attempts cannot be told from it."""
    attempts: float | None
    """From chance in the candidate's answers; none with one attempt at each case."""
    judge: float | None
    """From chance in the judge's rulings; none where it was not audited."""
    purchases: tuple[Purchase, ...] = ()


def variance_budget(
    parts: VarianceParts,
    interval: tuple[float, float] | None,
    attempts: float,
    noise_variance: float | None,
    usage: Mapping[str, Json],
) -> VarianceBudget | None:
    """Split the variance of a rate into what cases, attempts and the judge bring in.

    ``attempts`` is how many there are at each case, of which the mean counts. None where there is
    nothing to split.
    """
    if interval is None or parts.weight <= 0 or parts.cases < 2 or interval[1] <= interval[0]:
        return None
    half = (interval[1] - interval[0]) / 2
    total = (half / SURE) ** 2
    several = attempts > 1
    whole = parts.weight**2
    within = min(total, parts.within / attempts / whole) if several else None
    judge = None
    if noise_variance is not None:
        most = total if within is None else within
        judge = min(most, noise_variance * parts.squares / whole / max(1.0, attempts))
    rest = total - (within or 0.0) - (judge or 0.0 if within is None else 0.0)
    return VarianceBudget(
        half_width=half,
        cases=SURE * sqrt(max(0.0, rest)),
        attempts=None if within is None else SURE * sqrt(max(0.0, within - (judge or 0.0))),
        judge=None if judge is None else SURE * sqrt(judge),
        purchases=tuple(_purchases(parts, total, within, attempts, usage)),
    )


def _purchases(
    parts: VarianceParts,
    total: float,
    within: float | None,
    attempts: float,
    usage: Mapping[str, Json],
) -> list[Purchase]:
    spent = usage.get("cost")
    each = None
    if isinstance(spent, int | float) and parts.cases:
        each = spent / parts.cases / max(1.0, attempts)
    purchases = []
    if within is not None:
        less = within / (attempts + 1)
        purchases.append(
            Purchase(
                what="1 more attempt",
                half_width=SURE * sqrt(max(0.0, total - less)),
                cost=None if each is None else each * parts.cases,
            )
        )
    purchases.append(
        Purchase(
            what=f"{MORE_CASES} more cases",
            half_width=SURE * sqrt(total * parts.cases / (parts.cases + MORE_CASES)),
            cost=None if each is None else each * MORE_CASES * max(1.0, attempts),
        )
    )
    return purchases
