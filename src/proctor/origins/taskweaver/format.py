"""TaskWeaver's case files as models, of both generations: which key may stand where."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt
from pydantic_core import PydanticCustomError

from proctor.io.validation import Strict

OLD, NEW = "eval_query", "task_description"
"""The key that tells the generations apart: fixed queries, or a task for a simulated user."""


def _some(value: list[Any]) -> list[Any]:
    if not value:
        raise PydanticCustomError("empty_list", "the list is empty; at least one entry is needed")
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("empty_text", "the text is empty")
    return value


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise PydanticCustomError("float_type", "expected a number")
    return value


Text = Annotated[str, AfterValidator(_not_blank)]
Weight = Annotated[float, BeforeValidator(_number), Field(gt=0, allow_inf_nan=False)]


class Point(Strict):
    """One scoring point of a case."""

    score_point: Text
    weight: Weight
    eval_code: Text | None = None


Points = Annotated[list[Point], AfterValidator(_some)]


class Query(Strict):
    """One turn: the user's message, and the scoring points of the reply."""

    user_query: Text
    scoring_points: Points | None = None
    post_index: StrictInt | None = None


class Shared(Strict):
    """Keys of both generations."""

    version: Any = None
    app_dir: Text | None = None
    config_var: dict[str, Any] | None = None
    dependencies: list[Text] = Field(default_factory=list)
    data_files: list[Text] = Field(default_factory=list)
    pre_command: list[Text] = Field(default_factory=list)
    verbose: bool = False


class ScriptedCase(Shared):
    """A case whose queries are written down."""

    eval_query: Annotated[list[Query], AfterValidator(_some)]
    post_index: StrictInt | None = None


class UserCase(Shared):
    """A case in which a simulated user pursues a task."""

    task_description: Text
    scoring_points: Points
    max_rounds: Annotated[int, BeforeValidator(_number), Field(ge=1)] | None = None


class EvaluatorConfig(Strict):
    """The settings file of the evaluator: the models that judge and play the user."""

    api_type: Literal["openai", "azure", "azure_ml", "google_ai"] | None = Field(
        None, alias="llm.api_type"
    )
    api_base: str | None = Field(None, alias="llm.api_base")
    api_key: str | None = Field(None, alias="llm.api_key", repr=False)
    api_version: str | None = Field(None, alias="llm.api_version")
    model: str | None = Field(None, alias="llm.model")
    max_rounds: Annotated[int, BeforeValidator(_number), Field(ge=1)] | None = Field(
        None, alias="virtual_user.max_rounds"
    )
