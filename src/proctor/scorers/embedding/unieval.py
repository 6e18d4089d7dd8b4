"""UniEval: a model trained to answer questions about texts says how likely the answer is yes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from math import isnan
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Json
from proctor.errors import MissingResource, ProctorError
from proctor.io import json_bytes
from proctor.scorers.embedding import checkpoints, sentences
from proctor.scorers.embedding.greedy_match import NO_ROOM
from proctor.scorers.embedding.t5_yes_no import ON_GPU, answerer
from proctor.suggestions import LOOSELY, suggest

PLACES = ("output", "source", "reference", "context")
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class UniEvalQuestion:
    """The question of a dimension: about the whole text, or about each sentence."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    ask: str
    """With the places ``{output}``, ``{source}``, ``{reference}`` and ``{context}``."""
    of: Literal["text", "sentences"] = "text"
    fold: Literal["mean", "sum"] = "mean"
    """What is made of the sentences."""

    @property
    def places(self) -> tuple[str, ...]:
        """Return what is filled in."""
        return tuple(_PLACE.findall(self.ask))

    def filled(self, texts: Mapping[str, str], output: str) -> str:
        """Fill in the texts; braces in them stay as they are."""
        return _PLACE.sub(lambda m: output if m[1] == "output" else texts[m[1]], self.ask)


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _question(value: Any) -> Any:
    return {"ask": value} if isinstance(value, str) else value


@dataclass(frozen=True)
class UniEval(Scorer):
    """Ask a UniEval model about the answer: one question for each dimension, ``task-dimension``.

    A value is the probability of yes against no. Sentence-wise dimensions are means over sentences
    (``dialogue-engagingness``: sums). It is shown, never added. A dimension for which the case has
    nothing to fill in, such as no reference, is left out; an empty answer scores 0.
    """

    version: ClassVar[str] = "1"
    out_of: ClassVar[float | None] = None
    batches: ClassVar[bool] = True
    asks_always: ClassVar[bool] = False
    """Whether questions are asked that have nothing to be filled in with, or about no answer."""

    dimensions: Annotated[tuple[str, ...], BeforeValidator(_listed)]
    models: Mapping[str, str] = field(default_factory=dict)
    """The model of each task: a folder or a name of the model hub; empty is its authors' own."""
    questions: Mapping[str, Annotated[UniEvalQuestion, BeforeValidator(_question)]] = field(
        default_factory=dict
    )
    """Dimensions of your own: the question, or a mapping with ``ask``, ``of`` and ``fold``."""
    device: str = "auto"
    """``cpu``, ``cuda``, ``cuda:1``, …; ``auto`` takes a GPU where there is one."""
    precision: Literal["auto", "float32", "tf32", "bfloat16", "float16"] = "auto"
    """``auto`` is half precision (``float16``) on a GPU, full elsewhere."""

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        """Return the ends of a probability."""
        return 0.0, 1.0

    def score(self, ctx: ScoreContext) -> Score:
        return self.score_batch([ctx])[0]

    def score_batch(self, contexts: Sequence[ScoreContext]) -> list[Score]:
        try:
            return self._scores(contexts)
        # What torch raises is of no one case's making, and would come again with each.
        except (ProctorError, RuntimeError) as error:
            return [Score.failed(str(error)) for _ in contexts]

    def missing(self) -> Iterable[str]:
        models = (self._model(dimension) for dimension in self._valid_dimensions)
        return checkpoints.missing("UniEval", models)

    def toolchain(self) -> str:
        return self._toolchain

    def problems(self) -> Iterable[str]:
        if not self.dimensions:
            yield "dimensions: expected at least one"
        for dimension in self.dimensions:
            if dimension not in self._questions:
                yield _unknown(dimension, self._questions)
            elif not self._model(dimension):
                yield f"models: no model is named for the task of {dimension!r}"
        for name, question in self.questions.items():
            if name.count("-") != 1 or not all(name.split("-")):
                yield f"questions: {name!r} should be of the form task-dimension"
            wrong = [place for place in question.places if place not in PLACES]
            if wrong or "output" not in question.places:
                places = ", ".join(f"{{{place}}}" for place in PLACES)
                fault = f"{{{wrong[0]}}} is no place" if wrong else "there is no {output}"
                yield f"questions: {name!r}: {fault} (known are {places})"

    @cached_property
    def _questions(self) -> Mapping[str, UniEvalQuestion]:
        return {**_published()[1], **self.questions}

    @property
    def _valid_dimensions(self) -> list[str]:
        return [dimension for dimension in self.dimensions if dimension in self._questions]

    @cached_property
    def _toolchain(self) -> str:
        models = dict.fromkeys(self._model(dimension) for dimension in self._valid_dimensions)
        parts = [checkpoints.identity(model) for model in models if model]
        parts.append(checkpoints.computed_by(self.device, self.precision, ON_GPU))
        if any(
            self._questions[dimension].of == "sentences" for dimension in self._valid_dimensions
        ):
            parts.append(sentences.splitter_name())
        return " ".join(parts)

    def _model(self, dimension: str) -> str:
        task = dimension.partition("-")[0]
        return self.models.get(task) or _published()[0].get(task, "")

    def _scores(self, contexts: Sequence[ScoreContext]) -> list[Score]:
        if lacking := next(iter(self.missing()), None):
            raise MissingResource(lacking)
        device = checkpoints.device_of(self.device)
        precision = checkpoints.precision_of(self.precision, device, ON_GPU)
        questions = [self._questions_of(ctx) for ctx in contexts]
        places = {d: checkpoints.located(self._model(d)) for d in self.dimensions}
        values: dict[tuple[str, str], float] = {}
        for place in dict.fromkeys(places.values()):
            mine = [d for d in self.dimensions if places[d] == place]
            question_texts = [text for row in questions for d in mine for text in row.get(d, ())]
            probabilities = (
                answerer(place, device, precision).likely(question_texts) if question_texts else []
            )
            values.update(
                {(place, t): v for t, v in zip(question_texts, probabilities, strict=True)}
            )
        return [
            self._score({d: [values[places[d], t] for t in texts] for d, texts in row.items()})
            for row in questions
        ]

    def _questions_of(self, ctx: ScoreContext) -> dict[str, list[str]]:
        """Return the questions of each dimension; none for one that is worth nothing anyway."""
        texts = self._filling(ctx)
        parts = {"text": [ctx.output] if self.asks_always or ctx.output.strip() else []}
        if any(self._questions[dimension].of == "sentences" for dimension in self.dimensions):
            parts["sentences"] = sentences.split(ctx.output)
        questions: dict[str, list[str]] = {}
        for dimension in self.dimensions:
            question = self._questions[dimension]
            rest = [place for place in question.places if place != "output"]
            if self.asks_always or all(texts[place].strip() for place in rest):
                questions[dimension] = [question.filled(texts, part) for part in parts[question.of]]
        return questions

    def _filling(self, ctx: ScoreContext) -> Mapping[str, str]:
        """Return the texts that questions are filled in with."""
        return {
            "source": source_of(ctx, between="\n"),
            "reference": ctx.references[0] if ctx.references else "",
            "context": " ".join(ctx.context),
        }

    def _score(self, by_dimension: Mapping[str, Sequence[float]]) -> Score:
        if any(isnan(value) for values in by_dimension.values() for value in values):
            return Score.failed(NO_ROOM)
        metrics: dict[str, Json] = {}
        for dimension, values in by_dimension.items():
            metrics[_row(dimension)] = self._folded(self._questions[dimension], values)
        left_out = [_row(d) for d in self.dimensions if d not in by_dimension]
        detail = {"metrics": metrics, **({"left_out": left_out} if left_out else {})}
        if not metrics:
            reason = "the case has nothing to fill into the questions"
            return Score(status=ScoreStatus.NOT_APPLICABLE, reason=reason, detail=detail)
        reason = ", ".join(f"{name} {value:.4f}" for name, value in metrics.items())
        return Score(points=next(iter(metrics.values())), reason=reason, detail=detail)

    def _folded(self, question: UniEvalQuestion, values: Sequence[float]) -> float:
        if not values:
            return 0.0
        if question.of == "text" or question.fold == "sum":
            return sum(values)
        return self._mean(values)

    def _mean(self, values: Sequence[float]) -> float:
        return sum(values) / len(values)


@cache
def _published() -> tuple[Mapping[str, str], Mapping[str, UniEvalQuestion]]:
    """Return the models and the questions of UniEval's authors."""
    data = json_bytes.loads(files(__package__).joinpath("unieval_questions.json").read_bytes())
    return data["models"], {
        name: UniEvalQuestion(**fields) for name, fields in data["questions"].items()
    }


def source_of(ctx: ScoreContext, *, between: str) -> str:
    """Return what was asked: instruction and input where a format keeps them apart."""
    hidden = ctx.case.hidden
    if "instruction" not in hidden:
        return ctx.prompt
    instruction, input_text = str(hidden["instruction"]), str(hidden.get("input") or "")
    return (
        f"{instruction}{between}{input_text}"
        if instruction and input_text
        else instruction + input_text
    )


def _row(dimension: str) -> str:
    """Turn ``task-dimension`` around, as result files name it."""
    return "-".join(reversed(dimension.split("-", 1)))


def _unknown(dimension: str, dimensions: Iterable[str]) -> str:
    names = sorted(dimensions)
    meant = suggest(dimension, names, listed=names, cutoff=LOOSELY)
    return f"dimensions: there is no {dimension!r} ({meant})"
