"""Functions as models: for judges and simulated users that a program brings along."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import isawaitable
from typing import Any

from proctor.api.function_identity import identify
from proctor.api.functions import function_name, in_own_thread, is_async, text_of
from proctor.contracts.model import Model, ModelChoice, Price
from proctor.core.exchange import Reply, ReplyShape, Request, Sampling
from proctor.core.names import parse_model
from proctor.core.suite import Json
from proctor.errors import ModelError, ProctorError, UsageError
from proctor.registry import lend

AModel = str | Model | ModelChoice | Callable[..., Any]
"""A model: its name, an object, or a function of the text of a request."""


@dataclass(eq=False)
class FunctionModel(Model):
    """A function of the text of a request, as a model."""

    function: Callable[..., Any]
    name: str

    @cached_property
    def _key(self) -> str:
        return identify(self.function).key

    @property
    def identity(self) -> Json:
        return {"kind": "function", "name": self.name, "key": self._key}

    @property
    def label(self) -> str:
        return self.name

    @property
    def price(self) -> Price | None:
        return (0.0, 0.0)

    async def reply(self, request: Request) -> Reply:
        question = "\n\n".join(message.content for message in request.messages)
        work = partial(self.function, question)
        try:
            result = work() if is_async(self.function) else await in_own_thread(work)
            if isawaitable(result):
                result = await result
            return Reply(text=_reply_text(result, self.name, request.shape), finish="stop")
        except ProctorError:
            raise
        except Exception as error:
            raise ModelError(f"{self.name} raised {type(error).__name__}: {error}") from error

    async def check(self) -> None:
        """Do nothing: a function is always there."""


def _reply_text(result: Any, name: str, shape: ReplyShape | None) -> str | None:
    """Return what a function said; a truth, a choice or a number is the verdict that is wanted."""
    reason = ""
    if isinstance(result, tuple) and len(result) == 2:
        result, reason = result[0], str(result[1])
    if shape is not None:
        verdict = _verdict(result, reason, shape)
        if verdict is None and isinstance(result, bool | int | float):
            keys = ", ".join(f"{key!r}: …" for key in shape.schema["properties"])
            raise ModelError(f"{name} returned {result!r}, and {{{keys}}} is wanted here")
        result = result if verdict is None else verdict
    elif isinstance(result, bool):
        result = {"reason": reason, "result": "yes" if result else "no"}
    return text_of(result, name)


def _verdict(result: Any, reason: str, shape: ReplyShape) -> dict[str, Json] | None:
    """Fill in the JSON that is wanted of a judge; none where one value does not decide it."""
    wanted: Mapping[str, Mapping[str, Json]] = shape.schema["properties"]
    free = {name for name, kind in wanted.items() if kind.get("type") == "string"}
    free -= {name for name, kind in wanted.items() if "enum" in kind}
    lists = {name for name, kind in wanted.items() if kind.get("type") == "array"}
    deciding = [name for name in wanted if name not in free | lists]
    if len(deciding) != 1:
        return None
    value = _value(result, wanted[deciding[0]])
    if value is None:
        return None
    others = {**dict.fromkeys(free, reason), **{name: [] for name in lists}}
    return {name: others.get(name, value) for name in wanted}


def _value(result: Any, kind: Mapping[str, Json]) -> Json:
    """Return a result as a value of a kind; of choices the first is yes, the second no."""
    choices: list[str] = kind.get("enum", [])
    word = result.strip().lower() if isinstance(result, str) else ""
    if word in choices:
        return word
    if word in ("yes", "no"):
        result = word == "yes"
    if isinstance(result, bool):
        if choices:
            return choices[0 if result else 1]
        return result if kind.get("type") == "boolean" else None
    is_number = isinstance(result, int | float) and kind.get("type") in ("integer", "number")
    return result if is_number else None


def choice_of(
    model: Any, role: str, sampling: Sampling | None = None, system: str = ""
) -> ModelChoice:
    """Return the choice of a model: a name, a Model, a ModelChoice or a function."""
    if isinstance(model, ModelChoice):
        return model
    if isinstance(model, str):
        parse_model(model)
        spec = model
    else:
        spec = lent_model(model, role)
    return ModelChoice(spec=spec, sampling=sampling or Sampling(), system=system)


def lent_model(thing: Any, role: str) -> str:
    """Make an object a model of this process, and return its name."""
    if isinstance(thing, Model):
        return lend("model", thing, _label(thing), identify([thing.identity]).key)
    if callable(thing) and not isinstance(thing, type):
        model = FunctionModel(function=thing, name=function_name(thing))
        return lend("model", model, _label(model), identify(model.identity).key)
    raise UsageError(
        f"{role}: expected the name of a model such as 'openai:gpt-4o', a Model or a function, not"
        f" {thing!r:.80}"
    )


def _label(model: Model) -> str:
    return "".join(char for char in model.label if char.isprintable() and char != "#")
