"""Whether an answer is JSON, and whether it follows a JSON Schema."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.contracts.scorer import Probe, ScoreContext, Scorer, TextScorer
from proctor.core.score import Score
from proctor.core.suite import Case, Json
from proctor.scorers.structured.json_answers import NotJson, json_in
from proctor.scorers.structured.json_schemas import (
    can_run_away,
    flow_text,
    is_schema_like,
    schema_errors,
    schema_problems,
)

Kind = Literal["any", "object", "array", "string", "number", "boolean", "null"]


@dataclass(frozen=True)
class IsJson(TextScorer):
    """Pass when the answer is JSON, and nothing else unless ``whole`` is false.

    Without ``whole``, a fenced block or an object in the text will do.
    """

    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True

    kind: Kind = "any"
    whole: bool = True

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        try:
            value = json_in(output, whole=self.whole)
        except NotJson as error:
            return Score(points=0.0, out_of=1.0, reason=f"the answer is not JSON: {error}")
        kind = kind_of(value)
        if self.kind not in ("any", kind):
            return Score(points=0.0, out_of=1.0, reason=f"the answer is JSON: {kind}")
        return Score(points=1.0, out_of=1.0, reason=f"the answer is JSON: {kind}")


def kind_of(value: Json) -> str:
    """Return the kind of a JSON value, in JSON's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


@dataclass(frozen=True)
class FollowsSchema(Scorer):
    """Pass when the answer is JSON that follows a JSON Schema, by default the ``response_format``.

    Formats such as ``date-time`` and ``email`` are checked. References lead to parts of the same
    schema; nothing is fetched. Unless ``whole``, a fenced block or an object in the text will do.
    """

    fixed_marks: ClassVar[bool] = True
    instant: ClassVar[bool] = True
    time_limit: ClassVar[float] = 5.0

    schema: Mapping[str, Json] | None = None
    whole: bool = False

    @property
    def is_instant(self) -> bool:
        return super().is_instant and self.schema is not None and not can_run_away(self.schema)

    def score(self, ctx: ScoreContext) -> Score:
        schema = ctx.case.response_format if self.schema is None else self.schema
        if not schema and self.schema is None:
            words = "there is no schema, and the case has no response_format"
            return Score.failed(words, out_of=1.0)
        try:
            value = json_in(ctx.output, whole=self.whole)
        except NotJson as error:
            return Score(points=0.0, out_of=1.0, reason=f"the answer is not JSON: {error}")
        errors = schema_errors(schema, value)
        if not errors:
            return Score(points=1.0, out_of=1.0, reason="the answer follows the schema")
        shown = "; ".join(f"{where + ': ' if where else ''}{why}" for where, why in errors[:3])
        detail = {"errors": [{"at": where, "why": why} for where, why in errors]}
        return Score(points=0.0, out_of=1.0, reason=shown, detail=detail)

    def takes_long(self, output: str, references: tuple[str, ...]) -> bool:
        return len(output) > 100_000

    def problems(self) -> Iterable[str]:
        return () if self.schema is None else schema_problems(self.schema)

    @classmethod
    def meant_by(cls, params: Mapping[str, Json]) -> str:
        """Say that the schema is a parameter, and not the parameters the schema."""
        schema = {name: value for name, value in params.items() if name != "whole"}
        if not is_schema_like(schema):
            return ""
        rest = {name: value for name, value in params.items() if name == "whole"}
        written = flow_text({"schema": schema, **rest})
        return f"the schema stands under 'schema': write 'json_schema: {written}'"

    def doubts(self, case: Case) -> Iterable[str]:
        if self.schema is None and not case.response_format:
            yield "json_schema has no schema, and the case has no response_format"
        elif self.schema is None:
            yield from schema_problems(case.response_format)

    def probes(self, case: Case) -> Iterable[Probe]:
        return [Probe(kind="reference", answer=reference) for reference in case.references]
