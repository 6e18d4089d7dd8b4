"""The numbers of one attempt at every case, as AskBench's result files print them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from proctor.core.run import AttemptResult
from proctor.core.suite import Case
from proctor.origins.askbench.records import correctness, is_skipped, skip_reason, truncation


@dataclass
class AskBenchTally:
    """Counts over one attempt at every case."""

    compat: str = ""
    total: int = 0
    valid: int = 0
    correct: int = 0
    with_question: int = 0
    finals: int = 0
    covered: int = 0
    redundant: int = 0
    events: int = 0
    kept_asking: int = 0
    unreadable: int = 0
    vague: list[bool] = field(default_factory=list)
    """Per vague task whether anything was asked."""
    clear: list[bool] = field(default_factory=list)
    """Per clear task whether nothing was asked."""
    health: list[float] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    truncation: Counter[str] = field(default_factory=Counter)

    def add(self, case: Case, result: AttemptResult) -> None:
        """Take in one attempt."""
        notes = result.attempt.notes
        self.total += 1
        self.truncation[truncation(result, self.compat)] += 1
        reason = str(notes.get("reason") or (skip_reason(result) if is_skipped(result) else ""))
        if reason:
            self.reasons[reason] += 1
        self.unreadable += reason.startswith("Judge")
        if is_skipped(result):
            return
        self.valid += 1
        right = notes["correct"] is True if "correct" in notes else correctness(result) == 1
        self.correct += right
        asks = bool(notes.get("asked"))
        self.with_question += asks
        if notes.get("final"):
            self.finals += 1
            self.covered += notes.get("resolved") is True
        events = int(notes.get("redundant") or 0)
        self.redundant += events > 0
        self.events += events
        self.kept_asking += notes.get("kept_asking") is True
        if "vague" in case.hidden:
            (self.vague if case.hidden["vague"] else self.clear).append(
                asks if case.hidden["vague"] else not asks
            )

    @property
    def accuracy(self) -> float:
        """Return the share of right answers among all that count."""
        return _share(self.correct, self.valid)

    @property
    def score(self) -> float:
        """Return the composite; the original takes no final answer at all for full coverage."""
        coverage = _share(self.covered, self.finals)
        if self.compat and not self.finals:
            coverage = 1.0
        unneeded = _share(self.redundant, self.valid)
        value = 0.5 * self.accuracy + 0.3 * coverage + 0.2 * (1 - unneeded)
        return min(1.0, max(0.0, value))

    @property
    def health_score(self) -> float | None:
        """Return the mean over conversations that could be scored."""
        return sum(self.health) / len(self.health) if self.health else None

    @property
    def vague_ask_rate(self) -> float:
        """Return the share of vague tasks for which something was asked."""
        return _share(sum(self.vague), len(self.vague))

    @property
    def vague_line(self) -> str:
        """Return the line with the number that IN3 is known by."""
        return f"Vague Ask Rate: {self.vague_ask_rate:.4f} ({sum(self.vague)} / {len(self.vague)})"

    def lines(self, *, dialogue: bool, scored: bool, covers: bool) -> Iterator[str]:
        """Yield the log lines below the head of a results file."""
        yield f"Valid samples: {self.valid}/{self.total} (skipped: {self.total - self.valid})"
        if dialogue:
            yield from self._behaviour(scored=scored, covers=covers)
        for name, count in sorted(self.truncation.items()):
            yield f"- {name}: {count} ({_share(count, self.total):.2%})"
        if self.reasons:
            yield "Reason distribution:"
            for name, count in sorted(self.reasons.items(), key=lambda row: (-row[1], row[0])):
                yield f"- {name}: {count} ({_share(count, self.total):.2%})"

    def _behaviour(self, *, scored: bool, covers: bool) -> Iterator[str]:
        if self.vague or self.clear:
            yield f"- Clear-task Direct Rate: {_share(sum(self.clear), len(self.clear)):.4f}"
        ask_rate = _share(self.with_question, self.valid)
        yield f"- ask_rate: {ask_rate:.4f} ({self.with_question}/{self.valid})"
        if not covers:
            return
        share = _share(self.covered, self.finals)
        yield f"- cov_rate: {share:.4f} ({self.covered}/{self.finals})"
        share = _share(self.redundant, self.valid)
        events = f"{self.redundant}/{self.valid}, {self.events} events"
        yield f"- unq_rate: {share:.4f} ({events})"
        if scored:
            yield f"- Composite score: {self.score:.4f}"


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
