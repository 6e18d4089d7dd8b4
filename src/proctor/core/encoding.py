"""Core objects from the JSON values that ``fingerprint.plain`` makes of them."""

from collections.abc import Mapping, Sequence
from math import nan

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.comparison import Comparison, Preference
from proctor.core.model import Reply, Request, Sampling, Shape, Usage
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, CaseFile, Criterion, Json, Message, Spec, Suite


def spec_from(data: Mapping[str, Json]) -> Spec:
    """Make a Spec of its JSON."""
    return Spec(name=data["name"], params=data.get("params", {}))


def criterion_from(data: Mapping[str, Json]) -> Criterion:
    """Make a Criterion of its JSON."""
    return Criterion(**{**data, "scorer": spec_from(data["scorer"])})


def case_from(data: Mapping[str, Json]) -> Case:
    """Make a Case of its JSON."""
    made = dict(data)
    made["messages"] = _messages(data.get("messages", ()))
    made["criteria"] = tuple([criterion_from(item) for item in data.get("criteria", ())])
    for name in ("references", "context"):
        if name in made:
            made[name] = tuple(made[name])
    if "tags" in made:
        made["tags"] = {name: tuple(values) for name, values in made["tags"].items()}
    if "files" in made:
        made["files"] = tuple([CaseFile(**item) for item in made["files"]])
    if "dialogue" in made:
        made["dialogue"] = spec_from(made["dialogue"])
    return Case(**made)


def suite_from(data: Mapping[str, Json], cases: Sequence[Case]) -> Suite:
    """Make a Suite of its JSON and its cases, which are kept apart."""
    measures = tuple(spec_from(item) for item in data.get("measures", ()))
    return Suite(**{**data, "measures": measures, "cases": cases})


def attempt_from(data: Mapping[str, Json]) -> Attempt:
    """Make an Attempt of its JSON."""
    status = AttemptStatus(data.get("status", AttemptStatus.ANSWERED))
    return Attempt(**{**data, "messages": _messages(data.get("messages", ())), "status": status})


def request_from(data: Mapping[str, Json]) -> Request:
    """Make a Request of its JSON."""
    sampling = dict(data.get("sampling", {}))
    if "stop" in sampling:
        sampling["stop"] = tuple(sampling["stop"])
    shape = data.get("shape")
    return Request(
        messages=_messages(data.get("messages", ())),
        sampling=Sampling(**sampling),
        shape=None if shape is None else Shape(name=shape["name"], schema=shape.get("schema", {})),
        salt=data.get("salt", ""),
        top_logprobs=data.get("top_logprobs", 0),
    )


def reply_from(data: Mapping[str, Json]) -> Reply:
    """Make a Reply of its JSON."""
    return Reply(**{"text": None, **data, "usage": Usage(**data.get("usage", {}))})


def score_from(data: Mapping[str, Json]) -> Score:
    """Make a Score of its JSON."""
    return Score(**{**data, "status": ScoreStatus(data.get("status", ScoreStatus.SCORED))})


def comparison_from(data: Mapping[str, Json]) -> Comparison:
    """Make a Comparison of its JSON; a mark that was not a number has become nothing."""
    scores = data.get("scores")
    changed: dict[str, Json] = {
        "outcome": Preference(data["outcome"]),
        "raw": tuple(data.get("raw", ())),
        "usage": Usage(**data.get("usage", {})),
    }
    if scores is not None:
        changed["scores"] = tuple(nan if score is None else score for score in scores)
    return Comparison(**{**data, **changed})


def _messages(items: Sequence[Mapping[str, Json]]) -> tuple[Message, ...]:
    return tuple([_message(item) for item in items])


def _message(data: Mapping[str, Json]) -> Message:
    content, images = data.get("content", ""), data.get("images")
    if not images and "thinking" not in data:
        return Message(role=data["role"], content=content)
    return Message(
        role=data["role"],
        content=content,
        images=tuple(images or ()),
        thinking=data.get("thinking", ""),
    )
