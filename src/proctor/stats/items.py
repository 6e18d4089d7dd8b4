"""Items of a test: how hard each is, whether it tells strong from weak, and whether its key errs.

A *taker* is one candidate; what it got for an item lies between 0 and 1. What is expected of a
taker comes from Rasch's model: the chance to be right is logistic(ability - difficulty).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, lgamma, log, sqrt, tanh
from statistics import NormalDist, fmean
from typing import Any

from proctor.stats.intervals import Interval

Scores = Sequence[float | None]
"""What each taker got for an item, none where it has no score."""
Words = Sequence[str | None]
"""What each taker answered, none where that is not known."""
SURE = 0.95
_STEPS, _REACH = 49, 6.0
"""How many difficulties are looked at, up to this far from the middle."""
_TINY = 1e-300
_ROUNDS = 60
_MATCHES = (0.02, 0.25, 0.5, 0.98)
"""How often a wrong answer is what a wrong key wants: seldom, one of four or two, always."""
_SLIP = 0.01
"""How often anybody is right or wrong by accident, whatever the ability."""
_WRONG = 0.03
"""How many keys are wrong, before anything was seen."""
PRIOR_ODDS = log(_WRONG / (1 - _WRONG))
"""The same as the logarithm of odds."""
_FEWEST = 3
"""Abilities without which nothing is said about a single item."""


@dataclass(frozen=True)
class Abilities:
    """Ability of each taker, and how much the difficulty of items varies around 0."""

    abilities: tuple[float, ...]
    spread: float

    @cached_property
    def grid(self) -> Any:
        """Return the difficulties that are looked at."""
        import numpy as np

        return np.linspace(-_REACH, _REACH, _STEPS)

    @cached_property
    def prior(self) -> Any:
        """Return how likely each difficulty of the grid is."""
        import numpy as np

        density = np.exp(-0.5 * (self.grid / self.spread) ** 2)
        return density / density.sum()

    @cached_property
    def chances(self) -> Any:
        """Return how likely each taker is right at each difficulty of the grid."""
        import numpy as np

        apart = np.asarray(self.abilities)[:, None] - self.grid[None, :]
        return _SLIP + (1 - 2 * _SLIP) / (1 + np.exp(-apart))


def fit_abilities(items: Sequence[Scores]) -> Abilities:
    """Find abilities and the spread of difficulties by marginal maximum likelihood.

    Items that are alike are counted once with their number, so that many cost little.
    """
    import numpy as np

    number = len(items[0]) if items else 0
    kinds = Counter(
        tuple(-1.0 if score is None else round(score * 4) / 4 for score in scores)
        for scores in items
    )
    if not number or not kinds:
        return Abilities(abilities=(0.0,) * number, spread=1.0)
    scores = np.asarray(list(kinds))
    times = np.asarray(list(kinds.values()), dtype=float)
    scored = scores >= 0
    gained = np.where(scored, scores, 0.0)
    counts = (times[:, None] * scored).sum(0)
    rates = ((times[:, None] * gained).sum(0) + 0.5) / (counts + 1)
    abilities, spread = 1.3 * np.log(rates / (1 - rates)), 1.5
    for _ in range(_ROUNDS):
        takers = Abilities(abilities=tuple(abilities), spread=spread)
        grid, chances = takers.grid, takers.chances
        likely = np.log(takers.prior)[None, :] + gained @ np.log(chances)
        likely += (scored - gained) @ np.log(1 - chances)
        weights = np.exp(likely - likely.max(1, keepdims=True))
        weights *= (times / weights.sum(1))[:, None]
        # One of Newton's steps for each taker, held back by a wide prior.
        masses = scored.T.astype(float) @ weights
        slope = (gained.T @ weights.sum(1)) - (masses * chances).sum(1) - abilities / 9
        bend = (masses * chances * (1 - chances)).sum(1) + 1 / 9
        step = np.clip(slope / bend, -1, 1)
        whole = weights.sum(0) / times.sum()
        mean = float(whole @ grid)
        before, spread = spread, float(np.sqrt(max(0.09, whole @ grid**2 - mean**2)))
        # Only differences count: difficulties lie around 0.
        abilities = abilities + step - mean
        if np.abs(step).max() + abs(spread - before) < 1e-3:
            break
    return Abilities(abilities=tuple(float(one) for one in abilities), spread=min(4.0, spread))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHabits:
    """How often answers agree in their very words, over many items."""

    right: float
    """Two answers that both got full marks."""
    wrong: float
    """Two answers that both got nothing."""

    @property
    def comparable(self) -> bool:
        """Tell whether right answers look alike, so that words say something."""
        return self.right >= 0.6 and self.right > self.wrong


def answer_habits(items: Sequence[tuple[Scores, Words]]) -> AnswerHabits:
    """Count how often answers to one item agree."""
    alike, pairs = [0.5, 0.5], [1.0, 1.0]
    for scores, words in items:
        for full in (0, 1):
            word_counts = Counter(
                word
                for score, word in zip(scores, words, strict=True)
                if score is not None and word is not None and score == full
            )
            number = word_counts.total()
            alike[full] += sum(times * (times - 1) / 2 for times in word_counts.values())
            pairs[full] += number * (number - 1) / 2
    return AnswerHabits(
        right=min(0.99, alike[1] / pairs[1]), wrong=min(0.9, max(0.02, alike[0] / pairs[0]))
    )


def wrong_key_odds(
    takers: Abilities,
    scores: Scores,
    words: Words | None = None,
    habits: AnswerHabits | None = None,
) -> float:
    """Return the logarithm of the odds that the key of an item is wrong, or its scorer inverted.

    With a wrong key nobody who knows the answer gets marks, and some of the others may: strong
    takers fail where weak ones pass, or all fail where most should pass. Where words can be
    compared, those who know the answer also say the same, and get nothing for it.
    """
    import numpy as np

    scored = [place for place, score in enumerate(scores) if score is not None]
    if len(scored) < _FEWEST:
        return PRIOR_ODDS
    gained = np.asarray([scores[place] for place in scored], dtype=float)[:, None]
    chances = takers.chances[scored]
    right = float((takers.prior * _likely(chances, gained)).sum())
    wrong = [
        float((takers.prior * _likely((1 - chances) * match, gained)).sum()) for match in _MATCHES
    ]
    odds = PRIOR_ODDS - log(right + _TINY)
    if words is None or habits is None or not habits.comparable:
        return odds + log(fmean(wrong) + _TINY)
    spoken_words = [words[place] for place in scored]
    return odds + _spoken(takers, chances, gained, spoken_words, habits)


def _likely(chances: Any, gained: Any) -> Any:
    """Return how likely scores are at each difficulty; parts of full marks count in parts."""
    import numpy as np

    return np.exp((gained * np.log(chances) + (1 - gained) * np.log(1 - chances)).sum(0))


def _spoken(
    takers: Abilities, chances: Any, gained: Any, answers: Words, habits: AnswerHabits
) -> float:
    """Return the likelihood of scores and words if the key is wrong, by that of words if not.

    Over which words may be the true answer, how often the key is met by chance, and whether those
    who passed said one thing (the key's) or many (a scorer that takes wrong for right).
    """
    import numpy as np

    failed = gained[:, 0] < 0.5
    passing = [word for word, lost in zip(answers, failed, strict=True) if not lost]
    failing = [word for word, lost in zip(answers, failed, strict=True) if lost]
    apart = (1 - habits.wrong) / habits.wrong
    as_right = _agree(passing, habits.right) + _partition(failing, apart)
    options = {word for word in failing if word is not None} - set(passing)
    total = 0.0
    for option in options:
        knew = np.asarray([word == option for word in answers])[:, None]
        others = [word for word in failing if word != option]
        alike = _agree([option] * int(knew.sum()), habits.right)
        words_of_failed = _partition(others, apart) + alike
        for match in _MATCHES:
            missed = (1 - chances) * (1 - match) + chances * (1 - habits.right)
            each = np.where(
                knew, chances * habits.right, np.where(gained < 0.5, missed, (1 - chances) * match)
            )
            likely = float((takers.prior * np.exp(np.log(each).sum(0))).sum())
            passed = _agree(passing, habits.right)
            if match > 0.9:
                passed = np.logaddexp(passed, _partition(passing, apart)) - log(2)
            total += likely * exp(words_of_failed + passed) / len(_MATCHES) / len(options)
    return log(total + _TINY) - as_right


def _agree(words: Words, habit: float) -> float:
    """Return the logarithm of how likely right answers agree, or not, as these do."""
    compared = [word for word in words if word is not None]
    if not compared:
        return 0.0
    most = Counter(compared).most_common(1)[0][1]
    return (most - 1) * log(habit) + (len(compared) - most) * log(1 - habit)


def _partition(words: Words, apart: float) -> float:
    """Return the logarithm of how likely words agree as these do, a new one coming so often."""
    counts = Counter(word for word in words if word is not None)
    number = counts.total()
    log_chance = sum(log(apart) + lgamma(times) for times in counts.values())
    return log_chance - (lgamma(apart + number) - lgamma(apart))


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrimination:
    """How far an item goes along with all others: its correlation with what takers got there."""

    value: float | None
    """None where all takers got the same, here or elsewhere."""
    interval: Interval | None
    shrunk: float | None
    """Drawn towards the mean of all items, as few takers call for."""


def discrimination(
    scores: Scores, rests: Sequence[float], usual: float = 0.3, spread: float = 0.3
) -> Discrimination:
    """Return the correlation of an item with the rest, its own part taken out of the rest.

    ``rests`` are the takers' rates on all other items. The interval is Fisher's; four takers are
    the fewest for one. ``usual`` and ``spread`` describe what other items come to.
    """
    pairs = [(score, rest) for score, rest in zip(scores, rests, strict=True) if score is not None]
    if len(pairs) < _FEWEST:
        return Discrimination(value=None, interval=None, shrunk=None)
    one, other = fmean(a for a, _ in pairs), fmean(b for _, b in pairs)
    both = sum((a - one) * (b - other) for a, b in pairs)
    squares = sum((a - one) ** 2 for a, _ in pairs) * sum((b - other) ** 2 for _, b in pairs)
    if squares <= 1e-18:
        return Discrimination(value=None, interval=None, shrunk=None)
    value = max(-1.0, min(1.0, both / sqrt(squares)))
    if len(pairs) <= _FEWEST:
        return Discrimination(value=value, interval=None, shrunk=None)
    bounded = max(-0.999, min(0.999, value))
    middle = 0.5 * log((1 + bounded) / (1 - bounded))
    error = 1 / sqrt(len(pairs) - 3)
    half = NormalDist().inv_cdf((1 + SURE) / 2) * error
    # In the scale of Fisher's z, what is usual among items weighs against few takers.
    centre = 0.5 * log((1 + usual) / (1 - usual))
    trust = spread**2 / (spread**2 + error**2)
    return Discrimination(
        value=value,
        interval=(tanh(middle - half), tanh(middle + half)),
        shrunk=tanh(centre + trust * (middle - centre)),
    )
