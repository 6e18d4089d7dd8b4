"""Bradley-Terry: how strong each of several candidates is, given who was better how often."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

PRIOR = 0.1
"""The weight of a tie with somebody of mean strength that everybody is given."""
RESAMPLES = 1000
_SEED = 20240229
_CELLS = 4_000_000
_STEPS = 200
_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True)
class Game:
    """One game and its result: 1 for the first, 0 for the second, 0.5 for a tie."""

    first: str
    second: str
    result: float
    cluster: Hashable = None
    """What is drawn as one in resampling, such as a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """Strength as log-odds against a mean opponent, with its interval."""

    name: str
    value: float
    low: float
    high: float


def strengths(
    games: Iterable[Game],
    names: Sequence[str],
    *,
    prior: float = PRIOR,
    resamples: int = RESAMPLES,
    seed: int = _SEED,
    level: float = 0.95,
) -> list[Strength]:
    """Return the strengths in the order of the names, with intervals by resampling clusters.

    Neither the order of the games nor that of the names changes a number. With the prior somebody
    who won all games is strong, not infinitely strong, and those who never met, not even through
    others, are still on one scale. The strengths add up to 0.
    """
    import numpy as np

    if prior <= 0:
        raise ValueError("the prior must be above 0: without it a strength may be infinite")
    ordered = sorted(set(names))
    wins = _by_cluster(list(games), ordered)
    middle = _solve(wins.sum(axis=0)[None], prior)[0]
    drawn = _resampled(wins, prior, resamples, np.random.default_rng(seed))
    ends = (1 - level) / 2, (1 + level) / 2
    low, high = np.quantile(drawn, ends, axis=0) if len(drawn) else (middle, middle)
    by_name = {
        name: Strength(
            name=name,
            value=float(middle[place]),
            low=float(min(low[place], middle[place])),
            high=float(max(high[place], middle[place])),
        )
        for place, name in enumerate(ordered)
    }
    return [by_name[name] for name in names]


def _by_cluster(games: Sequence[Game], names: Sequence[str]) -> "Numbers":
    """Sum the results of each cluster: [cluster, winner, loser], a tie as half a win of each."""
    import numpy as np

    place = {name: number for number, name in enumerate(names)}
    drawn = sorted({game.cluster for game in games}, key=_sortable)
    clusters = {cluster: number for number, cluster in enumerate(drawn)}
    wins = np.zeros((max(1, len(clusters)), len(names), len(names)))
    for game in games:
        if game.first == game.second:
            raise ValueError(f"{game.first!r} cannot meet itself")
        row, one, two = clusters[game.cluster], place[game.first], place[game.second]
        wins[row, one, two] += game.result
        wins[row, two, one] += 1 - game.result
    return wins


def _sortable(cluster: Any) -> tuple[str, str]:
    return type(cluster).__name__, str(cluster)


def _resampled(
    wins: "Numbers", prior: float, resamples: int, random: "np.random.Generator"
) -> "Numbers":
    """Return the strengths found in so many draws of clusters with replacement.

    One cluster more, in which all who met were equal, can be drawn as well: who won all of ten
    games may be less strong than that, which the ten games alone would never show.
    """
    import numpy as np

    size = wins.shape[1]
    met = wins.sum(axis=0)
    equal = np.where(met + met.T > 0, 0.5, 0.0)
    flat = np.concatenate([wins, equal[None]]).reshape(len(wins) + 1, size * size)
    clusters = len(flat)
    step = max(1, _CELLS // max(clusters, size * size))
    samples = []
    for start in range(0, resamples, step):
        times = min(step, resamples - start)
        counts = random.multinomial(clusters, np.full(clusters, 1 / clusters), size=times)
        drawn = (counts.astype(float) @ flat).reshape(times, size, size)
        samples.append(_solve(drawn, prior))
    return np.concatenate(samples) if samples else np.zeros((0, size))


def _solve(wins: "Numbers", prior: float) -> "Numbers":
    """Return the most likely strengths of many tables at once, by Newton's steps.

    The likelihood is concave, and strictly so by the prior: there is one best point.
    """
    import numpy as np

    games = wins + wins.transpose(0, 2, 1)
    won = wins.sum(axis=2)
    size = wins.shape[1]
    theta = np.zeros(wins.shape[:2])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(theta[:, None, :] - theta[:, :, None]))
        against = 1 / (1 + np.exp(-theta))
        gradient = won - (games * chance).sum(axis=2) + prior * (0.5 - against)
        weight = games * chance * (1 - chance)
        bend = -weight
        bend[:, range(size), range(size)] = weight.sum(axis=2) + prior * against * (1 - against)
        step = np.linalg.solve(bend, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        theta += step / np.maximum(longest, 1)
        if longest.max() < _TOLERANCE:
            break
    centred: Numbers = theta - theta.mean(axis=1, keepdims=True)
    return centred
