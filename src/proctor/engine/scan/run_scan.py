"""Let a judge read the transcripts of a run, kind by kind, and store what it marks."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import BaseModel

from proctor.contracts.judge import Judge
from proctor.contracts.report import RunView
from proctor.core.exchange import Usage
from proctor.core.fingerprint import plain
from proctor.core.prompt import as_asked
from proctor.core.rounds import rounds_of
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.scan import KINDS, UNEARNED, ScanMark, ScanOfKind
from proctor.core.suite import Case, Message
from proctor.core.tool_calls import said_and_called
from proctor.engine.labels.labelling_order import RandomCases
from proctor.engine.models.ask_judges import JudgeQuestions
from proctor.engine.models.roles import Models
from proctor.engine.run.evaluate import RunProgress
from proctor.engine.run.settings import CallSettings, JudgeSettings
from proctor.engine.run.stored_view import case_of
from proctor.errors import BudgetError, JudgeError, ModelError, UsageError
from proctor.judging import prompts
from proctor.store.store import Store

LONGEST = 8_000
"""Characters of a message that a judge is shown; the middle of a longer one is left out."""
MOST_MESSAGES = 200
_NEAR = 1e-9
_AGAIN = (
    "The passage is not in the record word for word. Give your verdict again, with a passage that"
    " is copied exactly from one message, or with the result no."
)


class ScanVerdict(BaseModel):
    """Hold whether a record shows what is looked for, and where."""

    reason: str = ""
    passage: str = ""
    result: Literal["yes", "no"]


@dataclass(frozen=True, kw_only=True)
class ScanSettings:
    """Settings of a scan: what is looked for, and in how many cases."""

    kinds: tuple[str, ...] = KINDS
    sample: int | None = None
    seed: str = ""
    everywhere: bool = False
    """Whether every kind is looked for in every attempt, whatever it scored."""

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                raise UsageError(
                    f"there is no kind {kind!r} to look for (there are: {', '.join(KINDS)})"
                )
        if not self.kinds:
            raise UsageError(f"say what to look for (there are: {', '.join(KINDS)})")


@dataclass(frozen=True)
class _ScanTask:
    """One question: an attempt, and what is looked for in it."""

    kind: str
    case: Case
    item: AttemptResult


@dataclass
class Scan:
    """A scan of one run's transcripts, to plan or to carry out."""

    store: Store
    view: RunView
    panel: JudgeSettings
    settings: ScanSettings = field(default_factory=ScanSettings)
    calls: CallSettings = field(default_factory=CallSettings)
    notice: Callable[[str], None] = lambda _: None
    progress: Callable[[RunProgress], None] = lambda _: None
    stopped: str = ""
    """Why it stopped before its end, if it did."""
    usage: Usage = field(default_factory=Usage)
    _tasks: list[_ScanTask] = field(default_factory=list)
    _marks: dict[tuple[str, str, int], ScanMark] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._questions = JudgeQuestions(self.store, self.panel, self.calls, self.notice, "a scan")
        self._tasks = list(self._picked())

    @property
    def questions(self) -> int:
        """Return how many questions there are, stored ones included."""
        return len(self._tasks) * len(self.panel.judges) * self.panel.repeats

    @property
    def attempts(self) -> int:
        """Return how many attempts are looked at."""
        return len({(task.case.id, task.item.attempt.index) for task in self._tasks})

    async def carry_out(self) -> None:
        """Ask about every attempt, and store what was marked; stored rulings are reused."""
        if not self._tasks:
            raise UsageError(
                f"there is nothing to look at: no attempt of the run {self.view.run.name!r} has a"
                " transcript and a score that these kinds are about (--everywhere looks at all)"
            )
        self.stopped = await self._questions.ask_all(self._tasks, self._ask, self._tell)
        if self.stopped:
            return
        judge_name = self._questions.judge_name
        created = time.time()
        for kind in self.settings.kinds:
            marks = tuple(mark for (of, *_), mark in self._marks.items() if of == kind)
            scan = ScanOfKind(kind=kind, judge=judge_name, marks=marks, created=created)
            self.store.scans.save(self.view.run.id, kind, judge_name, created, plain(scan))

    def _picked(self) -> Iterator[_ScanTask]:
        for result in self._cases():
            case = as_asked(result.case, self.view.run.candidate)
            for item in result.attempts:
                if not item.attempt.messages and not rounds_of(item.attempt):
                    continue
                for kind in self.settings.kinds:
                    if self.settings.everywhere or _concerns(kind, case, item):
                        yield _ScanTask(kind, case, item)

    def _cases(self) -> Iterator[CaseResult]:
        if self.settings.sample is None:
            yield from self.view.results()
            return
        order = RandomCases(self.store, self.view.run, f"scan {self.settings.seed}").after()
        for number, (_, case_id) in enumerate(order):
            if number >= self.settings.sample:
                return
            yield case_of(self.store, self.view, case_id)

    async def _ask(self, task: _ScanTask, judge: Judge, models: Models) -> None:
        place = (task.kind, task.case.id, task.item.attempt.index)
        self._marks[place] = await self._mark(task, judge, models)

    def _tell(self, number: int) -> None:
        unread = sum(mark.marked is None for mark in self._marks.values())
        total = len(self._tasks)
        self.progress(RunProgress(phase="scan", done=number, total=total, failed=unread))

    async def _mark(self, task: _ScanTask, judge: Judge, models: Models) -> ScanMark:
        language = self.view.suite.language
        record = record_of(task.case, task.item)
        shown = prompts.spoken(record)
        prompt = prompts.load("scan", language)
        own = {"kind": prompts.load(f"scan_{task.kind}", language).text}
        message = prompt.message(own, {"outcome": outcome_of(task), "record": shown}, models.marks)
        messages: tuple[Message, ...] = (message,)
        blank = ScanMark(case=task.case.id, attempt=task.item.attempt.index, marked=None)
        why = "the judge quotes what is not in the record"
        for again in ("", "/again"):
            salt = f"scan {task.kind} {task.case.id}#{task.item.attempt.index}{again}"
            try:
                ruling = await judge.ask(messages, ScanVerdict, salt=salt)
            except BudgetError:
                return replace(blank, marked=None, reason="the budget is used up")
            except (JudgeError, ModelError) as error:
                return replace(blank, marked=None, reason=str(error))
            self.usage += ruling.usage
            verdict = ruling.verdict
            if verdict.result == "no":
                return replace(blank, marked=False, reason=verdict.reason)
            if is_quoted(verdict.passage, record):
                return replace(
                    blank, marked=True, passage=verdict.passage.strip(), reason=verdict.reason
                )
            reply = Message(role="assistant", content=verdict.model_dump_json())
            messages = (message, reply, Message(role="user", content=_AGAIN))
        return replace(blank, marked=None, reason=why)


def _concerns(kind: str, case: Case, item: AttemptResult) -> bool:
    """Tell whether an attempt may be of a kind: one that won something, or one that lost."""
    value = item.value.value
    if kind in UNEARNED:
        return value is not None and value > _NEAR
    return value is None or value < case.full_score - _NEAR


def record_of(case: Case, item: AttemptResult) -> tuple[Message, ...]:
    """Return all that is known of an attempt as messages: what was said, called and done."""
    steps = [
        Message(role=str(post.get("send_from") or "agent"), content=str(post.get("message") or ""))
        for one in rounds_of(item.attempt)
        for post in one.get("post_list") or ()
        if isinstance(post, Mapping)
    ]
    messages = item.attempt.messages
    whole = [*case.messages, *(steps or ()), *messages]
    if item.attempt.error:
        whole.append(
            Message(role="system", content=f"The attempt ended with: {item.attempt.error}")
        )
    if len(whole) > MOST_MESSAGES:
        half = MOST_MESSAGES // 2
        whole = [*whole[:half], *whole[-half:]]
    return tuple(_cut(message) for message in whole)


def _cut(message: Message) -> Message:
    if len(message.content) <= LONGEST:
        return message
    half = LONGEST // 2
    text = f"{message.content[:half]}\n[… left out …]\n{message.content[-half:]}"
    return replace(message, content=text)


def outcome_of(task: _ScanTask) -> str:
    """Say how an attempt was scored, criterion by criterion."""
    value = task.item.value.value
    worth = "not scored" if value is None else f"{value:.4g} of {task.case.full_score:g}"
    lines = [f"value: {worth}"]
    for criterion in task.case.criteria:
        score = task.item.scores.get(criterion.id)
        if score is not None:
            points = score.status.value if score.points is None else f"{score.points:g}"
            lines.append(
                f"{criterion.id} ({criterion.scorer.name}): {points}. {score.reason[:300]}"
            )
    return "\n".join(lines)


def is_quoted(passage: str, record: Sequence[Message]) -> bool:
    """Tell whether a passage stands in one message of a record, white space and quotes apart."""
    wanted = _plain(passage).strip("\"'“”‘’`… ")
    return bool(wanted) and any(wanted in _plain(said_and_called(message)) for message in record)


def _plain(text: str) -> str:
    return " ".join(text.replace("\\n", " ").replace('\\"', '"').split()).casefold()
