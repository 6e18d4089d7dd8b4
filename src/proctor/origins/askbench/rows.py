"""Rows of AskBench as cases: what the candidate is shown, what is hidden, how it is scored."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proctor.core.suite import Case, Criterion, Json, Message, Spec
from proctor.errors import SuiteError
from proctor.io.concurrency import tallied
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.text_files import Document, read_jsonl
from proctor.origins.askbench.in3 import In3, normal_in3
from proctor.origins.askbench.row import AskBenchRow, number_in, same_ids
from proctor.origins.askbench.tasks import ASKING, TRIES, Protocol, Task, TaskShape, shape_of

LETTERS = "ABCD"
CHOOSE = (
    "Answer this multiple-choice question. Think as long as you need, then end your reply with a"
    " line of its own that reads `Answer: X`, where X is the letter of the right choice.\n\n"
)
ONLY_THE_ANSWER = "\n\nReply with the final answer only, without any explanation."
ROLES = ("system", "developer", "user", "assistant")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowContent:
    """The part of a case in which the shapes of rows differ."""

    messages: tuple[Message, ...]
    criteria: tuple[Criterion, ...]
    references: tuple[str, ...] = ()
    hidden: Mapping[str, Json] = field(default_factory=dict)
    min_points: float | None = None
    out_of: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReader:
    """Reader of the cases of one task."""

    task: Task
    evalset: str
    protocol: Protocol
    examples: tuple[Message, ...] = ()
    """Questions with their answers, shown before every question."""
    findings: Findings = field(default_factory=Findings)

    def cases(self, path: Path) -> tuple[Case, ...]:
        """Read all rows of a file, noting every problem."""
        named: list[tuple[str, Document]] = []
        cases = []
        for index, document in enumerate(tallied("read", self._documents(path))):
            if not isinstance(document.data, dict):
                message = f"a row is an object, not {describe(document.data)}"
                self.findings.error_at(document, (), message)
                continue
            row = AskBenchRow(document, self.findings)
            name = row.optional("id") or str(index)
            named.append((name, document))
            cases.append(self._case(row, name))
        self.findings.add(*same_ids(named))
        if not cases and not self.findings.errors:
            message = "the file has no rows"
            self.findings.error_at(Document(path=path, data=None), (), message)
        return tuple(cases)

    def _documents(self, path: Path) -> Iterable[Document]:
        try:
            yield from read_jsonl(path)
        except SuiteError as error:
            self.findings.add(*error.problems)

    def _case(self, row: AskBenchRow, name: str) -> Case:
        shape = self._shape(row)
        content = _READERS[shape](self, row)
        return Case(
            id=name,
            messages=content.messages,
            criteria=content.criteria,
            references=content.references,
            hidden=content.hidden,
            dialogue=self.protocol.dialogue(self.task, shape),
            tags=self._tags(row),
            min_points=content.min_points,
            out_of=content.out_of,
            source=f"{row.document.path.name}:{row.document.row}",
        )

    def _shape(self, row: AskBenchRow) -> TaskShape:
        """Return what a row is: in the tasks that ask, its own fields say which of them."""
        if self.task.shape not in ASKING:
            return self.task.shape
        own_shape = shape_of(row.document.data)
        if own_shape in ASKING:
            return own_shape
        return TaskShape.PLAIN if self.protocol.compat else self.task.shape

    def _tags(self, row: AskBenchRow) -> dict[str, tuple[str, ...]]:
        tags: dict[str, tuple[str, ...]] = {"task": (self.evalset,)}
        for name in ("source_task", "category", "subdomain"):
            if isinstance(value := row.value(name), str) and value.strip():
                tags["category" if name == "subdomain" else name] = (value.strip(),)
        return tags

    def question(self, row: AskBenchRow) -> RowContent:
        """Read a question with its answer."""
        text = row.text("problem", "ori_question", "degraded_question")
        category = row.optional("category")
        if self.evalset == "medqa":
            text = text.strip()
        if self.evalset == "bbh":
            head = f"[Task: {category}]\n" if category else ""
            text = f"{head}{text}{ONLY_THE_ANSWER}"
        params = {"category": category} if category else {}
        return RowContent(
            messages=(*self.examples, Message(role="user", content=text)),
            criteria=(self._judged_correct(params),),
            references=(row.text("expected_answer"),),
        )

    def choices(self, row: AskBenchRow) -> RowContent:
        """Read a question with four choices."""
        texts = [row.text(f"choice{number}") for number in range(1, 5)]
        index = row.value("correct_index")
        if isinstance(index, bool) or index not in range(len(LETTERS)):
            message = f"expected 0, 1, 2 or 3 for 'correct_index', not {describe(index)}"
            row.report(message, "correct_index")
            index = 0
        lines = [f"{letter}) {text}" for letter, text in zip(LETTERS, texts, strict=True)]
        content = f"{CHOOSE}{row.text('question')}\n\n" + "\n".join(lines)
        return RowContent(
            messages=(*self.examples, Message(role="user", content=content)),
            criteria=(self._judged_correct({"choices": texts}),),
            references=(lines[int(index)],),
        )

    def rubrics(self, row: AskBenchRow) -> RowContent:
        """Read a conversation with the criteria that its next reply is held against."""
        criteria = tuple(self._rubrics(row))
        if not any(criterion.weight > 0 for criterion in criteria):
            row.warn(
                "the row has no criterion that gives points: it cannot be scored",
                "give at least one criterion points above 0",
            )
        away = sum(abs(criterion.weight) for criterion in criteria)
        gives = any(criterion.weight > 0 for criterion in criteria)
        return RowContent(
            messages=tuple(self._conversation(row)),
            criteria=criteria,
            hidden={"canary": canary} if (canary := row.optional("canary")) else {},
            min_points=0.0,
            out_of=away if self.protocol.compat and away and not gives else None,
        )

    def asking(self, row: AskBenchRow, shape: TaskShape) -> RowContent:
        """Read a question that the candidate should not answer as it stands."""
        whole = row.text("ori_question")
        if shape is TaskShape.OVERCONFIDENCE:
            shown, info = row.text("overconfidence_question"), row.optional("overconfidence_info")
            name = "misleading_points" if row.has("misleading_points") else "required_points"
        else:
            shown = whole if shape is TaskShape.PLAIN else row.text("degraded_question")
            info, name = row.optional("degraded_info"), "required_points"
        if not row.has(name):
            row.warn(
                f"the row has no {name!r}: there is nothing to ask for",
                f"list what must be cleared up as {name!r}; an empty list says that nothing must",
            )
        return RowContent(
            messages=(Message(role="user", content=shown),),
            criteria=(_NOTED,),
            references=(row.text("expected_answer"),),
            hidden={"question": whole, "info": info, "points": row.texts(name)},
        )

    def in3(self, row: AskBenchRow) -> RowContent:
        """Read a task, vague or clear, that has no right answer."""
        task_row: In3 = normal_in3(row)
        return RowContent(
            messages=(Message(role="user", content=task_row.task),),
            criteria=(_ASKED_RIGHT,),
            hidden={
                "question": task_row.task,
                "info": task_row.info,
                "points": list(task_row.points),
                "point_answers": list(task_row.answers),
                "vague": task_row.vague,
            },
        )

    def _judged_correct(self, more: Mapping[str, Json]) -> Criterion:
        params: dict[str, Json] = {"kind": self.task.kind, "tries": TRIES, **more}
        if self.protocol.compat:
            params |= {"compat": self.protocol.compat, "extract": False}
        return Criterion(id="correct", scorer=Spec(name="judged_correct", params=params))

    def _rubrics(self, row: AskBenchRow) -> Iterable[Criterion]:
        items = row.value("rubrics")
        if not isinstance(items, list):
            row.report(f"expected a list for 'rubrics', not {describe(items)}", "rubrics")
            return
        compat = {"compat": self.protocol.compat} if self.protocol.compat else {}
        for number, item in enumerate(items, 1):
            fields = item if isinstance(item, dict) else {}
            text, points = fields.get("criterion"), number_in(fields.get("points"))
            if not isinstance(text, str) or not text.strip() or points is None:
                message = (
                    f"item {number} of 'rubrics' needs a text 'criterion' and a number 'points'"
                )
                row.report(message, "rubrics")
                continue
            params = {"criterion": text, "points": points, "tries": TRIES, **compat}
            scorer = Spec(name="rubric", params=params)
            yield Criterion(id=f"rubric-{number}", scorer=scorer, weight=points)

    def _conversation(self, row: AskBenchRow) -> Iterable[Message]:
        items = row.value("prompt")
        if not isinstance(items, list) or not items:
            row.report(f"expected a list of messages for 'prompt', not {describe(items)}", "prompt")
            return
        for number, item in enumerate(items, 1):
            fields = item if isinstance(item, dict) else {}
            role, content = fields.get("role"), fields.get("content")
            if role in ROLES and isinstance(content, str):
                yield Message(role=role, content=content)
            else:
                shown = ", ".join(ROLES)
                message = f"message {number} of 'prompt' needs a 'role' ({shown}) and a 'content'"
                row.report(message, "prompt")


_NOTED = Criterion(id="correct", scorer=Spec(name="noted", params={"key": "correct"}))
_ASKED_RIGHT = Criterion(id="asked_right", scorer=Spec(name="noted", params={"key": "asked_right"}))
_READERS: Mapping[TaskShape, Callable[[RowReader, AskBenchRow], RowContent]] = {
    TaskShape.QUESTION: RowReader.question,
    TaskShape.CHOICES: RowReader.choices,
    TaskShape.RUBRICS: RowReader.rubrics,
    TaskShape.MISSING_INFO: lambda reader, row: reader.asking(row, TaskShape.MISSING_INFO),
    TaskShape.OVERCONFIDENCE: lambda reader, row: reader.asking(row, TaskShape.OVERCONFIDENCE),
    TaskShape.PLAIN: lambda reader, row: reader.asking(row, TaskShape.PLAIN),
    TaskShape.IN3: RowReader.in3,
}


def examples_of(cases: Sequence[Case], shot: int) -> tuple[Message, ...]:
    """Make a conversation of solved cases, to be shown before a question."""
    messages: list[Message] = []
    for case in cases[:shot]:
        answer = case.references[0]
        if case.criteria[0].scorer.params.get("choices"):
            answer = f"Answer: {answer[0]}"
        messages += [case.messages[-1], Message(role="assistant", content=answer)]
    return tuple(messages)
