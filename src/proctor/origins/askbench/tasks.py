"""The tasks of AskBench: what their rows look like, how they are put, and what is measured."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from proctor.core.suite import Json, Spec

ORIGINAL = "original"
TRIES = 10
GUIDANCE = ("none", "weak", "strong", "fata")


class TaskShape(StrEnum):
    """The shape of a task's rows."""

    QUESTION = "question"
    """A question with its answer, put once and ruled right or wrong by the judge."""
    CHOICES = "choices"
    """A question with four choices."""
    RUBRICS = "rubrics"
    """A conversation, and criteria with points that its next reply is held against."""
    MISSING_INFO = "missing_info"
    """A question from which something was taken away that must be asked for."""
    OVERCONFIDENCE = "overconfidence"
    """A question with wrong claims in it that must be corrected."""
    PLAIN = "plain"
    """A question that is incomplete as it stands, with what would complete it."""
    IN3 = "in3"
    """A task, vague or clear, with the details it lacks and no right answer."""

    @property
    def several_turns(self) -> bool:
        """Tell whether the judge may let the user answer and the candidate go on."""
        return self not in (TaskShape.QUESTION, TaskShape.CHOICES, TaskShape.RUBRICS)


ONE_QUESTION = (TaskShape.QUESTION, TaskShape.CHOICES)
ASKING = (TaskShape.MISSING_INFO, TaskShape.OVERCONFIDENCE, TaskShape.PLAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task: its folder, shape and measures."""

    shape: TaskShape
    folder: str
    """Where the document keeps its rows, below the repository's root."""
    kind: str = ""
    """Which rules the judge is given for telling right from wrong."""
    fata: bool = False

    @property
    def scored(self) -> bool:
        """Tell whether the task has the composite score."""
        return self.shape in ASKING and not self.fata


def _asking(shape: TaskShape, folder: str) -> Task:
    return Task(shape=shape, folder=f"data/ask_bench/{folder}")


_MIND = ("math500de", "medqade", "gpqade", "bbhde")
_SOURCES = ("math500", "medqa", "gpqa", "bbh")
TASKS: Mapping[str, Task] = {
    "math500": Task(shape=TaskShape.QUESTION, folder="data/common/math500", kind="maths"),
    "medqa": Task(shape=TaskShape.QUESTION, folder="data/common/medqa", kind="choice"),
    "gpqa": Task(shape=TaskShape.CHOICES, folder="data/common/gpqa", kind="choice"),
    "bbh": Task(shape=TaskShape.QUESTION, folder="data/common/bbh", kind="open"),
    "healthbench": Task(shape=TaskShape.RUBRICS, folder="data/common/healthbench"),
    "ask_mind": _asking(TaskShape.MISSING_INFO, "ask_mind"),
    **{
        f"ask_mind_{name}": _asking(TaskShape.MISSING_INFO, f"ask_mind/ask_mind_{name}")
        for name in _MIND
    },
    "ask_overconfidence": _asking(TaskShape.OVERCONFIDENCE, "ask_overconfidence"),
    **{
        f"ask_overconfidence_{name}": _asking(
            TaskShape.OVERCONFIDENCE, f"ask_overconfidence/ask_overconfidence_{name}"
        )
        for name in _SOURCES
    },
    "fata_math500": Task(shape=TaskShape.MISSING_INFO, folder="data/fata/fata_math500", fata=True),
    "fata_medqa": Task(shape=TaskShape.MISSING_INFO, folder="data/fata/fata_medqa", fata=True),
    "quest_bench": _asking(TaskShape.PLAIN, "quest_bench"),
    "in3_interaction": _asking(TaskShape.IN3, "in3_interaction"),
}


def shape_of(row: Json) -> TaskShape | None:
    """Tell by its fields what a row is; none where it is nothing that AskBench knows."""
    if not isinstance(row, dict):
        return None
    has = row.keys()
    has_question = bool({"ori_question", "problem"} & has)
    degraded = bool(row.get("degraded_question"))
    shapes: dict[TaskShape, bool] = {
        TaskShape.RUBRICS: isinstance(row.get("prompt"), list) and "rubrics" in has,
        TaskShape.CHOICES: {"question", "choice1", "correct_index"} <= has,
        TaskShape.IN3: {"task", "vague"} <= has or {"task", "missing_details"} <= has,
        TaskShape.MISSING_INFO: degraded and bool({"ori_question", "required_points"} & has),
        TaskShape.OVERCONFIDENCE: bool(row.get("overconfidence_question")),
        TaskShape.PLAIN: has_question and {"required_points", "degraded_info"} <= has,
        TaskShape.QUESTION: (has_question or degraded) and "expected_answer" in has,
    }
    return next((shape for shape, fits in shapes.items() if fits), None)


def task_of(name: str, shape: TaskShape) -> Task:
    """Return the task of a name, or what a task of another name with such rows is."""
    task = TASKS.get(name)
    if task is not None:
        return task
    fata = "fata" in name.lower() and shape is TaskShape.MISSING_INFO
    kind = {TaskShape.QUESTION: "open", TaskShape.CHOICES: "choice"}.get(shape, "")
    return Task(shape=shape, folder="", kind=kind, fata=fata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The way in which a task's cases are put to the candidate."""

    compat: str = ""
    max_turns: int | None = None
    """As a person set it; none takes the protocol's own number."""
    guidance: str = "none"
    strict: bool = False

    def dialogue(self, task: Task, shape: TaskShape) -> Spec:
        """Return the dialogue of a case of a given shape."""
        if not shape.several_turns:
            params = {"failed_as": "Error", "null_as": "None"} if self.compat else {}
            return Spec(name="single_turn", params=params)
        if task.fata and not self.compat:
            own: dict[str, Json] = {"max_turns": self.max_turns or 2, "guidance": self.guidance}
            return Spec(name="fata", params={**own, "tries": TRIES})
        in3 = self.compat and shape is TaskShape.IN3
        dialogue_params: dict[str, Json] = {
            "scenario": shape.value,
            "max_turns": self.max_turns or 3,
            "guidance": "none" if in3 and self.guidance == "fata" else self.guidance,
            "strict": self.strict and not in3,
            "tries": TRIES,
        }
        if self.compat:
            dialogue_params |= {"compat": self.compat, "wrapper": "fata" if task.fata else ""}
        return Spec(name="clarify", params=dialogue_params)


# The measures whose number the original counts otherwise somewhere.
_WITH_COMPAT = frozenset(
    {"accuracy", "pass@1", "ask_rate", "unq_rate", "score", "vague_ask_rate", "clear_direct_rate",
     "healthbench"}
)  # fmt: skip


def measures_of(task: Task, compat: str, attempts: int) -> tuple[Spec, ...]:
    """Return what is measured in a task."""
    measures = []
    for name in _measured(task, compat, attempts):
        params: dict[str, Json] = {}
        if name == "accuracy":
            params["over"] = "rounds" if task.shape.several_turns else "attempts"
        if compat and name in _WITH_COMPAT:
            params["compat"] = compat
        measures.append(Spec(name=name, params=params))
    return tuple(measures)


def _measured(task: Task, compat: str, attempts: int) -> Iterator[str]:
    if task.shape is TaskShape.RUBRICS:
        yield from ("healthbench", "truncation_rate")
        return
    if task.shape is TaskShape.IN3:
        yield from ("vague_ask_rate", "clear_direct_rate")
    else:
        yield "accuracy"
        if attempts > 1:
            yield "pass@1"
    if task.shape.several_turns:
        yield "ask_rate"
        if task.fata and not compat:
            yield from ("clarified", "kept_asking", "unreadable")
        else:
            yield from ("cov_rate", "unq_rate", "unq_events")
        if task.scored:
            yield "score"
        yield "reasons"
    yield "truncation_rate"
